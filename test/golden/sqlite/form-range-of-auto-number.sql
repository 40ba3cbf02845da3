-- {"no":"3990","no_to":"4000"}

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i2"
  where t."no~form" >= (? || '') and t."no~form" <= (? || '')
  limit (? | 0)) h;
-- "0043990"
-- "0044000"
-- 20000

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from (select t.pms_seq as s
  from "app_1_2" t indexed by "app_1_2_i2"
  where t."no~form" >= (? || '') and t."no~form" <= (? || '')) r
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0));
-- "0043990"
-- "0044000"
-- 0
-- 201
-- 201

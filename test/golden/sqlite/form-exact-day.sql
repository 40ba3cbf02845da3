-- {"f_datetime":"2024/03/03"}

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i18"
  where t."f_datetime" >= (? || '') and t."f_datetime" <= (? || '')
  limit (? | 0)) h;
-- "2024-03-03 00:00:00"
-- "2024-03-03 23:59:59"
-- 20000

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from (select t.pms_seq as s
  from "app_1_2" t indexed by "app_1_2_i18"
  where t."f_datetime" >= (? || '') and t."f_datetime" <= (? || '')) r
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0));
-- "2024-03-03 00:00:00"
-- "2024-03-03 23:59:59"
-- 0
-- 201
-- 201

-- {"g_primarykey":"K39"}

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i1"
  where t."g_primarykey" >= (? || '') and t."g_primarykey" < (? || '')
  limit (? | 0)) h;
-- "K39"
-- "K3:"
-- 20000

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from (select t.pms_seq as s
  from "app_1_2" t indexed by "app_1_2_i1"
  where t."g_primarykey" >= (? || '') and t."g_primarykey" < (? || '')) r
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0));
-- "K39"
-- "K3:"
-- 0
-- 201
-- 201

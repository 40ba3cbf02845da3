-- {"f_exact_fold":"京都8東京"}

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, t.pms_seq as s
  from "app_1_2" t indexed by "app_1_2_i6"
  where t."f_exact_fold~form" = (? || '') and t.pms_seq > (? | 0)
  order by t.pms_seq
  limit (? | 0));
-- "京都8東京"
-- 0
-- 201

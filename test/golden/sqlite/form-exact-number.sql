-- {"f_same_number":"10.0"}

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, t.pms_seq as s
  from "app_1_2" t indexed by "app_1_2_i16"
  where t."f_same_number~form" = (? || '') and t.pms_seq > (? | 0)
  order by t.pms_seq
  limit (? | 0));
-- "25021"
-- 0
-- 201

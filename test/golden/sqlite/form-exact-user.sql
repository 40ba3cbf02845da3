-- {"pms_u_usr":"sato"}

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, t.pms_seq as s
  from "app_1_2" t indexed by "app_1_2_i22"
  where t."pms_u_usr" = (? || '') and t.pms_seq > (? | 0)
  order by t.pms_seq
  limit (? | 0));
-- "sato"
-- 0
-- 201

-- {}

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, t.pms_seq as s
  from "app_1_2" t
  where t.pms_seq > (? | 0)
  order by t.pms_seq
  limit (? | 0));
-- 0
-- 20

select count(*)
  from (select 1
  from "app_1_2" t
  where t.pms_seq > (? | 0)
  order by t.pms_seq
  limit (? | 0)) r;
-- 20
-- 1

select "g_primarykey"
  from "app_1_2"
  where pms_seq = ?;
-- 20

-- {}

select pms_seq
  from "app_1_2"
  where "g_primarykey" = ?;
-- "K100"

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, t.pms_seq as s
  from "app_1_2" t
  where t.pms_seq > (? | 0)
  order by t.pms_seq
  limit (? | 0));
-- 101
-- 20

select count(*)
  from (select 1
  from "app_1_2" t
  where t.pms_seq > (? | 0)
  order by t.pms_seq
  limit (? | 0)) r;
-- 121
-- 1

select "g_primarykey"
  from "app_1_2"
  where pms_seq = ?;
-- 121

-- {"f_number":"500"}

select pms_seq
  from "app_1_2"
  where "g_primarykey" = ?;
-- "K100"

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i15"
  where t."f_number~form" >= (? || '')
  limit (? | 0)) h;
-- "25035"
-- 20000

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer || ',"lines":[' || coalesce((select group_concat(pms_answer, '},') || '}'
  from (select pms_answer
  from "app_1_2_t1"
  where pms_record = t.pms_seq
  order by pms_row) r), '') || ']' as a, h.s as s
  from (select s
  from (select t.pms_seq as s
  from "app_1_2" t indexed by "app_1_2_i15"
  where t."f_number~form" >= (? || '')) r
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0));
-- "25035"
-- 101
-- 20
-- 20

select count(*)
  from (select 1
  from (select s
  from (select t.pms_seq as s
  from "app_1_2" t indexed by "app_1_2_i15"
  where t."f_number~form" >= (? || '')) r
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0)) r;
-- "25035"
-- 520
-- 1
-- 1

select "g_primarykey"
  from "app_1_2"
  where pms_seq = ?;
-- 520

-- {"f_number":"10","f_date":"2024-02-01"}

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i15"
  where t."f_number~form" >= (? || '')
  limit (? | 0)) h;
-- "25021"
-- 256

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i17"
  where t."f_date" >= (? || '')
  limit (? | 0)) h;
-- "2024-02-01"
-- 256

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i15"
  where t."f_number~form" >= (? || '')
  limit (? | 0)) h;
-- "25021"
-- 20000

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i17"
  where t."f_date" >= (? || '')
  limit (? | 0)) h;
-- "2024-02-01"
-- 20000

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from (select t.pms_seq as s
  from "app_1_2" t indexed by "app_1_2_i17"
  where t."f_date" >= (? || '')) r
  where s > (? | 0)
  order by s) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true and +t."f_number~form" >= (? || '')
  order by h.s
  limit (? | 0));
-- "2024-02-01"
-- 0
-- "25021"
-- 20

select count(*)
  from (select 1
  from (select s
  from (select t.pms_seq as s
  from "app_1_2" t indexed by "app_1_2_i17"
  where t."f_date" >= (? || '')) r
  where s > (? | 0)
  order by s) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true and +t."f_number~form" >= (? || '')
  order by h.s
  limit (? | 0)) r;
-- "2024-02-01"
-- 32
-- "25021"
-- 1

select "g_primarykey"
  from "app_1_2"
  where pms_seq = ?;
-- 32

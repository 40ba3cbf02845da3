-- {"f_number":"500"}

select (select count(*)
  from (select 1
  from "app_1_2" t
  where t."f_number~form" >= $1::text
  limit $2::bigint) h);
-- "25035"
-- 20000

select count(*)
  from (select 1
  from (select s
  from (select t.pms_seq as s
  from "app_1_2" t
  where t."f_number~form" >= $1::text offset 0) r
  where s > $2::bigint
  order by s
  limit $3::bigint) h
  join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit $4::bigint) r;
-- "25035"
-- 0
-- 1001
-- 1001

select t.pms_answer as a, t."g_primarykey" as k
  from (select s
  from (select t.pms_seq as s
  from "app_1_2" t
  where t."f_number~form" >= $1::text offset 0) r
  where s > $2::bigint
  order by s offset 0) h
  join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s;
-- "25035"
-- 0

-- {"f_number":"10","f_date":"2024-02-01"}

select (select count(*)
  from (select 1
  from "app_1_2" t
  where t."f_number~form" >= $1::text
  limit $2::bigint) h), (select count(*)
  from (select 1
  from "app_1_2" t
  where t."f_date" >= $3::text
  limit $4::bigint) h);
-- "25021"
-- 256
-- "2024-02-01"
-- 256

select (select count(*)
  from (select 1
  from "app_1_2" t
  where t."f_number~form" >= $1::text
  limit $2::bigint) h), (select count(*)
  from (select 1
  from "app_1_2" t
  where t."f_date" >= $3::text
  limit $4::bigint) h);
-- "25021"
-- 20000
-- "2024-02-01"
-- 20000

select (select value
  from settings
  where name = 'catalog_version'), a, n, case when n > $1::bigint then k end
  from (select string_agg(a, '},') filter (where n <= $2::bigint) as a, count(*) as n, max(k) filter (where n = $3::bigint) as k
  from (select a, k, row_number() over () as n
  from (select t.pms_answer as a, t."g_primarykey" as k
  from (select s
  from (select t.pms_seq as s
  from "app_1_2" t
  where t."f_date" >= $4::text offset 0) r
  where s > $5::bigint
  order by s offset 0) h
  join "app_1_2" t on t.pms_seq = h.s
  where true and nullif(t."f_number~form", '') >= $6::text
  order by h.s
  limit $7::bigint) r) c) page;
-- 20
-- 20
-- 20
-- "2024-02-01"
-- 0
-- "25021"
-- 21

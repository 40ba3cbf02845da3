-- {"f_datetime":"2024/03/03"}

select (select count(*)
  from (select 1
  from "app_1_2" t
  where t."f_datetime" >= $1::text and t."f_datetime" <= $2::text
  limit $3::bigint) h);
-- "2024-03-03 00:00:00"
-- "2024-03-03 23:59:59"
-- 20000

select (select value
  from settings
  where name = 'catalog_version'), a, n, case when n > $1::bigint then k end
  from (select string_agg(a, '},') filter (where n <= $2::bigint) as a, count(*) as n, max(k) filter (where n = $3::bigint) as k
  from (select a, k, row_number() over () as n
  from (select t.pms_answer as a, t."g_primarykey" as k
  from "app_1_2" t
  where t."f_datetime" >= $4::text and t."f_datetime" <= $5::text and (t.pms_seq + 0) > $6::bigint
  order by (t.pms_seq + 0)
  limit $7::bigint) r) c) page;
-- 200
-- 200
-- 200
-- "2024-03-03 00:00:00"
-- "2024-03-03 23:59:59"
-- 0
-- 201

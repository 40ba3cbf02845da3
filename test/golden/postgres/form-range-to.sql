-- {"f_time_to":"00:30"}

select (select count(*)
  from (select 1
  from "app_1_2" t
  where t."f_time" <= $1::text
  limit $2::bigint) h);
-- "00:30:00"
-- 20000

select (select value
  from settings
  where name = 'catalog_version'), a, n, case when n > $1::bigint then k end
  from (select string_agg(a, '},') filter (where n <= $2::bigint) as a, count(*) as n, max(k) filter (where n = $3::bigint) as k
  from (select a, k, row_number() over () as n
  from (select t.pms_answer as a, t."g_primarykey" as k
  from "app_1_2" t
  where t."f_time" <= $4::text and (t.pms_seq + 0) > $5::bigint
  order by (t.pms_seq + 0)
  limit $6::bigint) r) c) page;
-- 200
-- 200
-- 200
-- "00:30:00"
-- 0
-- 201

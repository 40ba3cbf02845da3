-- {}

select pms_seq
  from "app_1_2"
  where left("g_primarykey", 500) = left($1, 500) and "g_primarykey" = $1;
-- "K100"

select (select value
  from settings
  where name = 'catalog_version'), a, n, case when n > $1::bigint then k end
  from (select string_agg(a, '},') filter (where n <= $2::bigint) as a, count(*) as n, max(k) filter (where n = $3::bigint) as k
  from (select a, k, row_number() over () as n
  from (select t.pms_answer as a, t."g_primarykey" as k
  from "app_1_2" t
  where t.pms_seq > $4::bigint
  order by t.pms_seq
  limit $5::bigint) r) c) page;
-- 20
-- 20
-- 20
-- 101
-- 21

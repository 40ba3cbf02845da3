-- {"f_exact":"京都8東京","lines":{"l_number":"0"}}

select (select count(*)
  from (select 1
  from "app_1_2" t
  where (left(t."f_exact", 500) = left($1::text, 500) and t."f_exact" = $2::text)
  limit $3::bigint) h), (select count(*)
  from (select 1
  from "app_1_2_t1" c
  where c."l_number~form" >= $4::text
  limit $5::bigint) h);
-- "京都8東京"
-- "京都8東京"
-- 256
-- "1"
-- 256

select (select value
  from settings
  where name = 'catalog_version'), a, n, case when n > $1::bigint then k end
  from (select string_agg(a, '},') filter (where n <= $2::bigint) as a, count(*) as n, max(k) filter (where n = $3::bigint) as k
  from (select a, k, row_number() over () as n
  from (select t.pms_answer as a, t."g_primarykey" as k
  from "app_1_2" t
  where (left(t."f_exact", 500) = left($4::text, 500) and t."f_exact" = $5::text) and (t.pms_seq + 0) > $6::bigint and exists (select 1
  from "app_1_2_t1" c
  where c.pms_record = t.pms_seq and nullif(c."l_number~form", '') >= $7::text)
  order by (t.pms_seq + 0)
  limit $8::bigint) r) c) page;
-- 200
-- 200
-- 200
-- "京都8東京"
-- "京都8東京"
-- 0
-- "1"
-- 201

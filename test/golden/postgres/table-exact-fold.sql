-- {"lines":{"l_exact_fold":"京都8東京"}}

select (select count(*)
  from (select 1
  from "app_1_2_t1" c
  where (left(c."l_exact_fold~form", 500) = left($1::text, 500) and c."l_exact_fold~form" = $2::text)
  limit $3::bigint) h);
-- "京都8東京"
-- "京都8東京"
-- 20000

select (select value
  from settings
  where name = 'catalog_version'), a, n, case when n > $1::bigint then k end
  from (select string_agg(a, '},') filter (where n <= $2::bigint) as a, count(*) as n, max(k) filter (where n = $3::bigint) as k
  from (select a, k, row_number() over () as n
  from (select t.pms_answer as a, t."g_primarykey" as k
  from (select s
  from (select distinct c.pms_record as s
  from "app_1_2_t1" c
  where (left(c."l_exact_fold~form", 500) = left($4::text, 500) and c."l_exact_fold~form" = $5::text) offset 0) r
  where s > $6::bigint
  order by s
  limit $7::bigint) h
  join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit $8::bigint) r) c) page;
-- 200
-- 200
-- 200
-- "京都8東京"
-- "京都8東京"
-- 0
-- 201
-- 201

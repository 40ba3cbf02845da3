-- {"g_primarykey":"K39"}

select (select count(*)
  from (select 1
  from "app_1_2" t
  where (left(t."g_primarykey", 500) >= left($1::text, 500) and t."g_primarykey" >= $2::text) and (left(t."g_primarykey", 500) <= left($3::text, 500) and t."g_primarykey" < $4::text)
  limit $5::bigint) h);
-- "K39"
-- "K39"
-- "K3:"
-- "K3:"
-- 20000

select (select value
  from settings
  where name = 'catalog_version'), a, n, case when n > $1::bigint then k end
  from (select string_agg(a, '},') filter (where n <= $2::bigint) as a, count(*) as n, max(k) filter (where n = $3::bigint) as k
  from (select a, k, row_number() over () as n
  from (select t.pms_answer as a, t."g_primarykey" as k
  from "app_1_2" t
  where (left(t."g_primarykey", 500) >= left($4::text, 500) and t."g_primarykey" >= $5::text) and (left(t."g_primarykey", 500) <= left($6::text, 500) and t."g_primarykey" < $7::text) and (t.pms_seq + 0) > $8::bigint
  order by (t.pms_seq + 0)
  limit $9::bigint) r) c) page;
-- 200
-- 200
-- 200
-- "K39"
-- "K39"
-- "K3:"
-- "K3:"
-- 0
-- 201

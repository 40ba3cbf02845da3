-- {"pms_u_usr":"sato"}

select (select value
  from settings
  where name = 'catalog_version'), a, n, case when n > $1::bigint then k end
  from (select string_agg(a, '},') filter (where n <= $2::bigint) as a, count(*) as n, max(k) filter (where n = $3::bigint) as k
  from (select a, k, row_number() over () as n
  from (select t.pms_answer as a, t."g_primarykey" as k
  from "app_1_2" t
  where (left(t."pms_u_usr", 500) = left($4::text, 500) and t."pms_u_usr" = $5::text) and (t.pms_seq + 0) > $6::bigint
  order by (t.pms_seq + 0)
  limit $7::bigint) r) c) page;
-- 200
-- 200
-- 200
-- "sato"
-- "sato"
-- 0
-- 201

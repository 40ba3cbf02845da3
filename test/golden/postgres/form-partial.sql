-- {"f_partial":"京都"}

select (select value
  from settings
  where name = 'catalog_version'), a, n, case when n > $1::bigint then k end
  from (select string_agg(a, '},') filter (where n <= $2::bigint) as a, count(*) as n, max(k) filter (where n = $3::bigint) as k
  from (select a, k, row_number() over () as n
  from (select t.pms_answer as a, t."g_primarykey" as k
  from (select s
  from (select p.pms_id as s
  from "app_1_2_pairs" p
  where p.tokens && $4::text::int[] offset 0) r
  where s > $5::bigint
  order by s offset 0) h
  join "app_1_2" t on t.pms_seq = h.s
  where true and strpos(t."f_partial", $6::text) > 0
  order by h.s
  limit $7::bigint) r) c) page;
-- 200
-- 200
-- 200
-- "{-784207591}"
-- 0
-- "京都"
-- 201

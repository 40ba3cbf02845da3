-- {"lines":{"l_any_of":"京都8, 札幌"}}

select (select value
  from settings
  where name = 'catalog_version'), a, n, case when n > $1::bigint then k end
  from (select string_agg(a, '},') filter (where n <= $2::bigint) as a, count(*) as n, max(k) filter (where n = $3::bigint) as k
  from (select a, k, row_number() over () as n
  from (select t.pms_answer as a, t."g_primarykey" as k
  from (select s
  from (select distinct c.pms_record as s
  from "app_1_2_t1_pairs" p
  join "app_1_2_t1" c on c.pms_record = p.pms_record and c.pms_id = p.pms_id
  where (p.tokens @> $4::text::int[] or p.tokens @> $5::text::int[]) and (strpos(c."l_any_of", $6::text) > 0 or strpos(c."l_any_of", $7::text) > 0) offset 0) r
  where s > $8::bigint
  order by s
  limit $9::bigint) h
  join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit $10::bigint) r) c) page;
-- 200
-- 200
-- 200
-- "{-2110090410,-721274285}"
-- "{541506386}"
-- "京都8"
-- "札幌"
-- 0
-- 201
-- 201

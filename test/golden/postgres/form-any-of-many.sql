-- {"f_any_of":"0京,1京,2京,3京,4京,5京,6京,7京,8京"}

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
  where true and exists (select 1
  from json_array_elements_text($6::text::json) k (value)
  where strpos(t."f_any_of", k.value) > 0)
  order by h.s
  limit $7::bigint) r) c) page;
-- 200
-- 200
-- 200
-- "{1001826190,1333269377,-1311494120,811632460,-1907139027,-600098526,1748378745,-1745275545,1571005092}"
-- 0
-- "[\"0京\",\"1京\",\"2京\",\"3京\",\"4京\",\"5京\",\"6京\",\"7京\",\"8京\"]"
-- 201

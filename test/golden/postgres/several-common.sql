-- {"f_partial":"京都","f_any_of":"会社","f_number":"0","f_prefix":"京"}

select (select count(*)
  from (select 1
  from "app_1_2" t
  where (left(t."f_prefix", 500) >= left($1::text, 500) and t."f_prefix" >= $2::text) and (left(t."f_prefix", 500) <= left($3::text, 500) and t."f_prefix" < $4::text)
  limit $5::bigint) h), (select count(*)
  from (select 1
  from "app_1_2" t
  where t."f_number~form" >= $6::text
  limit $7::bigint) h);
-- "京"
-- "京"
-- "亭"
-- "亭"
-- 256
-- "1"
-- 256

select (select value
  from settings
  where name = 'catalog_version'), a, n, case when n > $1::bigint then k end
  from (select string_agg(a, '},') filter (where n <= $2::bigint) as a, count(*) as n, max(k) filter (where n = $3::bigint) as k
  from (select a, k, row_number() over () as n
  from (select t.pms_answer as a, t."g_primarykey" as k
  from (select s
  from (select p.pms_id as s
  from "app_1_2_pairs" p
  where p.tokens && $4::text::int[] and p.tokens && $5::text::int[] offset 0) r
  where s > $6::bigint
  order by s offset 0) h
  join "app_1_2" t on t.pms_seq = h.s
  where true and strpos(t."f_partial", $7::text) > 0 and strpos(t."f_any_of", $8::text) > 0 and nullif(t."f_prefix", '') >= $9::text and nullif(t."f_prefix", '') < $10::text and nullif(t."f_number~form", '') >= $11::text
  order by h.s
  limit $12::bigint) r) c) page;
-- 20
-- 20
-- 20
-- "{-784207591}"
-- "{-1261882139}"
-- 0
-- "京都"
-- "会社"
-- "京"
-- "亭"
-- "1"
-- 21

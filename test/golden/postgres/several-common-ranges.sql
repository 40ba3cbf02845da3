-- {"f_partial":"京都","f_date":"2024-01-01","f_date_to":"2024-06-30","f_number":"200","f_number_to":"450"}

select (select count(*)
  from (select 1
  from "app_1_2" t
  where t."f_date" >= $1::text and t."f_date" <= $2::text
  limit $3::bigint) h), (select count(*)
  from (select 1
  from "app_1_2" t
  where t."f_number~form" >= $4::text and t."f_number~form" <= $5::text
  limit $6::bigint) h);
-- "2024-01-01"
-- "2024-06-30"
-- 256
-- "25032"
-- "250345"
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
  where p.tokens && $4::text::int[] and p.tokens && $5::text::int[] and p.tokens && $6::text::int[] offset 0) r
  where s > $7::bigint
  order by s offset 0) h
  join "app_1_2" t on t.pms_seq = h.s
  where true and strpos(t."f_partial", $8::text) > 0 and nullif(t."f_date", '') >= $9::text and nullif(t."f_date", '') <= $10::text and nullif(t."f_number~form", '') >= $11::text and nullif(t."f_number~form", '') <= $12::text
  order by h.s
  limit $13::bigint) r) c) page;
-- 20
-- 20
-- 20
-- "{-784207591}"
-- "{-1875572773,-885577585,-749921143,338805929,588182924,93765364}"
-- "{1743574870,-1924392229,-992251391,-1661690191,1258480824,-940698259,-1916612374,-1237099967,-1940332780,-465822919,-1477970390,1966329978,-1240480235,504452390,805246547,-272078811,491853701,2011141774,-1530408333,-813497878,-2039546014,-45164792,-447326055,-1275265092,-1751298385,2142928785}"
-- 0
-- "京都"
-- "2024-01-01"
-- "2024-06-30"
-- "25032"
-- "250345"
-- 21

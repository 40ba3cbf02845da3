-- {"f_partial":"京都","f_number":"990","f_number_to":"995","f_any_of_choice":"新規"}

select (select count(*)
  from (select 1
  from "app_1_2" t
  where t."f_number~form" >= $1::text and t."f_number~form" <= $2::text
  limit $3::bigint) h);
-- "250399"
-- "2503995"
-- 256

select (select value
  from settings
  where name = 'catalog_version'), a, n, case when n > $1::bigint then k end
  from (select string_agg(a, '},') filter (where n <= $2::bigint) as a, count(*) as n, max(k) filter (where n = $3::bigint) as k
  from (select a, k, row_number() over () as n
  from (select t.pms_answer as a, t."g_primarykey" as k
  from (select s
  from (select t.pms_seq as s
  from "app_1_2" t
  where t."f_number~form" >= $4::text and t."f_number~form" <= $5::text offset 0) r
  where s > $6::bigint
  order by s offset 0) h
  join "app_1_2" t on t.pms_seq = h.s
  where true and strpos(t."f_partial", $7::text) > 0 and strpos(t."f_any_of_choice~form", $8::text) > 0
  order by h.s
  limit $9::bigint) r) c) page;
-- 200
-- 200
-- 200
-- "250399"
-- "2503995"
-- 0
-- "京都"
-- ",新規,"
-- 201

-- {"f_number":"500"}

select pms_seq
  from "app_1_2"
  where left("g_primarykey", 500) = left($1, 500) and "g_primarykey" = $1;
-- "K100"

select (select count(*)
  from (select 1
  from "app_1_2" t
  where t."f_number~form" >= $1::text
  limit $2::bigint) h);
-- "25035"
-- 20000

select (select value
  from settings
  where name = 'catalog_version'), a, n, case when n > $1::bigint then k end
  from (select string_agg(a, '},') filter (where n <= $2::bigint) as a, count(*) as n, max(k) filter (where n = $3::bigint) as k
  from (select a, k, row_number() over () as n
  from (select t.pms_answer || ',"lines":[' || coalesce((select string_agg(pms_answer, '},') || '}'
  from (select pms_answer
  from "app_1_2_t1"
  where pms_record = t.pms_seq
  order by pms_row) r), '') || ']' as a, t."g_primarykey" as k
  from (select s
  from (select t.pms_seq as s
  from "app_1_2" t
  where t."f_number~form" >= $4::text offset 0) r
  where s > $5::bigint
  order by s
  limit $6::bigint) h
  join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit $7::bigint) r) c) page;
-- 20
-- 20
-- 20
-- "25035"
-- 101
-- 21
-- 21

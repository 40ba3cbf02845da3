-- {"lines":{"l_partial":"株式会社012345678901234567890123456789"}}

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
  where (p.tokens @> $4::text::int[]) and strpos(c."l_partial", $5::text) > 0 offset 0) r
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
-- "{-438287756,553273110,2132599147,-158999439,-863990767,-2007595806,867335648,-1519917469,-1292242717,-743020703,82945220,-1041442891}"
-- "株式会社012345678901234567890123456789"
-- 0
-- 201
-- 201

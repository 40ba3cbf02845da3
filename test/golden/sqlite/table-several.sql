-- {"lines":{"l_partial":"京都","l_date":"2024-05-01","l_date_to":"2024-05-10"}}

select count(*)
  from (select 1
  from "app_1_2_t1_pairs" p
  where p."app_1_2_t1_pairs" match (? || '')
  limit (? | 0)) h;
-- "(\"\u{e100}京都\")"
-- 256

select count(*)
  from (select 1
  from "app_1_2_t1" c indexed by "app_1_2_t1_i15"
  where c."l_date" >= (? || '') and c."l_date" <= (? || '')
  limit (? | 0)) h;
-- "2024-05-01"
-- "2024-05-10"
-- 256

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from (select distinct c.pms_record as s
  from "app_1_2_t1" c indexed by "app_1_2_t1_i15"
  where c."l_date" >= (? || '') and c."l_date" <= (? || '') and instr(c."l_partial", (? || '')) > 0) r
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0));
-- "2024-05-01"
-- "2024-05-10"
-- "京都"
-- 0
-- 201
-- 201

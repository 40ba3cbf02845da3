-- {"lines":{"l_partial":"札"}}

select count(*)
  from (select 1
  from "app_1_2_t1_pairs" p
  where p."app_1_2_t1_pairs" match (? || '')
  limit (? | 0)) h;
-- "(\"\u{e100}札\" *)"
-- 20000

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from (select distinct c.pms_record as s
  from "app_1_2_t1_pairs" p
  cross join "app_1_2_t1" c on c.pms_id = p.rowid
  where p."app_1_2_t1_pairs" match (? || '') and instr(c."l_partial", (? || '')) > 0) r
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0));
-- "(\"\u{e100}札\" *)"
-- "札"
-- 0
-- 201
-- 201

-- {"lines":{"l_any_of_choice":"新規,保留"}}

select count(*)
  from (select 1
  from "app_1_2_t1_pairs" p
  where p."app_1_2_t1_pairs" match (? || '')
  limit (? | 0)) h;
-- "(\"\u{e10a}\u{e081}新規\" OR \"\u{e10a}\u{e081}保留\")"
-- 20000

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from (select distinct c.pms_record as s
  from "app_1_2_t1_pairs" p
  cross join "app_1_2_t1" c on c.pms_id = p.rowid
  where p."app_1_2_t1_pairs" match (? || '') and (instr(c."l_any_of_choice~form", (? || '')) > 0 or instr(c."l_any_of_choice~form", (? || '')) > 0)) r
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0));
-- "(\"\u{e10a}\u{e081}新規\" OR \"\u{e10a}\u{e081}保留\")"
-- ",新規,"
-- ",保留,"
-- 0
-- 201
-- 201

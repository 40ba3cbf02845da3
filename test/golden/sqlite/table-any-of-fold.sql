-- {"lines":{"l_any_of_fold":"京都8, 札幌"}}

select count(*)
  from (select 1
  from "app_1_2_t1_pairs" p
  where p."app_1_2_t1_pairs" match (? || '')
  limit (? | 0)) h;
-- "((\"\u{e109}京都\" AND \"\u{e109}都\u{e038}\") OR \"\u{e109}札幌\")"
-- 20000

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from (select distinct c.pms_record as s
  from "app_1_2_t1_pairs" p
  cross join "app_1_2_t1" c on c.pms_id = p.rowid
  where p."app_1_2_t1_pairs" match (? || '') and (instr(c."l_any_of_fold~form", (? || '')) > 0 or instr(c."l_any_of_fold~form", (? || '')) > 0)) r
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0));
-- "((\"\u{e109}京都\" AND \"\u{e109}都\u{e038}\") OR \"\u{e109}札幌\")"
-- "京都8"
-- "札幌"
-- 0
-- 201
-- 201

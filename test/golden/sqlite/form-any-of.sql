-- {"f_any_of":"京都8, 札幌"}

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, p.rowid as s
  from "app_1_2_pairs" p
  cross join "app_1_2" t on t.pms_seq = p.rowid
  where p."app_1_2_pairs" match (? || '') and p.rowid > (? | 0) and (instr(t."f_any_of", (? || '')) > 0 or instr(t."f_any_of", (? || '')) > 0)
  order by p.rowid
  limit (? | 0));
-- "((\"\u{e10a}京都\" AND \"\u{e10a}都\u{e038}\") OR \"\u{e10a}札幌\")"
-- 0
-- "京都8"
-- "札幌"
-- 201

-- {"f_any_of_choice_fold":"新規,保留"}

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, p.rowid as s
  from "app_1_2_pairs" p
  cross join "app_1_2" t on t.pms_seq = p.rowid
  where p."app_1_2_pairs" match (? || '') and p.rowid > (? | 0) and (instr(t."f_any_of_choice_fold~form", (? || '')) > 0 or instr(t."f_any_of_choice_fold~form", (? || '')) > 0)
  order by p.rowid
  limit (? | 0));
-- "(\"\u{e10d}\u{e081}新規\" OR \"\u{e10d}\u{e081}保留\")"
-- 0
-- ",新規,"
-- ",保留,"
-- 201

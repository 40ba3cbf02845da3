-- {"f_partial":"株式会社012345678901234567890123456789"}

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, p.rowid as s
  from "app_1_2_pairs" p
  cross join "app_1_2" t on t.pms_seq = p.rowid
  where p."app_1_2_pairs" match (? || '') and p.rowid > (? | 0) and instr(t."f_partial", (? || '')) > 0
  order by p.rowid
  limit (? | 0));
-- "((\"\u{e102}株式\" AND \"\u{e102}式会\" AND \"\u{e102}会社\" AND \"\u{e102}社\u{e030}\" AND \"\u{e102}\u{e030}\u{e031}\" AND \"\u{e102}\u{e031}\u{e032}\" AND \"\u{e102}\u{e032}\u{e033}\" AND \"\u{e102}\u{e033}\u{e034}\" AND \"\u{e102}\u{e034}\u{e035}\" AND \"\u{e102}\u{e035}\u{e036}\" AND \"\u{e102}\u{e036}\u{e037}\" AND \"\u{e102}\u{e037}\u{e038}\"))"
-- 0
-- "株式会社012345678901234567890123456789"
-- 201

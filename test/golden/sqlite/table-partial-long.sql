-- {"lines":{"l_partial":"株式会社012345678901234567890123456789"}}

select count(*)
  from (select 1
  from "app_1_2_t1_pairs" p
  where p."app_1_2_t1_pairs" match (? || '')
  limit (? | 0)) h;
-- "((\"\u{e100}株式\" AND \"\u{e100}式会\" AND \"\u{e100}会社\" AND \"\u{e100}社\u{e030}\" AND \"\u{e100}\u{e030}\u{e031}\" AND \"\u{e100}\u{e031}\u{e032}\" AND \"\u{e100}\u{e032}\u{e033}\" AND \"\u{e100}\u{e033}\u{e034}\" AND \"\u{e100}\u{e034}\u{e035}\" AND \"\u{e100}\u{e035}\u{e036}\" AND \"\u{e100}\u{e036}\u{e037}\" AND \"\u{e100}\u{e037}\u{e038}\"))"
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
-- "((\"\u{e100}株式\" AND \"\u{e100}式会\" AND \"\u{e100}会社\" AND \"\u{e100}社\u{e030}\" AND \"\u{e100}\u{e030}\u{e031}\" AND \"\u{e100}\u{e031}\u{e032}\" AND \"\u{e100}\u{e032}\u{e033}\" AND \"\u{e100}\u{e033}\u{e034}\" AND \"\u{e100}\u{e034}\u{e035}\" AND \"\u{e100}\u{e035}\u{e036}\" AND \"\u{e100}\u{e036}\u{e037}\" AND \"\u{e100}\u{e037}\u{e038}\"))"
-- "株式会社012345678901234567890123456789"
-- 0
-- 201
-- 201

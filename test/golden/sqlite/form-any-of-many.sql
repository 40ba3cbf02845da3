-- {"f_any_of":"0京,1京,2京,3京,4京,5京,6京,7京,8京"}

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, p.rowid as s
  from "app_1_2_pairs" p
  cross join "app_1_2" t on t.pms_seq = p.rowid
  where p."app_1_2_pairs" match (? || '') and p.rowid > (? | 0) and exists (select 1
  from json_each((? || '')) k
  where instr(t."f_any_of", k.value) > 0)
  order by p.rowid
  limit (? | 0));
-- "(\"\u{e10a}\u{e030}京\" OR \"\u{e10a}\u{e031}京\" OR \"\u{e10a}\u{e032}京\" OR \"\u{e10a}\u{e033}京\" OR \"\u{e10a}\u{e034}京\" OR \"\u{e10a}\u{e035}京\" OR \"\u{e10a}\u{e036}京\" OR \"\u{e10a}\u{e037}京\" OR \"\u{e10a}\u{e038}京\")"
-- 0
-- "[\"0京\",\"1京\",\"2京\",\"3京\",\"4京\",\"5京\",\"6京\",\"7京\",\"8京\"]"
-- 201

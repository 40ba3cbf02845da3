-- {"lines":{"l_any_of":"0京,1京,2京,3京,4京,5京,6京,7京,8京"}}

select count(*)
  from (select 1
  from "app_1_2_t1_pairs" p
  where p."app_1_2_t1_pairs" match (? || '')
  limit (? | 0)) h;
-- "(\"\u{e108}\u{e030}京\" OR \"\u{e108}\u{e031}京\" OR \"\u{e108}\u{e032}京\" OR \"\u{e108}\u{e033}京\" OR \"\u{e108}\u{e034}京\" OR \"\u{e108}\u{e035}京\" OR \"\u{e108}\u{e036}京\" OR \"\u{e108}\u{e037}京\" OR \"\u{e108}\u{e038}京\")"
-- 20000

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from (select distinct c.pms_record as s
  from "app_1_2_t1_pairs" p
  cross join "app_1_2_t1" c on c.pms_id = p.rowid
  where p."app_1_2_t1_pairs" match (? || '') and exists (select 1
  from json_each((? || '')) k
  where instr(c."l_any_of", k.value) > 0)) r
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0));
-- "(\"\u{e108}\u{e030}京\" OR \"\u{e108}\u{e031}京\" OR \"\u{e108}\u{e032}京\" OR \"\u{e108}\u{e033}京\" OR \"\u{e108}\u{e034}京\" OR \"\u{e108}\u{e035}京\" OR \"\u{e108}\u{e036}京\" OR \"\u{e108}\u{e037}京\" OR \"\u{e108}\u{e038}京\")"
-- "[\"0京\",\"1京\",\"2京\",\"3京\",\"4京\",\"5京\",\"6京\",\"7京\",\"8京\"]"
-- 0
-- 201
-- 201

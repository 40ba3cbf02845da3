-- {"f_partial":"京都","f_any_of":"会社","f_number":"0","f_prefix":"京"}

select count(*)
  from (select 1
  from "app_1_2_pairs" p
  where p."app_1_2_pairs" match (? || '')
  limit (? | 0)) h;
-- "(\"\u{e102}京都\")"
-- 256

select count(*)
  from (select 1
  from "app_1_2_pairs" p
  where p."app_1_2_pairs" match (? || '')
  limit (? | 0)) h;
-- "(\"\u{e10a}会社\")"
-- 256

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i7"
  where t."f_prefix" >= (? || '') and t."f_prefix" < (? || '')
  limit (? | 0)) h;
-- "京"
-- "亭"
-- 256

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i15"
  where t."f_number~form" >= (? || '')
  limit (? | 0)) h;
-- "1"
-- 256

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, p.rowid as s
  from "app_1_2_pairs" p
  cross join "app_1_2" t on t.pms_seq = p.rowid
  where p."app_1_2_pairs" match (? || '') and p.rowid > (? | 0) and instr(t."f_partial", (? || '')) > 0 and instr(t."f_any_of", (? || '')) > 0 and +t."f_prefix" >= (? || '') and +t."f_prefix" < (? || '') and +t."f_number~form" >= (? || '')
  order by p.rowid
  limit (? | 0));
-- "(\"\u{e102}京都\") AND (\"\u{e10a}会社\")"
-- 0
-- "京都"
-- "会社"
-- "京"
-- "亭"
-- "1"
-- 20

select count(*)
  from (select 1
  from "app_1_2_pairs" p
  cross join "app_1_2" t on t.pms_seq = p.rowid
  where p."app_1_2_pairs" match (? || '') and p.rowid > (? | 0) and instr(t."f_partial", (? || '')) > 0 and instr(t."f_any_of", (? || '')) > 0 and +t."f_prefix" >= (? || '') and +t."f_prefix" < (? || '') and +t."f_number~form" >= (? || '')
  order by p.rowid
  limit (? | 0)) r;
-- "(\"\u{e102}京都\") AND (\"\u{e10a}会社\")"
-- 631
-- "京都"
-- "会社"
-- "京"
-- "亭"
-- "1"
-- 1

select "g_primarykey"
  from "app_1_2"
  where pms_seq = ?;
-- 631

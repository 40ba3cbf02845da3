-- {"f_partial":"京都","f_date":"2024-01-01","f_date_to":"2024-06-30","f_number":"200","f_number_to":"450"}

select count(*)
  from (select 1
  from "app_1_2_pairs" p
  where p."app_1_2_pairs" match (? || '')
  limit (? | 0)) h;
-- "(\"\u{e102}京都\")"
-- 256

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i17"
  where t."f_date" >= (? || '') and t."f_date" <= (? || '')
  limit (? | 0)) h;
-- "2024-01-01"
-- "2024-06-30"
-- 256

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i15"
  where t."f_number~form" >= (? || '') and t."f_number~form" <= (? || '')
  limit (? | 0)) h;
-- "25032"
-- "250345"
-- 256

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, p.rowid as s
  from "app_1_2_pairs" p
  cross join "app_1_2" t on t.pms_seq = p.rowid
  where p."app_1_2_pairs" match (? || '') and p.rowid > (? | 0) and instr(t."f_partial", (? || '')) > 0 and +t."f_date" >= (? || '') and +t."f_date" <= (? || '') and +t."f_number~form" >= (? || '') and +t."f_number~form" <= (? || '')
  order by p.rowid
  limit (? | 0));
-- "(\"\u{e102}京都\") AND (\"\u{e110}\u{e082}\u{e032}\u{e030}\u{e032}\u{e034}\u{e02d}\u{e030}\u{e031}\" OR \"\u{e110}\u{e082}\u{e032}\u{e030}\u{e032}\u{e034}\u{e02d}\u{e030}\u{e032}\" OR \"\u{e110}\u{e082}\u{e032}\u{e030}\u{e032}\u{e034}\u{e02d}\u{e030}\u{e033}\" OR \"\u{e110}\u{e082}\u{e032}\u{e030}\u{e032}\u{e034}\u{e02d}\u{e030}\u{e034}\" OR \"\u{e110}\u{e082}\u{e032}\u{e030}\u{e032}\u{e034}\u{e02d}\u{e030}\u{e035}\" OR \"\u{e110}\u{e082}\u{e032}\u{e030}\u{e032}\u{e034}\u{e02d}\u{e030}\u{e036}\") AND (\"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e030}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e031}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e032}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e033}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e034}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e035}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e036}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e037}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e038}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e039}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e030}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e031}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e032}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e033}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e034}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e035}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e036}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e037}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e038}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e039}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e034}\u{e030}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e034}\u{e031}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e034}\u{e032}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e034}\u{e033}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e034}\u{e034}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e034}\u{e035}\")"
-- 0
-- "京都"
-- "2024-01-01"
-- "2024-06-30"
-- "25032"
-- "250345"
-- 20

select count(*)
  from (select 1
  from "app_1_2_pairs" p
  cross join "app_1_2" t on t.pms_seq = p.rowid
  where p."app_1_2_pairs" match (? || '') and p.rowid > (? | 0) and instr(t."f_partial", (? || '')) > 0 and +t."f_date" >= (? || '') and +t."f_date" <= (? || '') and +t."f_number~form" >= (? || '') and +t."f_number~form" <= (? || '')
  order by p.rowid
  limit (? | 0)) r;
-- "(\"\u{e102}京都\") AND (\"\u{e110}\u{e082}\u{e032}\u{e030}\u{e032}\u{e034}\u{e02d}\u{e030}\u{e031}\" OR \"\u{e110}\u{e082}\u{e032}\u{e030}\u{e032}\u{e034}\u{e02d}\u{e030}\u{e032}\" OR \"\u{e110}\u{e082}\u{e032}\u{e030}\u{e032}\u{e034}\u{e02d}\u{e030}\u{e033}\" OR \"\u{e110}\u{e082}\u{e032}\u{e030}\u{e032}\u{e034}\u{e02d}\u{e030}\u{e034}\" OR \"\u{e110}\u{e082}\u{e032}\u{e030}\u{e032}\u{e034}\u{e02d}\u{e030}\u{e035}\" OR \"\u{e110}\u{e082}\u{e032}\u{e030}\u{e032}\u{e034}\u{e02d}\u{e030}\u{e036}\") AND (\"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e030}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e031}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e032}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e033}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e034}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e035}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e036}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e037}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e038}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e032}\u{e039}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e030}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e031}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e032}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e033}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e034}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e035}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e036}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e037}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e038}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e033}\u{e039}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e034}\u{e030}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e034}\u{e031}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e034}\u{e032}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e034}\u{e033}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e034}\u{e034}\" OR \"\u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e033}\u{e034}\u{e035}\")"
-- 385
-- "京都"
-- "2024-01-01"
-- "2024-06-30"
-- "25032"
-- "250345"
-- 1

select "g_primarykey"
  from "app_1_2"
  where pms_seq = ?;
-- 385

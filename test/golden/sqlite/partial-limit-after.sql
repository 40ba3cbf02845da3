-- {"f_partial":"京都"}

select pms_seq
  from "app_1_2"
  where "g_primarykey" = ?;
-- "K100"

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, p.rowid as s
  from "app_1_2_pairs" p
  cross join "app_1_2" t on t.pms_seq = p.rowid
  where p."app_1_2_pairs" match (? || '') and p.rowid > (? | 0) and instr(t."f_partial", (? || '')) > 0
  order by p.rowid
  limit (? | 0));
-- "(\"\u{e102}京都\")"
-- 101
-- "京都"
-- 20

select count(*)
  from (select 1
  from "app_1_2_pairs" p
  cross join "app_1_2" t on t.pms_seq = p.rowid
  where p."app_1_2_pairs" match (? || '') and p.rowid > (? | 0) and instr(t."f_partial", (? || '')) > 0
  order by p.rowid
  limit (? | 0)) r;
-- "(\"\u{e102}京都\")"
-- 190
-- "京都"
-- 1

select "g_primarykey"
  from "app_1_2"
  where pms_seq = ?;
-- 190

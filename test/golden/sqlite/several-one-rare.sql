-- {"f_partial":"京都","f_number":"990","f_number_to":"995","f_any_of_choice":"新規"}

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
-- "(\"\u{e10c}\u{e081}新規\")"
-- 256

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i15"
  where t."f_number~form" >= (? || '') and t."f_number~form" <= (? || '')
  limit (? | 0)) h;
-- "250399"
-- "2503995"
-- 256

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from (select t.pms_seq as s
  from "app_1_2" t indexed by "app_1_2_i15"
  where t."f_number~form" >= (? || '') and t."f_number~form" <= (? || '')) r
  where s > (? | 0)
  order by s) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true and instr(t."f_partial", (? || '')) > 0 and instr(t."f_any_of_choice~form", (? || '')) > 0
  order by h.s
  limit (? | 0));
-- "250399"
-- "2503995"
-- 0
-- "京都"
-- ",新規,"
-- 201

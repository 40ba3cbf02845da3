-- {"f_partial":"京都","lines":{"l_number":"20","l_number_to":"22"}}

select count(*)
  from (select 1
  from "app_1_2_pairs" p
  where p."app_1_2_pairs" match (? || '')
  limit (? | 0)) h;
-- "(\"\u{e102}京都\")"
-- 256

select count(*)
  from (select 1
  from "app_1_2_t1" c indexed by "app_1_2_t1_i13"
  where c."l_number~form" >= (? || '') and c."l_number~form" <= (? || '')
  limit (? | 0)) h;
-- "25022"
-- "250222"
-- 256

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from (select distinct c.pms_record as s
  from "app_1_2_t1" c indexed by "app_1_2_t1_i13"
  where c."l_number~form" >= (? || '') and c."l_number~form" <= (? || '')) r
  where s > (? | 0)
  order by s) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true and instr(t."f_partial", (? || '')) > 0
  order by h.s
  limit (? | 0));
-- "25022"
-- "250222"
-- 0
-- "京都"
-- 201

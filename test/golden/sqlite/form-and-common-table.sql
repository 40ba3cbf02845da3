-- {"f_exact":"京都8東京","lines":{"l_number":"0"}}

select count(*)
  from (select 1
  from "app_1_2" t indexed by "app_1_2_i5"
  where t."f_exact" = (? || '')
  limit (? | 0)) h;
-- "京都8東京"
-- 256

select count(*)
  from (select 1
  from "app_1_2_t1" c indexed by "app_1_2_t1_i13"
  where c."l_number~form" >= (? || '')
  limit (? | 0)) h;
-- "1"
-- 256

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, t.pms_seq as s
  from "app_1_2" t indexed by "app_1_2_i5"
  where t."f_exact" = (? || '') and t.pms_seq > (? | 0) and exists (select 1
  from "app_1_2_t1" c
  where c.pms_record = t.pms_seq and +c."l_number~form" >= (? || ''))
  order by t.pms_seq
  limit (? | 0));
-- "京都8東京"
-- 0
-- "1"
-- 201

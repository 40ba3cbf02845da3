-- {"lines":{"l_datetime":"2024/03/03"}}

select count(*)
  from (select 1
  from "app_1_2_t1" c indexed by "app_1_2_t1_i16"
  where c."l_datetime" >= (? || '') and c."l_datetime" <= (? || '')
  limit (? | 0)) h;
-- "2024-03-03 00:00:00"
-- "2024-03-03 23:59:59"
-- 20000

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from (select distinct c.pms_record as s
  from "app_1_2_t1" c indexed by "app_1_2_t1_i16"
  where c."l_datetime" >= (? || '') and c."l_datetime" <= (? || '')) r
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0));
-- "2024-03-03 00:00:00"
-- "2024-03-03 23:59:59"
-- 0
-- 201
-- 201

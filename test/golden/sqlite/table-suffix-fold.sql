-- {"lines":{"l_suffix_fold":"8東京"}}

select count(*)
  from (select 1
  from "app_1_2_t1" c indexed by "app_1_2_t1_i8"
  where c."l_suffix_fold~form" >= (? || '') and c."l_suffix_fold~form" < (? || '')
  limit (? | 0)) h;
-- "京東8"
-- "京東9"
-- 20000

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from (select distinct c.pms_record as s
  from "app_1_2_t1" c indexed by "app_1_2_t1_i8"
  where c."l_suffix_fold~form" >= (? || '') and c."l_suffix_fold~form" < (? || '')) r
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0));
-- "京東8"
-- "京東9"
-- 0
-- 201
-- 201

-- {"f_number":"500"}

create temp table if not exists hits (s integer primary key); delete
  from temp.hits;;

insert or ignore into temp.hits select t.pms_seq as s
  from "app_1_2" t indexed by "app_1_2_i15"
  where t."f_number~form" >= (? || '');
-- "25035"

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from temp.hits
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0));
-- 0
-- 256
-- 256

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer as a, h.s as s
  from (select s
  from temp.hits
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0));
-- 756
-- 256
-- 256

select count(*)
  from (select 1
  from (select s
  from temp.hits
  where s > (? | 0)
  order by s
  limit (? | 0)) h
  cross join "app_1_2" t on t.pms_seq = h.s
  where true
  order by h.s
  limit (? | 0)) r;
-- 0
-- 1001
-- 1001

-- {}

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer || ',"lines":[' || coalesce((select group_concat(pms_answer, '},') || '}'
  from (select pms_answer
  from "app_1_2_t1"
  where pms_record = t.pms_seq
  order by pms_row) r), '') || ']' as a, t.pms_seq as s
  from "app_1_2" t
  where t.pms_seq > (? | 0)
  order by t.pms_seq
  limit (? | 0));
-- 0
-- 201

-- {}

select cast(group_concat(a, '},') as blob), count(*), max(s)
  from (select t.pms_answer || ',"pms_revision":{"type":"pms_revision","value":"' || t.pms_revision || '"}' as a, t.pms_seq as s
  from "app_1_2" t
  where t.pms_seq > (? | 0)
  order by t.pms_seq
  limit (? | 0));
-- 0
-- 201

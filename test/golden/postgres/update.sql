-- {"f_partial":{"value":"大阪 本社"},"f_exact_fold":{"value":"ＡＢＣ"},"f_number":{"value":"1,000.50"}}

begin;

select t.pms_seq, t.pms_revision, t."g_primarykey", t."no", t."f_partial", t."f_partial_fold", t."f_exact", t."f_exact_fold", t."f_prefix", t."f_prefix_fold", t."f_suffix", t."f_suffix_fold", t."f_any_of", t."f_any_of_fold", t."f_any_of_choice", t."f_any_of_choice_fold", t."f_number", t."f_same_number", t."f_date", t."f_datetime", t."f_time", t."pms_i_usr", t."pms_i_ymd", t."pms_u_usr", t."pms_u_ymd"
  from "app_1_2" t
  where left(t."g_primarykey", 500) = any(array(select left(k, 500)
  from unnest($1::text[]) k)) and t."g_primarykey" = any($1::text[])
  order by t.pms_seq for update;
-- "{\"K8\"}"

insert into "app_1_history" (record, revision, user_id, at, version)
         select *
  from unnest($1::bigint[], $2::int[], $3::text[], $4::text[], $5::text[]);
-- "{9}"
-- "{1}"
-- "{\"sato\"}"
-- "{\"YYYY-MM-DD HH:MM:SS\"}"
-- "{\"{\\\"fields\\\":{\\\"g_primarykey\\\":\\\"K8\\\",\\\"no\\\":\\\"9\\\",\\\"f_partial\\\":\\\"東京8東京\\\",\\\"f_partial_fold\\\":\\\"東京8東京\\\",\\\"f_exact\\\":\\\"東京8東京\\\",\\\"f_exact_fold\\\":\\\"東京8東京\\\",\\\"f_prefix\\\":\\\"東京8東京\\\",\\\"f_prefix_fold\\\":\\\"東京8東京\\\",\\\"f_suffix\\\":\\\"東京8東京\\\",\\\"f_suffix_fold\\\":\\\"東京8東京\\\",\\\"f_any_of\\\":\\\"東京8東京\\\",\\\"f_any_of_fold\\\":\\\"東京8東京\\\",\\\"f_any_of_choice\\\":\\\"未完了,完了\\\",\\\"f_any_of_choice_fold\\\":\\\"未完了,完了\\\",\\\"f_number\\\":\\\"8\\\",\\\"f_same_number\\\":\\\"8\\\",\\\"f_date\\\":\\\"2024-09-09\\\",\\\"f_datetime\\\":\\\"2024-09-09 08:08:00\\\",\\\"f_time\\\":\\\"08:08:00\\\",\\\"pms_i_usr\\\":\\\"sato\\\",\\\"pms_i_ymd\\\":\\\"YYYY-MM-DD HH:MM:SS\\\",\\\"pms_u_usr\\\":\\\"sato\\\",\\\"pms_u_ymd\\\":\\\"YYYY-MM-DD HH:MM:SS\\\"}}\"}"

update "app_1_2" t
  set "pms_revision" = v."pms_revision", "pms_answer" = v."pms_answer", "g_primarykey" = v."g_primarykey", "no" = v."no", "f_partial" = v."f_partial", "f_partial_fold" = v."f_partial_fold", "f_exact" = v."f_exact", "f_exact_fold" = v."f_exact_fold", "f_prefix" = v."f_prefix", "f_prefix_fold" = v."f_prefix_fold", "f_suffix" = v."f_suffix", "f_suffix_fold" = v."f_suffix_fold", "f_any_of" = v."f_any_of", "f_any_of_fold" = v."f_any_of_fold", "f_any_of_choice" = v."f_any_of_choice", "f_any_of_choice_fold" = v."f_any_of_choice_fold", "f_number" = v."f_number", "f_same_number" = v."f_same_number", "f_date" = v."f_date", "f_datetime" = v."f_datetime", "f_time" = v."f_time", "pms_i_usr" = v."pms_i_usr", "pms_i_ymd" = v."pms_i_ymd", "pms_u_usr" = v."pms_u_usr", "pms_u_ymd" = v."pms_u_ymd", "no~form" = v."no~form", "f_partial_fold~form" = v."f_partial_fold~form", "f_exact_fold~form" = v."f_exact_fold~form", "f_prefix_fold~form" = v."f_prefix_fold~form", "f_suffix~form" = v."f_suffix~form", "f_suffix_fold~form" = v."f_suffix_fold~form", "f_any_of_fold~form" = v."f_any_of_fold~form", "f_any_of_choice~form" = v."f_any_of_choice~form", "f_any_of_choice_fold~form" = v."f_any_of_choice_fold~form", "f_number~form" = v."f_number~form", "f_same_number~form" = v."f_same_number~form"
  from unnest($1::bigint[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::text[], $30::text[], $31::text[], $32::text[], $33::text[], $34::text[], $35::text[], $36::text[], $37::text[])
    as v (seq, pms_revision, pms_answer, "g_primarykey", "no", "f_partial", "f_partial_fold", "f_exact", "f_exact_fold", "f_prefix", "f_prefix_fold", "f_suffix", "f_suffix_fold", "f_any_of", "f_any_of_fold", "f_any_of_choice", "f_any_of_choice_fold", "f_number", "f_same_number", "f_date", "f_datetime", "f_time", "pms_i_usr", "pms_i_ymd", "pms_u_usr", "pms_u_ymd", "no~form", "f_partial_fold~form", "f_exact_fold~form", "f_prefix_fold~form", "f_suffix~form", "f_suffix_fold~form", "f_any_of_fold~form", "f_any_of_choice~form", "f_any_of_choice_fold~form", "f_number~form", "f_same_number~form")
  where t.pms_seq = v.seq;
-- "{9}"
-- "{2}"
-- "{\"{\\\"g_primarykey\\\":{\\\"type\\\":\\\"id\\\",\\\"value\\\":\\\"K8\\\"},\\\"no\\\":{\\\"type\\\":\\\"auto_number\\\",\\\"value\\\":\\\"9\\\"},\\\"f_partial\\\":{\\\"type\\\":\\\"text\\\",\\\"value\\\":\\\"大阪 本社\\\"},\\\"f_partial_fold\\\":{\\\"type\\\":\\\"text\\\",\\\"value\\\":\\\"東京8東京\\\"},\\\"f_exact\\\":{\\\"type\\\":\\\"text\\\",\\\"value\\\":\\\"東京8東京\\\"},\\\"f_exact_fold\\\":{\\\"type\\\":\\\"text\\\",\\\"value\\\":\\\"ＡＢＣ\\\"},\\\"f_prefix\\\":{\\\"type\\\":\\\"text\\\",\\\"value\\\":\\\"東京8東京\\\"},\\\"f_prefix_fold\\\":{\\\"type\\\":\\\"text\\\",\\\"value\\\":\\\"東京8東京\\\"},\\\"f_suffix\\\":{\\\"type\\\":\\\"text\\\",\\\"value\\\":\\\"東京8東京\\\"},\\\"f_suffix_fold\\\":{\\\"type\\\":\\\"text\\\",\\\"value\\\":\\\"東京8東京\\\"},\\\"f_any_of\\\":{\\\"type\\\":\\\"text\\\",\\\"value\\\":\\\"東京8東京\\\"},\\\"f_any_of_fold\\\":{\\\"type\\\":\\\"text\\\",\\\"value\\\":\\\"東京8東京\\\"},\\\"f_any_of_choice\\\":{\\\"type\\\":\\\"checkbox\\\",\\\"value\\\":\\\"未完了,完了\\\"},\\\"f_any_of_choice_fold\\\":{\\\"type\\\":\\\"checkbox\\\",\\\"value\\\":\\\"未完了,完了\\\"},\\\"f_number\\\":{\\\"type\\\":\\\"number\\\",\\\"value\\\":\\\"1000.50\\\",\\\"value_formatted\\\":\\\"1000.50\\\"},\\\"f_same_number\\\":{\\\"type\\\":\\\"number\\\",\\\"value\\\":\\\"8\\\",\\\"value_formatted\\\":\\\"8\\\"},\\\"f_date\\\":{\\\"type\\\":\\\"date\\\",\\\"value\\\":\\\"2024-09-09\\\"},\\\"f_datetime\\\":{\\\"type\\\":\\\"datetime\\\",\\\"value\\\":\\\"2024-09-09 08:08:00\\\"},\\\"f_time\\\":{\\\"type\\\":\\\"time\\\",\\\"value\\\":\\\"08:08:00\\\"},\\\"pms_i_usr\\\":{\\\"type\\\":\\\"pms_i_usr\\\",\\\"value\\\":{\\\"id\\\":\\\"sato\\\",\\\"name\\\":\\\"佐藤\\\"}},\\\"pms_i_ymd\\\":{\\\"type\\\":\\\"pms_i_ymd\\\",\\\"value\\\":\\\"YYYY-MM-DD HH:MM:SS\\\"},\\\"pms_u_usr\\\":{\\\"type\\\":\\\"pms_u_usr\\\",\\\"value\\\":{\\\"id\\\":\\\"sato\\\",\\\"name\\\":\\\"佐藤\\\"}},\\\"pms_u_ymd\\\":{\\\"type\\\":\\\"pms_u_ymd\\\",\\\"value\\\":\\\"YYYY-MM-DD HH:MM:SS\\\"}\"}"
-- "{\"K8\"}"
-- "{\"9\"}"
-- "{\"大阪 本社\"}"
-- "{\"東京8東京\"}"
-- "{\"東京8東京\"}"
-- "{\"ＡＢＣ\"}"
-- "{\"東京8東京\"}"
-- "{\"東京8東京\"}"
-- "{\"東京8東京\"}"
-- "{\"東京8東京\"}"
-- "{\"東京8東京\"}"
-- "{\"東京8東京\"}"
-- "{\"未完了,完了\"}"
-- "{\"未完了,完了\"}"
-- "{\"1000.50\"}"
-- "{\"8\"}"
-- "{\"2024-09-09\"}"
-- "{\"2024-09-09 08:08:00\"}"
-- "{\"08:08:00\"}"
-- "{\"sato\"}"
-- "{\"YYYY-MM-DD HH:MM:SS\"}"
-- "{\"sato\"}"
-- "{\"YYYY-MM-DD HH:MM:SS\"}"
-- "{\"0019\"}"
-- "{\"東京8東京\"}"
-- "{\"abc\"}"
-- "{\"東京8東京\"}"
-- "{\"京東8京東\"}"
-- "{\"京東8京東\"}"
-- "{\"東京8東京\"}"
-- "{\",未完了,完了,\"}"
-- "{\",未完了,完了,\"}"
-- "{\"250410005\"}"
-- "{\"25018\"}"

update "app_1_2_pairs" p
  set tokens = v.tokens::int[]
  from unnest($1::bigint[], $2::text[]) as v (id, tokens)
  where p.pms_id = v.id;
-- "{9}"
-- "{\"{465285231,-1817536279,900784049,-146664975,-379361966,-531065681,177352738,-269190062,-1393147686,1199831491,314385498,-805250238,-672430015,-11245955,1201432493,886208821,-690726193,1504221653,-1745207727,777115220,-1042376373,330451650,-241411472,724676627,-1153762369,1090268774,1655703260,1992507486,-588675021,-952564553,-1643346297,-1425799022,-1499859699,-2137541608,1845306777,-1088657238,-539880570,1914865695,58045500,259971522,-1419257400,-1236767252,215456621,-637559687,-833075534,-327655809,-1900897912,-798914415,1620745755,885988076,1470610175,-2075286675}\"}"

commit;

-- {"f_partial":{"value":"大阪 本社"},"f_exact_fold":{"value":"ＡＢＣ"},"f_number":{"value":"1,000.50"}}

begin immediate;

select pms_seq, pms_revision, "g_primarykey", "no", "f_partial", "f_partial_fold", "f_exact", "f_exact_fold", "f_prefix", "f_prefix_fold", "f_suffix", "f_suffix_fold", "f_any_of", "f_any_of_fold", "f_any_of_choice", "f_any_of_choice_fold", "f_number", "f_same_number", "f_date", "f_datetime", "f_time", "pms_i_usr", "pms_i_ymd", "pms_u_usr", "pms_u_ymd"
  from "app_1_2"
  where "g_primarykey" = ?;
-- "K8"

insert into "app_1_history" (record, revision, user_id, at, version)
  values (?, ?, ?, ?, ?);
-- 9
-- 1
-- "sato"
-- "YYYY-MM-DD HH:MM:SS"
-- "{\"fields\":{\"g_primarykey\":\"K8\",\"no\":\"9\",\"f_partial\":\"東京8東京\",\"f_partial_fold\":\"東京8東京\",\"f_exact\":\"東京8東京\",\"f_exact_fold\":\"東京8東京\",\"f_prefix\":\"東京8東京\",\"f_prefix_fold\":\"東京8東京\",\"f_suffix\":\"東京8東京\",\"f_suffix_fold\":\"東京8東京\",\"f_any_of\":\"東京8東京\",\"f_any_of_fold\":\"東京8東京\",\"f_any_of_choice\":\"未完了,完了\",\"f_any_of_choice_fold\":\"未完了,完了\",\"f_number\":\"8\",\"f_same_number\":\"8\",\"f_date\":\"2024-09-09\",\"f_datetime\":\"2024-09-09 08:08:00\",\"f_time\":\"08:08:00\",\"pms_i_usr\":\"sato\",\"pms_i_ymd\":\"YYYY-MM-DD HH:MM:SS\",\"pms_u_usr\":\"sato\",\"pms_u_ymd\":\"YYYY-MM-DD HH:MM:SS\"}}"

update "app_1_2"
  set pms_revision = ?, pms_answer = ?, "f_partial" = ?, "f_exact_fold" = ?, "f_exact_fold~form" = ?, "f_number" = ?, "f_number~form" = ?, "pms_u_ymd" = ?
  where pms_seq = ?;
-- 2
-- "{\"g_primarykey\":{\"type\":\"id\",\"value\":\"K8\"},\"no\":{\"type\":\"auto_number\",\"value\":\"9\"},\"f_partial\":{\"type\":\"text\",\"value\":\"大阪 本社\"},\"f_partial_fold\":{\"type\":\"text\",\"value\":\"東京8東京\"},\"f_exact\":{\"type\":\"text\",\"value\":\"東京8東京\"},\"f_exact_fold\":{\"type\":\"text\",\"value\":\"ＡＢＣ\"},\"f_prefix\":{\"type\":\"text\",\"value\":\"東京8東京\"},\"f_prefix_fold\":{\"type\":\"text\",\"value\":\"東京8東京\"},\"f_suffix\":{\"type\":\"text\",\"value\":\"東京8東京\"},\"f_suffix_fold\":{\"type\":\"text\",\"value\":\"東京8東京\"},\"f_any_of\":{\"type\":\"text\",\"value\":\"東京8東京\"},\"f_any_of_fold\":{\"type\":\"text\",\"value\":\"東京8東京\"},\"f_any_of_choice\":{\"type\":\"checkbox\",\"value\":\"未完了,完了\"},\"f_any_of_choice_fold\":{\"type\":\"checkbox\",\"value\":\"未完了,完了\"},\"f_number\":{\"type\":\"number\",\"value\":\"1000.50\",\"value_formatted\":\"1000.50\"},\"f_same_number\":{\"type\":\"number\",\"value\":\"8\",\"value_formatted\":\"8\"},\"f_date\":{\"type\":\"date\",\"value\":\"2024-09-09\"},\"f_datetime\":{\"type\":\"datetime\",\"value\":\"2024-09-09 08:08:00\"},\"f_time\":{\"type\":\"time\",\"value\":\"08:08:00\"},\"pms_i_usr\":{\"type\":\"pms_i_usr\",\"value\":{\"id\":\"sato\",\"name\":\"佐藤\"}},\"pms_i_ymd\":{\"type\":\"pms_i_ymd\",\"value\":\"YYYY-MM-DD HH:MM:SS\"},\"pms_u_usr\":{\"type\":\"pms_u_usr\",\"value\":{\"id\":\"sato\",\"name\":\"佐藤\"}},\"pms_u_ymd\":{\"type\":\"pms_u_ymd\",\"value\":\"YYYY-MM-DD HH:MM:SS\"}"
-- "大阪 本社"
-- "ＡＢＣ"
-- "abc"
-- "1000.50"
-- "250410005"
-- "YYYY-MM-DD HH:MM:SS"
-- 9

delete
  from "app_1_2_pairs"
  where rowid = ?;
-- 9

insert into "app_1_2_pairs" (rowid, tokens)
  values (?, ?);
-- 9
-- "\u{e102}大阪 \u{e102}阪\u{e020} \u{e102}\u{e020}本 \u{e102}本社 \u{e102}社\u{e080} \u{e103}東京 \u{e103}京\u{e038} \u{e103}\u{e038}東 \u{e103}東京 \u{e103}京\u{e080} \u{e104}\u{e082}\u{ea87} \u{e105}\u{e082}\u{f575} \u{e10a}東京 \u{e10a}京\u{e038} \u{e10a}\u{e038}東 \u{e10a}東京 \u{e10a}京\u{e080} \u{e10b}東京 \u{e10b}京\u{e038} \u{e10b}\u{e038}東 \u{e10b}東京 \u{e10b}京\u{e080} \u{e10c}\u{e081}未完了 \u{e10c}\u{e081}完了 \u{e10d}\u{e081}未完了 \u{e10d}\u{e081}完了 \u{e10e}\u{e082}\u{e032}\u{e035}\u{e030}\u{e034}\u{e031}\u{e030} \u{e10f}\u{e082}\u{f5f1} \u{e110}\u{e082}\u{e032}\u{e030}\u{e032}\u{e034}\u{e02d}\u{e030}\u{e039} \u{e111}\u{e082}\u{ef04} \u{e115}\u{e082}\u{f007} "

commit;

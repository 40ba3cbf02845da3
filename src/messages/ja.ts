// Messages in Japanese.
import type { Problem } from '../errors.ts';
import type { Messages } from './language.ts';

export const ja = {
  missing_parameter: ({ at }) =>
    at === undefined ? '必須のパラメーターが指定されていません。' : `必須のパラメーター「${at}」が指定されていません。`,
  repeated_parameter: ({ at }) =>
    at === undefined
      ? '同じパラメーターが 2 回以上指定されています。1 回だけ指定してください。'
      : `パラメーター「${at}」が 2 回以上指定されています。1 回だけ指定してください。`,
  bad_encoding: ({ at }) =>
    `${at === undefined ? 'リクエストの本文' : `パラメーター「${at}」`}の文字コードまたはパーセントエンコーディングが正しくありません。UTF-8 で送信してください。`,
  bad_lang: (problem) =>
    `${subject(problem, 'lang')}の値が正しくありません${shown(problem)}。0（ja、日本語）、1（en、英語）、2（zh、中国語）のいずれかを指定してください。`,
  bad_limit: (problem) =>
    `${subject(problem, 'limit')}の値が正しくありません${shown(problem)}。1 から 10000 までの整数を指定してください。`,
  bad_revision: (problem) =>
    `${subject(problem, 'revision')}の値が正しくありません${shown(problem)}。0 または 1 を指定してください。`,
  bad_mode: (problem) =>
    `${subject(problem, 'mode')}の値が正しくありません${shown(problem)}。replace または merge を指定してください。`,
  bad_size: (problem) =>
    `${subject(problem, 'size')}の指定が正しくありません${shown(problem)}。small を指定するか、省略してください。`,
  bad_key: (problem) =>
    `${subject(problem, 'key')}にはレコードを特定できるフィールドを指定してください${shown(problem)}。主キー、または重複を禁止したフィールドの ID を指定できます。`,
  bad_atomic: (problem) =>
    `${subject(problem, 'atomic')}の指定が正しくありません${shown(problem)}。0 または 1 を指定してください。`,
  line_not_json: ({ at, limit }) =>
    `${at === undefined ? 'この行' : `「${at}」`}を JSON として読み取れません${position(limit)}。`,
  line_too_long: ({ limit }) =>
    `この行は長すぎます。${limit === undefined ? '短くしてください。' : `${bytes(limit)}以内にしてください。`}`,
  bad_line: ({ at }) =>
    `${at === undefined ? 'この行' : `「${at}」`}に処理の指定がありません。insert、update、merge、upsert、delete のいずれかをキーとし、レコードを値とするオブジェクトを指定してください。`,
  bad_version: (problem) =>
    `${subject(problem, 'version')}の指定が正しくありません${shown(problem)}。1 以上の整数を指定するか、省略してください。`,
  unknown_after: (problem) =>
    `${subject(problem, 'after')}に指定された主キー${shown(problem)}のレコードはありません。前のページの最後のレコードの主キーを指定してください。`,
  unknown_execuserid: (problem) =>
    `${subject(problem, 'execuserid')}に指定されたユーザー${shown(problem)}は存在しません。`,
  unknown_tablecode: (problem) =>
    `${subject(problem, 'tablecode')}に指定されたテーブルコード${shown(problem)}は、このアプリにありません。`,
  malformed_body: ({ limit }) =>
    limit === undefined
      ? 'リクエストの本文を読み取れません。Content-Type に合った形式（multipart/form-data では boundary も指定）で送信してください。'
      : `パラメーターの数が上限（${limit} 個）を超えています。減らしてください。`,
  param_not_json: ({ limit }) => `「param」を JSON として読み取れません${position(limit)}。`,
  param_not_object: () =>
    '「param」は JSON オブジェクトではありません。{ } で囲まれたオブジェクトを 1 つ指定してください。',
  param_repeated_key: ({ at, limit }) =>
    `「param」に同じキー${at === undefined ? '' : `「${at}」`}が 2 回以上あります${position(limit)}。1 回だけ指定してください。`,
  param_too_deep: ({ limit }) =>
    `「param」の入れ子が深すぎます。${limit === undefined ? '入れ子を浅くしてください。' : `${limit} 階層以内にしてください。`}`,
  unknown_field: ({ at }) =>
    at === undefined
      ? 'このアプリにないフィールドが指定されています。フィールド ID を確認してください。'
      : `フィールド「${at}」はこのアプリにありません。フィールド ID を確認してください。`,
  unknown_table_code: ({ at }) =>
    at === undefined
      ? 'このアプリにないテーブルが指定されています。テーブルコードを確認してください。'
      : `テーブル「${at}」はこのアプリにありません。テーブルコードを確認してください。`,
  field_not_searchable: (problem) =>
    `${subject(problem)}は検索設定で非表示になっているため、検索条件に指定できません。`,
  condition_not_string: (problem) => `${subject(problem)}の検索条件は文字列で指定してください。`,
  conditions_not_object: ({ at }) =>
    `テーブル${at === undefined ? '' : `「${at}」`}の検索条件は、フィールド ID をキーとするオブジェクトで指定してください。`,
  entry_not_object: (problem) => `${subject(problem)}は {"value": "…"} の形のオブジェクトで指定してください。`,
  rows_not_array: ({ at }) =>
    `テーブル${at === undefined ? '' : `「${at}」`}の行は、行ごとのオブジェクトの配列で指定してください。`,
  value_not_string: (problem) => `${subject(problem)}の value は文字列で指定してください。`,
  missing_primary_key: ({ at }) =>
    `対象のレコードを示す${at === undefined ? 'キー' : `フィールド「${at}」`}が「param」に指定されていません。`,
  not_a_number: (problem) =>
    `${subject(problem)}は数値ではありません${shown(problem)}。1234.5 または 1,234.5 のような 10 進数で指定してください。指数表記は使えません。`,
  number_too_long: (problem) =>
    `${subject(problem)}の桁数が多すぎます${shown(problem)}。有効数字 ${problem.limit ?? 30} 桁以内で指定してください。`,
  not_a_date: (problem) =>
    `${subject(problem)}は日付ではありません${shown(problem)}。YYYY-MM-DD または YYYY/MM/DD の形式で、実在する日付を指定してください。`,
  not_a_time: (problem) =>
    `${subject(problem)}は時刻ではありません${shown(problem)}。HH:MM または HH:MM:SS の形式で、00:00 から 23:59:59 までの時刻を指定してください。`,
  not_a_datetime: (problem) =>
    `${subject(problem)}は日時ではありません${shown(problem)}。YYYY-MM-DD HH:MM または YYYY-MM-DD HH:MM:SS の形式で、実在する日時を指定してください。`,
  too_many_keywords: (problem) =>
    `${subject(problem)}のキーワードが多すぎます。${problem.limit === undefined ? '減らしてください。' : `${problem.limit} 個以内で指定してください。`}`,
  text_too_long: (problem) =>
    `${subject(problem)}の文字数が多すぎます。${problem.limit === undefined ? '短くしてください。' : `${problem.limit} 文字以内で指定してください。`}`,
  bad_character: (problem) =>
    `${subject(problem)}に使用できない文字（NUL 文字、または対になっていないサロゲート）が含まれています。`,
  unknown_file: (problem) =>
    `${subject(problem)}のファイル ID が正しくありません${shown(problem)}。存在するファイルの ID を指定してください。`,
  unknown_row: ({ at, limit }) =>
    `${at === undefined ? '行番号' : `「${at}」の行番号`}に当たる行がレコードにありません${limit === undefined ? '' : `（行数: ${limit}）`}。存在する行の番号を指定してください。`,
  not_an_image: (problem) =>
    `${subject(problem)}は画像ではありません${shown(problem)}。${problem.limit === undefined ? '' : `次の形式の画像を指定してください: ${problem.limit}`}`,
  required_value: (problem) => `${subject(problem)}は必須です。値を指定してください。`,
  not_a_choice: (problem) =>
    `${subject(problem)}は選択肢にありません${shown(problem)}。${problem.limit === undefined ? '' : `次のいずれかを指定してください: ${problem.limit}`}`,
  not_calculated: (problem) =>
    `${subject(problem)}を計算できなかったため、空にしました${problem.limit === undefined ? '' : `（${problem.limit}）`}。`,
  unknown_version: (problem) =>
    `指定されたリビジョン${shown(problem)}の履歴はありません。履歴にあるリビジョンを指定してください。`,
  file_part_refused: ({ at, limit }) =>
    limit === 0
      ? `ファイル${at === undefined ? '' : `「${at}」`}を受け取れません。この操作ではファイルを送信できません。`
      : `ファイル${at === undefined ? '' : `「${at}」`}に当たるファイルフィールドまたは画像フィールドがありません。パラメーター名には、フィールド ID（テーブル内では、フィールド ID_行番号）を指定してください。`,
  too_many_records: ({ limit }) =>
    `レコードの件数が上限${limit === undefined ? '' : `（${limit} 件）`}を超えています。件数を減らしてください。`,
  malformed_request: () => 'HTTP リクエストとして読み取れません。',
  files_before_credentials: ({ limit }) =>
    `大きなファイルより前に、パラメーター appcode と appkey を送信してください。${limit === undefined ? '' : `それより前に送信できるファイルは合計 ${bytes(limit)}までです。`}`,
  bad_credentials: () => '認証に失敗しました。appcode と appkey を確認してください。',
  option_off: () => 'WebAPI オプションが有効になっていません。管理者にお問い合わせください。',
  not_in_production: () => 'このアプリは運用中ではありません。運用中以外は、アプリの管理者だけが利用できます。',
  no_right: ({ limit }) => `このアプリの${right(limit)}がありません。アプリの管理者にお問い合わせください。`,
  unknown_record: (problem) => `指定された主キー${shown(problem)}のレコードはありません。`,
  unknown_fileid: (problem) => `指定された ID${shown(problem)}のファイルはこのアプリにありません。`,
  unknown_path: (problem) => `指定されたパス${shown(problem)}はありません。URL を確認してください。`,
  wrong_method: ({ sent, limit }) =>
    `この URL では${sent === undefined ? 'この' : ` ${sent} `}メソッドを使用できません。${limit === undefined ? 'メソッドを確認してください。' : `${limit} を使用してください。`}`,
  revision_conflict: ({ sent, limit }) =>
    `レコードがほかの操作で更新されています${both(sent, limit)}。最新の内容を取得してから、もう一度更新してください。`,
  record_exists: (problem) => `${subject(problem)}の値${shown(problem)}のレコードはすでにあります。`,
  not_unique: (problem) =>
    `${subject(problem)}の値${shown(problem)}は、ほかのレコードで使われています。重複しない値を指定してください。`,
  body_too_large: ({ limit }) =>
    `リクエストの本文が大きすぎます。${limit === undefined ? '小さくしてください。' : `${bytes(limit)}以内にしてください。`}`,
  file_too_large: ({ at, limit }) =>
    `ファイル${at === undefined ? '' : `「${at}」`}が大きすぎます。${limit === undefined ? '小さくしてください。' : `${bytes(limit)}以内にしてください。`}`,
  files_too_large: ({ limit }) =>
    `リクエストのファイルの合計が大きすぎます。${limit === undefined ? '小さくしてください。' : `合計 ${bytes(limit)}以内にしてください。`}`,
  too_many_files: ({ limit }) =>
    `リクエストのファイルが多すぎます。${limit === undefined ? '減らしてください。' : `${limit} 個以内にしてください。`}`,
  unsupported_media_type: (problem) =>
    `リクエストの Content-Type に対応していません${shown(problem)}。application/x-www-form-urlencoded または multipart/form-data で送信してください。`,
  range_not_satisfiable: ({ limit }) =>
    `Range で指定された範囲がファイルにありません${limit === undefined ? '' : `（ファイルの大きさ: ${bytes(limit)}）`}。`,
  internal_error: () => 'サーバー内部でエラーが発生しました。詳細はサーバーのログを確認してください。',
  being_loaded: () =>
    'このアプリの最初のレコードを取り込み中か、取り込みが中断されています。完了するまでレコードを登録できません。',
  unavailable: () => '現在サービスを利用できません。しばらく待ってから、もう一度お試しください。',
  on_line: (line, text) => `${line} 行目: ${text}`,
  no_match: () => '該当するデータがありません。',
} satisfies Messages;

function subject({ at }: Problem, otherwise?: string): string {
  const name = at ?? otherwise;
  return name === undefined ? '指定された値' : `「${name}」`;
}

function shown({ sent }: Problem): string {
  return sent === undefined ? '' : `（「${sent}」）`;
}

function position(limit: Problem['limit']): string {
  if (limit === undefined) return '';
  return typeof limit === 'number' ? `（${limit} 文字目）` : `（${limit}）`;
}

function bytes(limit: number | string): string {
  return typeof limit === 'number' ? `${limit} バイト` : `${limit} `;
}

function right(limit: Problem['limit']): string {
  if (limit === 'use') return '利用権限';
  if (limit === 'administer') return '管理者権限';
  return limit === 'update' ? '更新権限' : '権限';
}

function both(sent: string | undefined, stored: Problem['limit']): string {
  const parts: string[] = [];
  if (sent !== undefined) parts.push(`送信されたリビジョン: 「${sent}」`);
  if (stored !== undefined) parts.push(`現在のリビジョン: 「${stored}」`);
  return parts.length === 0 ? '' : `（${parts.join('、')}）`;
}

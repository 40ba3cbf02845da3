// Messages in simplified Chinese.
import type { Problem } from '../errors.ts';
import type { Messages } from './language.ts';

export const zh = {
  missing_parameter: ({ at }) => (at === undefined ? '必需的参数缺失或为空。' : `必需的参数“${at}”缺失或为空。`),
  repeated_parameter: ({ at }) => `${at === undefined ? '同一参数' : `参数“${at}”`}被指定了多次，请只指定一次。`,
  bad_encoding: ({ at }) =>
    `${at === undefined ? '请求正文' : `参数“${at}”`}的字符编码或百分号编码不正确，请使用 UTF-8 发送。`,
  bad_lang: (problem) =>
    `${subject(problem, 'lang')}的值不正确${shown(problem)}。请指定 0（ja，日语）、1（en，英语）或 2（zh，中文）。`,
  bad_limit: (problem) => `${subject(problem, 'limit')}的值不正确${shown(problem)}。请指定 1 到 10000 之间的整数。`,
  bad_revision: (problem) => `${subject(problem, 'revision')}的值不正确${shown(problem)}。请指定 0 或 1。`,
  bad_mode: (problem) => `${subject(problem, 'mode')}的值不正确${shown(problem)}。请指定 replace 或 merge。`,
  bad_size: (problem) => `${subject(problem, 'size')}的指定不正确${shown(problem)}。请指定 small，或省略。`,
  bad_key: (problem) =>
    `${subject(problem, 'key')}不是可以区分记录的字段${shown(problem)}，请指定主键或唯一字段的 ID。`,
  bad_atomic: (problem) => `${subject(problem, 'atomic')}的指定不正确${shown(problem)}。请指定 0 或 1。`,
  line_not_json: ({ at, limit }) => `${at === undefined ? '此行' : `“${at}”`}不是有效的 JSON${position(limit)}。`,
  line_too_long: ({ limit }) => `此行过长。${limit === undefined ? '请缩短。' : `最多允许 ${bytes(limit)}。`}`,
  bad_line: ({ at }) =>
    `${at === undefined ? '此行' : `“${at}”`}没有指定操作。请指定以 insert、update、merge、upsert、delete 之一为键、以记录为值的对象。`,
  bad_version: (problem) =>
    `${subject(problem, 'version')}的指定不正确${shown(problem)}。请指定从 1 开始的整数，或省略。`,
  unknown_after: (problem) =>
    `${subject(problem, 'after')}所指定的主键${shown(problem)}没有对应的记录。请指定上一页最后一条记录的主键。`,
  unknown_execuserid: (problem) => `${subject(problem, 'execuserid')}所指定的用户${shown(problem)}不存在。`,
  unknown_tablecode: (problem) => `${subject(problem, 'tablecode')}所指定的表格代码${shown(problem)}在此应用中不存在。`,
  malformed_body: ({ limit }) =>
    limit === undefined
      ? '无法读取请求正文。请按照 Content-Type 所示的格式发送（multipart/form-data 须指定 boundary）。'
      : `参数数量超过上限（${limit} 个），请减少参数。`,
  param_not_json: ({ limit }) => `“param”不是有效的 JSON${position(limit)}。`,
  param_not_object: () => '“param”不是 JSON 对象。请指定一个用 { } 括起来的对象。',
  param_repeated_key: ({ at, limit }) =>
    `“param”中的键${at === undefined ? '' : `“${at}”`}出现了多次${position(limit)}，请只指定一次。`,
  param_too_deep: ({ limit }) =>
    `“param”的嵌套过深。${limit === undefined ? '请减少层数。' : `最多允许 ${limit} 层。`}`,
  unknown_field: ({ at }) =>
    at === undefined ? '指定了此应用中不存在的字段，请检查字段 ID。' : `此应用中不存在字段“${at}”，请检查字段 ID。`,
  unknown_table_code: ({ at }) =>
    at === undefined ? '指定了此应用中不存在的表格，请检查表格代码。' : `此应用中不存在表格“${at}”，请检查表格代码。`,
  field_not_searchable: (problem) => `${subject(problem)}在搜索设置中被隐藏，不能用作搜索条件。`,
  condition_not_string: (problem) => `${subject(problem)}的搜索条件不是字符串，请以字符串指定。`,
  conditions_not_object: ({ at }) =>
    `表格${at === undefined ? '' : `“${at}”`}的搜索条件不是对象，请指定以字段 ID 为键的对象。`,
  entry_not_object: (problem) => `${subject(problem)}不是对象，请以 {"value": "…"} 的形式指定。`,
  rows_not_array: ({ at }) => `表格${at === undefined ? '' : `“${at}”`}的行不是数组，请指定由各行对象组成的数组。`,
  value_not_string: (problem) => `${subject(problem)}的 value 不是字符串，请以字符串指定。`,
  missing_primary_key: ({ at }) => `“param”中没有指定是哪一条记录的${at === undefined ? '键' : `“${at}”`}。`,
  not_a_number: (problem) =>
    `${subject(problem)}不是数值${shown(problem)}。请指定 1234.5 或 1,234.5 这样的十进制数，不能使用指数形式。`,
  number_too_long: (problem) =>
    `${subject(problem)}的位数过多${shown(problem)}。有效数字最多 ${problem.limit ?? 30} 位。`,
  not_a_date: (problem) =>
    `${subject(problem)}不是日期${shown(problem)}。请以 YYYY-MM-DD 或 YYYY/MM/DD 的格式指定实际存在的日期。`,
  not_a_time: (problem) =>
    `${subject(problem)}不是时间${shown(problem)}。请以 HH:MM 或 HH:MM:SS 的格式指定 00:00 到 23:59:59 之间的时间。`,
  not_a_datetime: (problem) =>
    `${subject(problem)}不是日期时间${shown(problem)}。请以 YYYY-MM-DD HH:MM 或 YYYY-MM-DD HH:MM:SS 的格式指定实际存在的日期时间。`,
  too_many_keywords: (problem) =>
    `${subject(problem)}的关键字过多。${problem.limit === undefined ? '请减少。' : `最多允许 ${problem.limit} 个。`}`,
  text_too_long: (problem) =>
    `${subject(problem)}的字符数过多。${problem.limit === undefined ? '请缩短。' : `最多允许 ${problem.limit} 个字符。`}`,
  bad_character: (problem) => `${subject(problem)}含有不能使用的字符（NUL 字符或不成对的代理项）。`,
  unknown_file: (problem) => `${subject(problem)}的文件 ID 不正确${shown(problem)}。请指定已存在的文件的 ID。`,
  unknown_row: ({ at, limit }) =>
    `${at === undefined ? '行号' : `“${at}”的行号`}在记录中不存在${limit === undefined ? '' : `（行数：${limit}）`}，请指定存在的行号。`,
  not_an_image: (problem) =>
    `${subject(problem)}不是图像${shown(problem)}。${problem.limit === undefined ? '' : `请指定以下格式的图像：${problem.limit}`}`,
  required_value: (problem) => `${subject(problem)}是必填项，请指定值。`,
  not_a_choice: (problem) =>
    `${subject(problem)}不是选项之一${shown(problem)}。${problem.limit === undefined ? '' : `请指定以下之一：${problem.limit}`}`,
  not_calculated: (problem) =>
    `${subject(problem)}无法计算，已置空${problem.limit === undefined ? '' : `（${problem.limit}）`}。`,
  unknown_version: (problem) => `记录没有指定的版本${shown(problem)}，请指定历史记录中的版本。`,
  file_part_refused: ({ at, limit }) =>
    limit === 0
      ? `无法接收文件${at === undefined ? '' : `“${at}”`}。此操作不接收文件。`
      : `文件${at === undefined ? '' : `“${at}”`}没有对应的文件字段或图像字段。请以字段 ID（表格中为“字段 ID_行号”）作为参数名。`,
  too_many_records: ({ limit }) => `记录数超过上限${limit === undefined ? '' : `（${limit} 条）`}，请减少记录数。`,
  malformed_request: () => '无法将请求识别为 HTTP 请求。',
  files_before_credentials: ({ limit }) =>
    `请在较大的文件之前发送参数 appcode 和 appkey。${limit === undefined ? '' : `在此之前的文件合计最多允许 ${bytes(limit)}。`}`,
  bad_credentials: () => '认证失败。请检查 appcode 和 appkey。',
  option_off: () => '未启用 WebAPI 选项。请联系管理员。',
  not_in_production: () => '此应用未处于运行状态。在此期间只有应用的管理员可以使用。',
  no_right: ({ limit }) => `没有此应用的${right(limit)}。请联系应用的管理员。`,
  unknown_record: (problem) => `指定的主键${shown(problem)}没有对应的记录。`,
  unknown_fileid: (problem) => `此应用中没有指定 ID${shown(problem)}的文件。`,
  unknown_path: (problem) => `指定的路径${shown(problem)}不存在，请检查 URL。`,
  wrong_method: ({ sent, limit }) =>
    `此 URL 不能使用${sent === undefined ? '该' : ` ${sent} `}方法。${limit === undefined ? '请检查方法。' : `请使用 ${limit}。`}`,
  revision_conflict: ({ sent, limit }) => `该记录已被其他操作更新${both(sent, limit)}。请取得最新内容后再次更新。`,
  record_exists: (problem) => `${subject(problem)}的值${shown(problem)}的记录已存在。`,
  not_unique: (problem) => `${subject(problem)}的值${shown(problem)}已被其他记录使用，请指定不重复的值。`,
  body_too_large: ({ limit }) =>
    `请求正文过大。${limit === undefined ? '请减小其大小。' : `最多允许 ${bytes(limit)}。`}`,
  file_too_large: ({ at, limit }) =>
    `文件${at === undefined ? '' : `“${at}”`}过大。${limit === undefined ? '请减小其大小。' : `最多允许 ${bytes(limit)}。`}`,
  files_too_large: ({ limit }) =>
    `请求中的文件合计过大。${limit === undefined ? '请减小其大小。' : `合计最多允许 ${bytes(limit)}。`}`,
  too_many_files: ({ limit }) => `请求中的文件过多。${limit === undefined ? '请减少。' : `最多允许 ${limit} 个。`}`,
  unsupported_media_type: (problem) =>
    `不支持此 Content-Type${shown(problem)}。请使用 application/x-www-form-urlencoded 或 multipart/form-data 发送。`,
  range_not_satisfiable: ({ limit }) =>
    `文件中没有 Range 指定的范围${limit === undefined ? '' : `（文件大小：${bytes(limit)}）`}。`,
  internal_error: () => '服务器内部发生错误。详细信息请查看服务器日志。',
  being_loaded: () => '正在导入此应用的首批记录，或导入已中断。完成之前不能登记记录。',
  unavailable: () => '服务暂时不可用。请稍候再试。',
  on_line: (line, text) => `第 ${line} 行：${text}`,
  no_match: () => '没有符合条件的数据。',
} satisfies Messages;

function subject({ at }: Problem, otherwise?: string): string {
  const name = at ?? otherwise;
  return name === undefined ? '指定的值' : `“${name}”`;
}

function shown({ sent }: Problem): string {
  return sent === undefined ? '' : `（“${sent}”）`;
}

function position(limit: Problem['limit']): string {
  if (limit === undefined) return '';
  return typeof limit === 'number' ? `（第 ${limit} 个字符）` : `（${limit}）`;
}

function bytes(limit: number | string): string {
  return typeof limit === 'number' ? `${limit} 字节` : limit;
}

function right(limit: Problem['limit']): string {
  if (limit === 'use') return '使用权限';
  if (limit === 'administer') return '管理员权限';
  return limit === 'update' ? '更新权限' : '权限';
}

function both(sent: string | undefined, stored: Problem['limit']): string {
  const parts: string[] = [];
  if (sent !== undefined) parts.push(`发送的版本：“${sent}”`);
  if (stored !== undefined) parts.push(`当前的版本：“${stored}”`);
  return parts.length === 0 ? '' : `（${parts.join('，')}）`;
}

// The app that the bench loads and searches: an order register of 15 fields and one table.
import { STATUSES } from './words.ts';

export const APP_CODE = 'BENCH';

/** The form's field IDs, in the order of the definition and of a record's values. */
export const FORM_FIELDS = [
  'bench_primarykey',
  'bench_no',
  'bench_company',
  'bench_kana',
  'bench_postal',
  'bench_address',
  'bench_tel',
  'bench_person',
  'bench_status',
  'bench_remarks',
  'bench_amount',
  'bench_tax',
  'bench_order',
  'bench_due',
  'bench_margin',
] as const;
export type FormField = (typeof FORM_FIELDS)[number];

/** The field IDs of the table, in the order of a row's values. */
export const LINE_FIELDS = ['line_product', 'line_code', 'line_qty', 'line_price'] as const;

/** The app that is filled beside the other, in its size like a register of addresses: seven fields that are searched, no table. */
export const PLAIN_CODE = 'BENCH_PLAIN';
export const PLAIN_FIELDS: readonly FormField[] = FORM_FIELDS.slice(0, 7);

/** The definition of the app, as `app apply` reads it. */
export const DEFINITION = `code: ${APP_CODE}
name: { ja: 受注台帳, en: Order register }
fields:
  - { id: bench_primarykey, type: id, search: exact }
  - { id: bench_no, type: text, name: { ja: 受注番号 }, maxLength: 40, search: exact }
  - { id: bench_company, type: text, name: { ja: 顧客名 }, maxLength: 200, search: partial }
  - { id: bench_kana, type: text, name: { ja: 顧客名カナ }, maxLength: 200, search: prefix }
  - { id: bench_postal, type: text, name: { ja: 郵便番号 }, maxLength: 8, search: exact }
  - { id: bench_address, type: text, name: { ja: 住所 }, maxLength: 200, search: partial }
  - { id: bench_tel, type: text, name: { ja: 電話番号 }, maxLength: 20, search: suffix }
  - { id: bench_person, type: text, name: { ja: 担当者 }, maxLength: 50, search: exact }
  - { id: bench_status, type: dropdown, name: { ja: 状態 }, choices: [${STATUSES.join(', ')}], search: any_of }
  - { id: bench_remarks, type: text_area, name: { ja: 備考 }, search: any_of }
  - { id: bench_amount, type: number, name: { ja: 金額 }, format: { grouping: true, prefix: "¥" }, search: range }
  - { id: bench_tax, type: number, name: { ja: 税率 }, format: { decimals: 1, suffix: "%" } }
  - { id: bench_order, type: date, name: { ja: 受注日 }, search: range }
  - { id: bench_due, type: date, name: { ja: 納期 }, search: range }
  - { id: bench_margin, type: number, name: { ja: 粗利 }, protected: true }
tables:
  - code: bench_lines
    name: { ja: 明細 }
    fields:
      - { id: line_product, type: text, name: { ja: 品名 }, search: exact }
      - { id: line_code, type: text, name: { ja: 品番 }, search: prefix }
      - { id: line_qty, type: number, name: { ja: 数量 }, search: range }
      - { id: line_price, type: number, name: { ja: 単価 }, format: { grouping: true, prefix: "¥" } }
`;

const SEVENTH = DEFINITION.indexOf('  - { id: bench_person');
export const PLAIN_DEFINITION: string = DEFINITION.slice(0, SEVENTH).replace(APP_CODE, PLAIN_CODE);

// The search of the specification as a plain filter over values: written from its text, with nothing of the server's own
// matching, so that the two can be compared (spec 4.1, D13-D17, P01-P03, P11).

export type Method = 'partial' | 'exact' | 'prefix' | 'suffix' | 'any_of' | 'range' | 'hidden';

export interface PlainField {
  readonly id: string;
  readonly type: string;
  readonly search: Method;
  readonly fold: boolean;
}

/** What a condition says of one field: a keyword, or the two bounds of a range; '' for none. */
export interface PlainCondition {
  readonly field: PlainField;
  readonly keyword: string;
  readonly upper: string;
}

const CHOICES = ['dropdown', 'checkbox', 'radio', 'list', 'pms_i_usr', 'pms_u_usr'];
const KATAKANA =
  'ァアィイゥウェエォオカガキギクグケゲコゴサザシジスズセゼソゾタダチヂッツヅテデトドナニヌネノハバパヒビピフブプヘベペホボポマミムメモャヤュユョヨラリルレロヮワヰヱヲンヴヵヶヽヾ';
const HIRAGANA =
  'ぁあぃいぅうぇえぉおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽまみむめもゃやゅゆょよらりるれろゎわゐゑをんゔゕゖゝゞ';
const KANA = new Map([...KATAKANA].map((kana, index) => [kana, HIRAGANA.charAt(index)]));
for (const [index, kana] of [...'ヷヸヹヺ'].entries()) KANA.set(kana, `${'わゐゑを'.charAt(index)}\u3099`);

/** Case, width and kana aside; character by character, so that none depends on its neighbours. */
export function plainFold(text: string): string {
  const lower = Array.from(text.normalize('NFKC'), (character) =>
    character.toLowerCase().toUpperCase().toLowerCase(),
  ).join('');
  return Array.from(lower.normalize('NFKC'), (character) =>
    character === 'ς' ? 'σ' : (KANA.get(character) ?? character),
  ).join('');
}

/** Whether a value meets a condition. */
export function meets(value: string, { field, keyword, upper }: PlainCondition): boolean {
  if (field.search === 'range') {
    if (keyword === '' && upper === '') return true;
    if (value === '') return false;
    const compare = comparisonOf(field.type);
    if (keyword !== '' && compare(value, readBound(field.type, keyword, '00:00:00')) < 0) return false;
    return upper === '' || compare(value, readBound(field.type, upper, '23:59:59')) <= 0;
  }
  if (keyword === '') return true;
  const form = (text: string) => (field.fold ? plainFold(text) : text);
  switch (field.search) {
    case 'partial':
      return form(value).includes(form(keyword));
    case 'prefix':
      return form(value).startsWith(form(keyword));
    case 'suffix':
      return form(value).endsWith(form(keyword));
    case 'any_of': {
      const words = parts(keyword).map(form);
      if (words.length === 0) return true;
      if (!CHOICES.includes(field.type)) return words.some((word) => form(value).includes(word));
      const chosen = parts(value).map(form);
      return words.some((word) => chosen.includes(word));
    }
    case 'exact': {
      if (value === '') return false;
      if (!isOrdered(field.type)) return form(value) === form(keyword);
      const compare = comparisonOf(field.type);
      const from = readBound(field.type, keyword, '00:00:00');
      const to = readBound(field.type, keyword, '23:59:59');
      return compare(value, from) >= 0 && compare(value, to) <= 0;
    }
    case 'hidden':
      throw new Error('a hidden field is no condition');
  }
}

function parts(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function isMoment(type: string): boolean {
  return type === 'datetime' || type === 'pms_i_ymd' || type === 'pms_u_ymd';
}

function isOrdered(type: string): boolean {
  return type === 'number' || type === 'date' || type === 'time' || isMoment(type);
}

/** A bound as the value it stands for; a date-time without a time gets the one given. */
function readBound(type: string, bound: string, time: string): string {
  if (type === 'number') return bound.replaceAll(',', '');
  if (type === 'date') return bound.replaceAll('/', '-');
  if (type === 'time') return bound.length === 5 ? `${bound}:00` : bound;
  if (!isMoment(type)) return bound;
  const day = bound.slice(0, 10).replaceAll('/', '-');
  if (bound.length === 10) return `${day} ${time}`;
  return `${day} ${bound.slice(11)}${bound.length === 16 ? ':00' : ''}`;
}

function comparisonOf(type: string): (a: string, b: string) => number {
  if (type === 'number') return compareDecimals;
  return type === 'auto_number' ? compareNaturally : compareCodePoints;
}

/** Decimals compared exactly, as whole numbers of the smallest unit. */
export function compareDecimals(a: string, b: string): number {
  const scale = Math.max(decimalsOf(a), decimalsOf(b));
  const [x, y] = [scaled(a, scale), scaled(b, scale)];
  return x < y ? -1 : x > y ? 1 : 0;
}

function decimalsOf(value: string): number {
  return (value.split('.')[1] ?? '').length;
}

/** The whole number of units of 10^-scale in a decimal. */
export function scaled(value: string, scale: number): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(value) ?? [];
  const units = BigInt(whole + fraction.padEnd(scale, '0'));
  return sign === '-' ? -units : units;
}

function compareCodePoints(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const difference = (x[i]?.codePointAt(0) ?? 0) - (y[i]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return x.length - y.length;
}

/** Runs of digits as numbers, the rest by code points (P03). */
export function compareNaturally(a: string, b: string): number {
  const [x, y] = [a.match(/\d+|\D/gu) ?? [], b.match(/\d+|\D/gu) ?? []];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const [left = '', right = ''] = [x[i], y[i]];
    const numbers = /^\d/.test(left) && /^\d/.test(right);
    const difference = numbers ? Number(BigInt(left) - BigInt(right)) : compareCodePoints(left, right);
    if (difference !== 0) return difference;
  }
  return x.length - y.length;
}

// The bench's records, each computed from a seed and its number alone: record 7 is the same in every register.
import { BUILDINGS, CITIES, TOWNS } from './places.ts';
import {
  BRANCHES,
  BRANDS,
  GIVEN_NAMES,
  INDUSTRIES,
  PHRASES,
  PRODUCTS,
  productName,
  RARE_WORDS,
  rareWord,
  STATUS_SHARES,
  STATUSES,
  SURNAMES,
  type Word,
} from './words.ts';

const FIRST_DAY = Date.UTC(2019, 0, 1);
const DAY = 86_400_000;
/** Orders fall on the days from 2019-01-01 to 2026-06-30, numbered from 0. */
export const ORDER_DAYS = 2738;

// Each property draws from its own stream, so that any of them can be computed without the others.
const STREAM = {
  core: 1,
  coreWord: 2,
  industry: 3,
  form: 4,
  branch: 5,
  city: 6,
  town: 7,
  block: 8,
  building: 9,
  telephone: 10,
  surname: 11,
  givenName: 12,
  status: 13,
  amountRadius: 14,
  amountAngle: 15,
  amountRound: 16,
  tax: 17,
  order: 18,
  due: 19,
  margin: 20,
  remarks: 21,
  rows: 22,
  phrase: 40,
  product: 60,
  quantity: 70,
} as const;

/** Number of 32 random bits of a record's stream. */
function draw(seed: number, n: number, stream: number): number {
  let x = Math.imul(n, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b) ^ Math.imul(seed + 1, 0xc2b2ae35);
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15) ^ n, 0x846ca68b);
  x = Math.imul(x ^ (x >>> 13), 0x2c1b3c6d);
  return (x ^ (x >>> 16)) >>> 0;
}

function pick<T>(from: readonly T[], random: number): T {
  return from[random % from.length] as T;
}

// One record in 20 of each block of 100,000 holds a rare word; the block's words are its own, so that each is found
// in 11 or 12 records whatever the size of the register, scattered over the block.
const PLANT_EVERY = 20;
const PLANT_BLOCK = 100_000;
const PLANT_WORDS = 417;
const PLANT_IN_COMPANY = 7;
const PLANT_IN_REMARKS = 13;

function plantedAt(n: number, place: number): number {
  if (n % PLANT_EVERY !== place) return -1;
  const block = Math.floor((n - 1) / PLANT_BLOCK);
  const slot = Math.floor(((n - 1) % PLANT_BLOCK) / PLANT_EVERY);
  return (block * PLANT_WORDS + (slot % PLANT_WORDS)) % RARE_WORDS;
}

/** Index of the rare word in a record's company, or -1. */
export function rareInCompany(n: number): number {
  return plantedAt(n, PLANT_IN_COMPANY);
}

/** Index of the rare word in a record's remarks, or -1. */
export function rareInRemarks(n: number): number {
  return plantedAt(n, PLANT_IN_REMARKS);
}

/** How many of the rare words, counted from index 0, occur in a register of that many records. */
export function rareWordsUsed(records: number): number {
  return Math.min(RARE_WORDS, Math.ceil(records / PLANT_BLOCK) * PLANT_WORDS);
}

/** Index of the brand in a record's company, or -1. */
export function brandOf(seed: number, n: number): number {
  if (rareInCompany(n) >= 0 || draw(seed, n, STREAM.core) % 100 >= 66) return -1;
  return draw(seed, n, STREAM.coreWord) % BRANDS.length;
}

function companyOf(seed: number, n: number): Word {
  const rare = rareInCompany(n);
  const brand = brandOf(seed, n);
  const [core, coreKana] =
    rare >= 0 ? rareWord(rare) : brand >= 0 ? (BRANDS[brand] as Word) : pick(SURNAMES, draw(seed, n, STREAM.coreWord));
  const [industry, industryKana] = pick(INDUSTRIES, draw(seed, n, STREAM.industry));
  const form = draw(seed, n, STREAM.form) % 100;
  const name = core + industry;
  const full =
    form < 60 ? `株式会社${name}` : form < 85 ? `${name}株式会社` : form < 95 ? `有限会社${name}` : `合同会社${name}`;
  const branch = draw(seed, n, STREAM.branch);
  return [branch % 100 < 15 ? `${full} ${pick(BRANCHES, branch >>> 7)}` : full, coreKana + industryKana];
}

/** Index of a record's status in STATUSES. */
export function statusOf(seed: number, n: number): number {
  let share = draw(seed, n, STREAM.status) % 100;
  let status = 0;
  while (share >= (STATUS_SHARES[status] ?? 100)) {
    share -= STATUS_SHARES[status] ?? 100;
    status++;
  }
  return status;
}

/** Log-normal with a median near 180,000 yen; three in ten are round. */
export function amountOf(seed: number, n: number): number {
  const radius = Math.sqrt(-2 * Math.log((draw(seed, n, STREAM.amountRadius) + 1) / 2 ** 32));
  const angle = (2 * Math.PI * draw(seed, n, STREAM.amountAngle)) / 2 ** 32;
  const amount = Math.max(100, Math.round(Math.exp(12.1 + 1.3 * radius * Math.cos(angle))));
  return draw(seed, n, STREAM.amountRound) % 10 < 3 ? Math.ceil(amount / 10) * 10 : amount;
}

/** Number of the day on which a record was ordered, from 0 to ORDER_DAYS - 1. */
export function orderDayOf(seed: number, n: number): number {
  return draw(seed, n, STREAM.order) % ORDER_DAYS;
}

// From the last order to its due date; the text of a day is made once.
const DAY_TEXTS = Array.from({ length: ORDER_DAYS + 184 }, (_, day) =>
  new Date(FIRST_DAY + day * DAY).toISOString().slice(0, 10),
);

/** A numbered day as `YYYY-MM-DD`. */
export function dayText(day: number): string {
  return DAY_TEXTS[day] as string;
}

/** A record's order number, which no other record has. */
export function orderNumberOf(seed: number, n: number): string {
  return `BN-${dayText(orderDayOf(seed, n)).slice(0, 4)}-${String(n).padStart(7, '0')}`;
}

/** How many rows a record's table has: 0 to 4, on average 1.5. */
export function rowCountOf(seed: number, n: number): number {
  const share = draw(seed, n, STREAM.rows) % 100;
  return share < 10 ? 0 : share < 60 ? 1 : share < 85 ? 2 : share < 95 ? 3 : 4;
}

/** Index of the product of a record's row, the first row being 0. */
export function productOf(seed: number, n: number, row: number): number {
  return draw(seed, n, STREAM.product + row) % PRODUCTS;
}

function remarksOf(seed: number, n: number): string {
  const random = draw(seed, n, STREAM.remarks);
  const rare = rareInRemarks(n);
  const share = random % 100;
  const count = share < 15 ? 0 : share < 50 ? 1 : share < 75 ? 2 : share < 90 ? 3 : 4;
  const lineBreak = (random >>> 8) % 10 < 3 ? '\r\n' : '';
  let text = rare >= 0 ? `案件「${rareWord(rare)[0]}」。` : '';
  for (let i = 0; i < count; i++) {
    const from = draw(seed, n, STREAM.phrase + i);
    const phrase = pick(PHRASES, from)
      .replace('{name}', pick(SURNAMES, from >>> 9)[0])
      .replace('{number}', String(1000 + ((from >>> 11) % 90_000)));
    text += text === '' ? phrase : lineBreak + phrase;
  }
  return text;
}

function addressOf(seed: number, n: number): { postal: string; address: string; telephone: string } {
  const city = pick(CITIES, draw(seed, n, STREAM.city));
  const townRandom = draw(seed, n, STREAM.town) % TOWNS.length;
  const block = draw(seed, n, STREAM.block);
  const building = draw(seed, n, STREAM.building);
  const telephone = draw(seed, n, STREAM.telephone);
  const street = `${1 + (block % 9)}丁目${1 + ((block >>> 4) % 40)}-${1 + ((block >>> 12) % 30)}`;
  const house = building % 10 < 3 ? ` ${pick(BUILDINGS, building >>> 4)}${1 + ((building >>> 10) % 12)}F` : '';
  // Ten digits in all, the area code included.
  const exchange = String(telephone % 10 ** (6 - city.area.length)).padStart(6 - city.area.length, '2');
  const line = String((telephone >>> 12) % 10_000).padStart(4, '0');
  return {
    postal: `${city.postal}-${String(townRandom * 7 + (block % 7)).padStart(4, '0')}`,
    address: `${city.name}${TOWNS[townRandom]}${street}${house}`,
    telephone: `${city.area}-${exchange}-${line}`,
  };
}

/** The values of a record's form, in the order of FORM_FIELDS. */
export function formValues(seed: number, n: number): string[] {
  const [company, kana] = companyOf(seed, n);
  const { postal, address, telephone } = addressOf(seed, n);
  const person = draw(seed, n, STREAM.surname);
  const amount = amountOf(seed, n);
  const orderDay = orderDayOf(seed, n);
  return [
    String(n),
    orderNumberOf(seed, n),
    company,
    kana,
    postal,
    address,
    telephone,
    `${pick(SURNAMES, person)[0]} ${pick(GIVEN_NAMES, draw(seed, n, STREAM.givenName))}`,
    STATUSES[statusOf(seed, n)] as string,
    remarksOf(seed, n),
    String(amount),
    draw(seed, n, STREAM.tax) % 10 === 0 ? '8' : '10',
    dayText(orderDay),
    dayText(orderDay + 3 + (draw(seed, n, STREAM.due) % 180)),
    String(Math.round(amount * (0.05 + (draw(seed, n, STREAM.margin) % 300) / 1000))),
  ];
}

/** The rows of a record's table, the values of each in the order of LINE_FIELDS. */
export function lineRows(seed: number, n: number): string[][] {
  const rows: string[][] = [];
  for (let row = 0; row < rowCountOf(seed, n); row++) {
    const product = productOf(seed, n, row);
    const random = draw(seed, n, STREAM.quantity + row);
    const group = String.fromCharCode(65 + (product % 26), 65 + (Math.floor(product / 26) % 26));
    rows.push([
      productName(product),
      `${group}-${String(product).padStart(5, '0')}`,
      String(random % 10 < 6 ? 1 + ((random >>> 4) % 20) : 10 * (1 + ((random >>> 4) % 100))),
      String(20 + (product % 400) * 15),
    ]);
  }
  return rows;
}

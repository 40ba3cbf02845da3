// Times of day: written HH:MM:SS, read with or without seconds.
import { type FieldType, isStorable, plainEntry, type Unreadable } from './field-type.ts';

const TIME = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;

export const time: FieldType = {
  searches: ['exact', 'range'],
  compares: 'order',
  filledBy: 'request',
  parse: parseTime,
  render: (value) => plainEntry('time', value),
  bound: parseTime,
};

/** `HH:MM:SS` of a time from 00:00 to 23:59:59. */
export function parseTime(sent: string): string | Unreadable {
  if (!isStorable(sent)) return { code: 'bad_character' };
  const parts = TIME.exec(sent);
  return parts === null ? { code: 'not_a_time' } : `${parts[1]}:${parts[2]}:${parts[3] ?? '00'}`;
}

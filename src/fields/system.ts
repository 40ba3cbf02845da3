// The system fields: who put a record in and who updated it last, and when (spec 2.2).
import { monthOf, monthsBetween } from './date.ts';
import { datetimeBound } from './datetime.ts';
import { type FieldType, plainEntry } from './field-type.ts';
import { parseText } from './text.ts';

function userType(type: string): FieldType {
  return {
    searches: ['exact', 'any_of'],
    compares: 'choices',
    filledBy: 'server',
    parse: parseText,
    render(value, _field, context) {
      const user = `{"id":${JSON.stringify(value)},"name":${JSON.stringify(context.userName(value))}}`;
      return `{"type":"${type}","value":${user}}`;
    },
  };
}

function momentType(type: string): FieldType {
  return {
    searches: ['exact', 'range'],
    compares: 'order',
    filledBy: 'server',
    parse: parseText,
    render: (value) => plainEntry(type, value),
    bucket: monthOf,
    buckets: monthsBetween,
    bound: datetimeBound,
  };
}

/** Searched by user ID, the whole of it: an entry's user name may change (D40). */
export const creatingUser = userType('pms_i_usr');
export const updatingUser = userType('pms_u_usr');
export const creationTime = momentType('pms_i_ymd');
export const updateTime = momentType('pms_u_ymd');

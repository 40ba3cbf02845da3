// What a server says on standard output when it is there.
import type { FirstStart } from '../operations/first-start.ts';

/** The address to call: one that reaches this machine where it listens on all addresses. */
export function addressOf(host: string, port: number, basePath: string): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}${basePath}`;
}

/** The address and where help is; after a first start also the keys, and two commands to try. */
export function welcome(address: string, place: string, first: FirstStart | null): string {
  if (first === null) return `Daicho is at ${address}\nHelp: daicho --help, in a clone npm run -s daicho -- --help\n`;
  const { app, administrator, ordinary, records } = first;
  return `Daicho is at ${address}

${place[0]?.toUpperCase()}${place.slice(1)} has a new register, with the example app ${app} and its ${records} records.
Keys to ${app}, shown only this once:

  ${administrator.key}  ${administrator.id} (${administrator.name}), administrator of the app
  ${ordinary.key}  ${ordinary.id} (${ordinary.name}), may search and update

Search for customers whose name contains 商事:

${curl(`${address}/webapi/v1/dataset/search`, app, ordinary.key, ['tablecode=ord_lines', 'param={"ord_customer":"商事"}'])}

Update the status of the order 22 (mode=merge keeps the fields that are not sent):

${curl(`${address}/webapi/v1/data/update`, app, ordinary.key, [
  'mode=merge',
  'param={"ord_primarykey":{"value":"22"},"ord_status":{"value":"受付"}}',
])}

Help: daicho --help, in a clone npm run -s daicho -- --help
`;
}

/** A command for sh; what is in the parameters has no single quote. */
function curl(url: string, app: string, key: string, parameters: readonly string[]): string {
  const data = [`appcode=${app}`, `appkey=${key}`, ...parameters];
  return `curl -s '${url}' \\\n${data.map((parameter) => `  --data-urlencode '${parameter}'`).join(' \\\n')}`;
}

// The process of an S3-compatible service: folder and bucket. It writes its port, and ends when its input does.
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

interface S3rver {
  readonly store: { getObject(bucket: string, key: string, range: { readonly end?: unknown }): Promise<unknown> };
  run(): Promise<AddressInfo>;
}

// The package comes without types.
const S3rver: new (options: object) => S3rver = createRequire(import.meta.url)('s3rver');

const [directory, name] = process.argv.slice(2);
const service = new S3rver({
  ...{ address: '127.0.0.1', port: 0, silent: true, vhostBuckets: false },
  ...{ directory, configureBuckets: [{ name }] },
});
// It takes 0 as the last byte for none, but not the object of that number.
const getObject = service.store.getObject.bind(service.store);
service.store.getObject = (bucket, key, range) =>
  getObject(bucket, key, range.end === 0 ? { ...range, end: Object(0) } : range);

process.stdin.resume().once('end', () => process.exit());
console.log((await service.run()).port);

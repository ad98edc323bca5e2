// The declarations, used as people use them; npm run types checks them.
import { CuckooFilter, InvalidImage, type Family } from 'pg-cuckoofilter';
import { register } from 'pg-cuckoofilter/pg';

declare const client: {
  query(text: string): Promise<{ rows: any[] }>;
  setTypeParser(oid: number, format: 'text' | 'binary', parse: (value: string) => unknown): void;
};

const f: CuckooFilter = await CuckooFilter.load(new Uint8Array());
const found: boolean = f.contains('a') || f.contains(1n) || f.containsHash('17');
const month: boolean = f.contains({ months: 1, days: 0, microseconds: 0n });
const family: Family = f.family;
await register(client);
// @ts-expect-error: filters are made by load()
new CuckooFilter(new Uint8Array());
// @ts-expect-error: a field is missing
f.contains({ months: 1, days: 0 });
// @ts-expect-error: no element is null
f.contains(null);
console.log(found, month, family, new InvalidImage().message, f.image.length, f.seed + 1n, f.pages);

// The declarations, used as people use them; npm run types checks them.
import { CuckooFilter, InvalidImage, type Family } from 'pg-cuckoofilter';
import { register, type CuckooFilterColumn } from 'pg-cuckoofilter/pg';
import pg from 'pg';

const f: CuckooFilter = await CuckooFilter.load(new Uint8Array());
const found: boolean = f.contains('a') || f.contains(1n) || f.containsHash('17');
const month: boolean = f.contains({ months: 1, days: 0, microseconds: 0n });
const family: Family = f.family;
const client = new pg.Client();
const pool = new pg.Pool();
await register(client);
await register(pool, pg.types);
const { rows } = await client.query<{ f: CuckooFilterColumn }>('SELECT f FROM filters WHERE f @> $1::bigint', [17n]);
const fetched: CuckooFilter = await rows[0].f;
const text: string = rows[0].f.toJSON() + fetched.toJSON();
await pool.query('INSERT INTO filters VALUES ($1), ($2)', [rows[0].f, fetched]);
// @ts-expect-error: a pool has no parsers of its own
await register(pool);
// @ts-expect-error: a column is a promise
rows[0].f.contains(17);
// @ts-expect-error: filters are made by load()
new CuckooFilter(new Uint8Array());
// @ts-expect-error: a field is missing
f.contains({ months: 1, days: 0 });
// @ts-expect-error: no element is null
f.contains(null);
console.log(found, text, month, family, new InvalidImage().message, f.image.length, f.seed + 1n);

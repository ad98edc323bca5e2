// node-postgres: columns of the type cuckoofilter are promises of a CuckooFilter.
import { CuckooFilter } from './filter.js';

/** The text form can be had at once, which JSON.stringify and a parameter need. */
function parse(value) {
  const image = typeof value === 'string' ? value : Buffer.from(value); // pg reuses its buffer
  const filter = CuckooFilter.load(image);
  filter.catch(() => {}); // only who awaits it sees the error
  const text = () => image.toString('base64'); // a string is that already
  return Object.defineProperties(filter, { toJSON: { value: text }, toPostgres: { value: text } });
}

/** For the results of this client; of a pool: register(pool, pg.types). */
export async function register(client, types = client) {
  const { rows } = await client.query("SELECT 'cuckoofilter'::regtype::oid::bigint AS oid");
  types.setTypeParser(Number(rows[0].oid), 'text', parse);
  types.setTypeParser(Number(rows[0].oid), 'binary', parse);
}

// node-postgres: columns of the type cuckoofilter are promises of a CuckooFilter.
import { CuckooFilter } from './filter.js';

function parse(value) {
  const filter = CuckooFilter.load(value);
  filter.catch(() => {}); // only who awaits it sees the error
  return filter;
}

/** For the results of this client; of a pool: register(pool, pg.types). */
export async function register(client, types = client) {
  const { rows } = await client.query("SELECT 'cuckoofilter'::regtype::oid::bigint AS oid");
  types.setTypeParser(Number(rows[0].oid), 'text', parse);
  types.setTypeParser(Number(rows[0].oid), 'binary', parse);
}

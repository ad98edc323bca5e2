// Probes a second of processor time, which other processes hardly change.
// node bench.js [ITEMS]. Needs a server that PGHOST and the like name.
import pg from 'pg';
import { CuckooFilter } from './src/filter.js';

const items = Number(process.argv[2] ?? 1000000);

async function measure(what, count, run) {
  let best = Infinity;
  for (let i = 0; i < 3; i++) {
    const start = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, user + system);
  }
  console.log(what.padEnd(45), Math.round((count / best) * 1e6).toLocaleString('en').padStart(14), 'a second');
}

const client = new pg.Client();
await client.connect();
for (const [expression, value] of [['i', (i) => i], ["'https://example.com/' || i", (i) => `https://example.com/${i}`]]) {
  const { rows } = await client.query(`SELECT cf_agg(${expression}, 0.001)::bytea AS f FROM generate_series(1, ${items}) i`);
  const image = rows[0].f;
  const filter = await CuckooFilter.load(image);
  console.log(`${filter.items} items, family ${filter.family}, ${image.length} bytes`);
  const values = Array.from({ length: 300000 }, (_, i) => value(items / 2 + 1 + i));
  let found;
  await measure('load, items', items, () => CuckooFilter.load(image));
  await measure('filter.contains(value)', values.length, () => {
    found = values.filter((v) => filter.contains(v)).length;
  });
  if (found < 300000) throw new Error('members are missing');
}
await client.end();

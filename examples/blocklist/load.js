// Brings the block list into the table and publishes its filters: node load.js
//
// A daily job would update the package with npm before. The list is replaced as
// a whole, in one transaction. Its equal sets give equal filters, so a list
// that has not changed changes nothing for those who have the filters.
import { createRequire } from 'node:module';
import pg from 'pg';
import { normalDomain } from './page/domain.js';

const require = createRequire(import.meta.url);
const client = new pg.Client();
const unusable = [];

function domains(list)
{
  const usable = list.filter((domain) => normalDomain(domain) || !unusable.push(domain));

  return [...new Set(usable.map(normalDomain))];
}

async function insert(list, wildcard)
{
  const { rowCount } = await client.query(
    'INSERT INTO blocked SELECT unnest($1::text[]), $2', [domains(list), wildcard]);

  return rowCount;
}

await client.connect();
await client.query('BEGIN');
await client.query('DELETE FROM blocked');
const plain = await insert(require('disposable-email-domains'), false);
const wildcards = await insert(require('disposable-email-domains/wildcard.json'), true);
const changed = (await client.query('SELECT publish() AS name')).rows.map((row) => row.name);
await client.query('COMMIT');
await client.end();

console.log(`${plain} domains, ${wildcards} wildcards; changed filters: ${changed.join(', ') || 'none'}`);
if (unusable.length > 0)
  console.log(`left out, as they are no domains: ${unusable.join(', ')}`);

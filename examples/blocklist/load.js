// Brings a block list into the table and publishes its filters:
// node load.js [LIST [WILDCARDS]]
//
// LIST and WILDCARDS are files with a domain in each line. Without them the list
// is that of the package disposable-email-domains, which a daily job would
// update with npm before. Lines that are no domains are left out, and counted in
// a message; the exit status is then 1.
//
// The list is replaced as a whole, in one transaction. Its equal sets give equal
// filters, so a list that has not changed changes nothing for those who have the
// filters.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import pg from 'pg';
import { normalDomain } from './page/domain.js';

const require = createRequire(import.meta.url);
const client = new pg.Client();
const unusable = [];
let read = 0;

async function linesOf(file)
{
  return file ? (await readFile(file, 'utf8')).split('\n') : [];
}

// The domains in their one spelling, each once
function domains(list)
{
  const lines = list.filter((line) => line.trim());
  const usable = lines.filter((line) => normalDomain(line) || !unusable.push(line));

  read += lines.length;
  return [...new Set(usable.map(normalDomain))];
}

async function insert(list, wildcard)
{
  const { rowCount } = await client.query(
    'INSERT INTO blocked SELECT unnest($1::text[]), $2', [domains(list), wildcard]);

  return rowCount;
}

const [list, wildcardList] = process.argv.length > 2
  ? await Promise.all([linesOf(process.argv[2]), linesOf(process.argv[3])])
  : [require('disposable-email-domains'), require('disposable-email-domains/wildcard.json')];

await client.connect();
await client.query('BEGIN');
await client.query('DELETE FROM blocked');
const plain = await insert(list, false);
const wildcards = await insert(wildcardList, true);
const changed = (await client.query('SELECT publish() AS name')).rows.map((row) => row.name);
await client.query('COMMIT');
await client.end();

console.log(`${plain} domains, ${wildcards} wildcards; changed filters: ${changed.join(', ') || 'none'}`);
if (unusable.length > 0) {
  const some = unusable.slice(0, 3).map((line) => JSON.stringify(line.slice(0, 60)));

  console.error(`left out ${unusable.length} of ${read} lines, which are no domains, such as ${some.join(', ')}`);
  process.exitCode = 1;
}

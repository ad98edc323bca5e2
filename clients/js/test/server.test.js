// Against a live server with the extension, which PGHOST and the like name.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import pg from 'pg';
import { canonical, families } from '../src/elements.js';
import { CuckooFilter } from '../src/filter.js';
import { register } from '../src/pg.js';

const iso = (milliseconds) => new Date(milliseconds).toISOString();
const values = {
  // by type: the value of a number
  smallint: (i) => i - 30000,
  bigint: (i) => BigInt(i) * 2n ** 40n - 2n ** 62n,
  text: (i) => `${i} €`,
  bytea: (i) => Buffer.of(i >> 8, i & 255),
  uuid: (i) => `${i.toString(16).padStart(8, '0')}-0000-0000-0000-000000000000`,
  date: (i) => iso(i * 86400000).slice(0, 10),
  timestamp: (i) => `${iso(i * 1234567).slice(0, -1)}123`,
  timestamptz: (i) => iso(i * 1234567),
  float8: (i) => i / 7,
};

const client = new pg.Client();
const fetch = async (text, parameters, options) => (await client.query({ text, values: parameters, rowMode: 'array', ...options })).rows[0][0];

before(async () => {
  await client.connect();
  await register(client);
});
after(() => client.end());

test('members are found, and strangers are just where the server finds them', async () => {
  for (const [type, value] of Object.entries(values)) {
    const probes = Array.from({ length: 10000 }, (_, i) => value(i));
    for (const build of ['0.01', '100, 0.0001', '2000, 0.2, $2', '1500000, 0.3, $2']) {
      const seed = build.includes('$2') ? [BigInt.asIntN(64, BigInt(Math.floor(Math.random() * 2 ** 53)) * 12345n)] : [];
      const filter = await fetch(`SELECT cf_agg(v, ${build}) FROM unnest($1::${type}[]) v`, [probes.slice(0, 1000), ...seed]);
      const expected = await fetch(`SELECT cf_contains_each($1, $2::${type}[])`, [filter, probes]);
      assert.deepEqual(probes.map((v) => filter.contains(v)), expected, type);
      assert.ok(expected.slice(0, 1000).every(Boolean));
    }
  }
});

test('dates and times are read as the server prints them', async () => {
  const times = [
    ...['4714-11-24 00:00:00+00 BC', '0044-03-15 12:00:00+00 BC', '0001-02-28 23:00:00+00 BC', '0001-01-01 12:00:00+00'],
    ...['1965-05-01 12:00:00.000001+00', '1972-05-01 00:00:00+00', '2024-02-29 00:00:00+00', '2100-02-28 23:59:59.5+00'],
    ...['9999-12-31 23:59:59+00', '10000-01-01 00:00:00+00', '275760-09-14 00:00:00+00', '294276-12-31 23:59:59.999999+00'],
  ];
  for (const [type, more] of Object.entries({ date: ['5874897-12-31', '1000000-02-29'], timestamp: [], timestamptz: [] })) {
    for (const zone of ['UTC', 'Africa/Monrovia', 'Asia/Kolkata', 'America/St_Johns']) {
      await client.query(`SET TimeZone = '${zone}'`);
      const all = type === 'date' && zone === 'UTC' ? [...times.map((time) => time.replace(/ .*?( BC)?$/, '$1')), ...more] : times;
      const cast = type === 'date' && zone === 'UTC' ? 'date' : `timestamptz::${type}`;
      // a zone may move the limits out of the type
      const printed = await fetch(`SELECT array_agg(v::${cast}::text) FROM unnest($1::text[]) v`, [zone === 'UTC' ? all : all.slice(1, -1)]);
      const filter = await fetch(`SELECT cf_agg(v, 0.0001) FROM unnest($1::${type}[]) v`, [printed]);
      for (const value of printed) assert.ok(filter.contains(value), `${type} ${value} in ${zone}`);
    }
  }
  await client.query('RESET TimeZone');
});

test('filters are received as text and binary, and sent', async () => {
  for (const binary of [false, true]) {
    const filter = await fetch('SELECT cf_agg(i) FROM generate_series(1, 100) i', [], { binary });
    assert.ok(filter instanceof CuckooFilter);
    assert.equal(filter.items, 100);
    assert.equal(await fetch('SELECT cf_count($1::cuckoofilter)::int', [filter]), 100);
    assert.equal(await fetch('SELECT cf_count(($1::cuckoofilter[])[2])::int', [[null, filter]]), 100);
  }
  assert.equal(await fetch('SELECT NULL::cuckoofilter'), null);
});

test('a row is JSON and its filter a parameter, awaited or not', async () => {
  for (const binary of [false, true]) {
    const query = { text: 'SELECT cf_agg(i) AS f, 17 AS n FROM generate_series(1, 100) i', binary };
    const [row] = (await client.query(query)).rows;
    const filter = await row.f;
    const json = JSON.stringify(row);
    assert.equal(json, JSON.stringify({ f: filter.toString(), n: 17 }));
    assert.equal(json, JSON.stringify({ f: filter, n: 17 }));
    assert.ok((await CuckooFilter.load(JSON.parse(json).f)).contains(17));
    for (const f of [row.f, filter]) {
      assert.equal(await fetch('SELECT cf_count($1::cuckoofilter)::int', [f]), 100);
      assert.equal(await fetch('SELECT $1::cuckoofilter @> $2::bigint', [f, 17]), true);
    }
    assert.match(inspect(row), /CuckooFilter/);
    assert.doesNotMatch(inspect(row), /Function/);
  }
});

test('pg may overwrite its buffer', async () => {
  let parse;
  await register(client, { setTypeParser: (oid, format, parser) => (parse = parser) }); // the last is of binary
  const filter = await fetch('SELECT cf_agg(i) FROM generate_series(1, 100) i');
  const buffer = Buffer.from(filter.image);
  const column = parse(buffer);
  buffer.fill(0);
  assert.equal(column.toJSON(), filter.toJSON());
  assert.deepEqual((await column).image, filter.image);
});

test('a parameter in the wrong place', async () => {
  const message = async (...query) => {
    const { message, hint } = await client.query(...query).catch((error) => error);
    return `${message} ${hint}`;
  };
  assert.match(await message('SELECT cf_contains($1, 1)', ['word']), /An element is the second argument/);
  const declared = "SELECT cf_add(cf_new(1000, 0.01, element => 'bigint'), ";
  assert.match(await message(`${declared}$1)`, [7]), /\$1::bigint/);
  assert.equal(await fetch(`${declared}$1::bigint) @> 7`, [7]), true);
});

test('a pool', async () => {
  const pool = new pg.Pool();
  await register(pool, pg.types);
  const { rows } = await pool.query('SELECT cf_agg(i) AS f FROM generate_series(1, 100) i');
  assert.ok((await rows[0].f).contains(17));
  await pool.end();
});

test('intervals of node-postgres', async () => {
  const family = families.find(({ name }) => name === 'interval');
  const bytes = (value) => Buffer.from(canonical(family, value)).toString('hex');
  for (const text of ['00:00:00', '1 year 2 mons 3 days 04:05:06.789', '-1 mons +3 days -00:00:00.000001', '-26:00:59.5']) {
    assert.equal(bytes((await fetch('SELECT $1::interval', [text])).toISOString()), bytes(text));
  }
});

test('hashes of the family other', async () => {
  const filter = await fetch('SELECT cf_agg(i::oid) FROM generate_series(1, 100) i');
  for (let i = 0; i < 200; i++) {
    assert.equal(
      filter.containsHash(await fetch('SELECT cf_hash($1::oid)', [i])),
      await fetch('SELECT cf_contains($1, $2::oid)', [filter, i]),
    );
  }
  assert.throws(() => filter.contains(1), /only hashes from the server/);
});

test('seeds of either sign are those of cf_hash', async () => {
  for (const seed of [0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
    const filter = await fetch('SELECT cf_agg(i::bigint, 1000, 0.01, $1) FROM generate_series(1, 100) i', [seed]);
    assert.equal(filter.seed, seed);
    const hashes = await fetch('SELECT array_agg(cf_hash(i::bigint, $1)) FROM generate_series(1, 100) i', [filter.seed]);
    assert.ok(hashes.every((hash) => filter.containsHash(hash)));
  }
});

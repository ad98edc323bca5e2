// Each public method with each kind of argument: an answer or an error, never a wrong "no".
//
// A value names the families that take it, and for each the plain value whose element it is. All other families throw
// ElementError. So do the methods of hashes with what is no hash.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { xxhash3 } from 'hash-wasm';
import { CuckooFilter, ElementError, InvalidImage } from '../src/filter.js';
import { canonical, families } from '../src/elements.js';

const folder = process.env.VECTORS ?? new URL('../../../test/vectors', import.meta.url).pathname;
const TEXT = 'Q0YBAQkIAAACAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAOAACQAAAAAEWMimfA1Chg'; // has the integer 1
const IMAGE = new Uint8Array(Buffer.from(TEXT, 'base64'));

async function empty(family, seed = 0n) {
  const bytes = Buffer.alloc(48);
  bytes.set([0x43, 0x46, 1, families.findIndex(({ name }) => name === family), 9, 8, 0, 0, 2]);
  bytes.writeBigUInt64LE(seed, 24);
  bytes.writeBigUInt64LE(BigInt(`0x${await xxhash3(bytes.subarray(0, -8))}`), 40);
  return CuckooFilter.load(bytes);
}

const bytes = (...numbers) => Uint8Array.from(numbers);
const mac = '08:00:2b:01:02:03';
const noon = '2026-06-01 12:00:00';
const span = { months: 1, days: 0, microseconds: 0 };

const guid = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11';
const infinite = { date: 'infinity', timestamp: 'infinity', timestamptz: 'infinity', interval: 'infinity' };

const values = [
  [undefined, {}],
  [null, {}],
  [true, { boolean: true }],
  [false, { boolean: false }],
  [0, { integer: 0n, float: 0 }],
  [-0, { integer: 0n, float: 0 }],
  [1, { integer: 1n, float: 1 }],
  [1.5, { float: 1.5 }],
  [2 ** 53 - 1, { integer: 2n ** 53n - 1n, float: 2 ** 53 - 1 }],
  [2 ** 53, { float: 2 ** 53 }],
  [2 ** 53 + 2, { float: 2 ** 53 + 2 }],
  [-(2 ** 53), { float: -(2 ** 53) }],
  [NaN, { float: NaN }],
  [Infinity, { float: Infinity }],
  [-Infinity, { float: -Infinity }],
  [1n, { integer: 1 }],
  [2n ** 53n + 1n, { integer: 2n ** 53n + 1n }],
  [2n ** 63n - 1n, { integer: 2n ** 63n - 1n }],
  [-(2n ** 63n), { integer: -(2n ** 63n) }],
  [2n ** 63n, {}],
  [-(2n ** 63n) - 1n, {}],
  [2n ** 64n, {}],
  [2n ** 64n + 1n, {}],
  ['', { text: '' }],
  ['1', { text: '1', numeric: '1.0' }],
  [' 1', { text: ' 1' }],
  ['9223372036854775808', { text: '9223372036854775808', numeric: '9223372036854775808' }],
  ['1.50', { text: '1.50', numeric: '1.5' }],
  ['NaN', { text: 'NaN', numeric: 'NaN' }],
  ['true', { text: 'true' }],
  ['\0', {}],
  ['a\0', {}],
  ['\ud800', {}],
  [mac, { text: mac, macaddr: bytes(8, 0, 0x2b, 1, 2, 3), macaddr8: '08:00:2b:ff:fe:01:02:03' }],
  ['2026-06-01', { text: '2026-06-01', date: '2026-06-01' }],
  [noon, { text: noon, timestamp: '2026-06-01T12:00:00.0' }],
  [`${noon}+00`, { text: `${noon}+00`, timestamptz: new Date(`${noon}Z`) }],
  [`${noon}+15:59`, { text: `${noon}+15:59`, timestamptz: '2026-05-31 20:01:00Z' }],
  [`${noon}+16`, { text: `${noon}+16` }], // there is no such zone
  [`${noon}+01:60`, { text: `${noon}+01:60` }],
  ['infinity', { text: 'infinity', ...infinite, numeric: 'inf' }],
  ['12:00', { text: '12:00', time: '12:00:00' }],
  ['12:00:00', { text: '12:00:00', time: '12:00', interval: 'PT12H' }],
  ['1 mon', { text: '1 mon', interval: '30 days' }],
  ['10.0.0.1', { text: '10.0.0.1', inet: '10.0.0.1/32' }],
  [guid, { text: guid, uuid: 'A0EEBC999C0B4EF8BB6D6BB9BD380A11' }],
  [bytes(), { bytea: bytes() }],
  [bytes(1, 0), { bytea: bytes(1, 0) }],
  [bytes(1, 0).buffer, { bytea: bytes(1, 0) }],
  [Buffer.from([1, 0]), { bytea: bytes(1, 0) }],
  [bytes(9, 1, 0, 9).subarray(1, 3), { bytea: bytes(1, 0) }],
  [bytes(1, 2, 3, 4, 5, 6), { bytea: bytes(1, 2, 3, 4, 5, 6), macaddr: '01:02:03:04:05:06' }],
  [bytes(1, 2, 3, 4, 5, 6, 7, 8), { bytea: bytes(1, 2, 3, 4, 5, 6, 7, 8), macaddr8: '0102030405060708' }],
  [Uint16Array.of(1), {}],
  [Float64Array.of(1), {}],
  [BigInt64Array.of(1n), {}],
  [new DataView(new ArrayBuffer(1)), {}],
  [new SharedArrayBuffer(1), {}],
  [new Date(`${noon}Z`), { timestamptz: `${noon}Z` }],
  [new Date(-210866803200000), { timestamptz: new Date(-210866803200000) }],
  [new Date(-210866803200001), {}], // before PostgreSQL's first day
  [new Date(NaN), {}],
  [span, { interval: '1 mon' }],
  [{ months: 1, days: 0n, microseconds: 0n }, { interval: '1 mon' }],
  [{ ...span, months: true }, {}],
  [{ ...span, months: '1' }, {}],
  [{ ...span, months: 2 ** 31 }, {}],
  [{ ...span, microseconds: 2 ** 53 }, {}],
  [{ months: 1 }, {}],
  [{}, {}],
  [Object.create(null), {}],
  [[], {}],
  [[1], {}],
  [['a'], {}],
  [[[1]], {}],
  [new Number(1), {}],
  [new String('a'), {}],
  [new Boolean(true), {}],
  [Symbol('s'), {}],
  [() => 1, {}],
  [new Map(), {}],
  [Promise.resolve(1), {}],
];

test('elements', async () => {
  for (const family of families) {
    const filter = await empty(family.name);
    const encoded = (value) => Buffer.from(canonical(family, value)).toString('hex');
    const error = { name: 'ElementError', message: new RegExp(`of the family ${family.name} does not contain`) };
    for (const [value, takers] of values) {
      const what = `${family.name} ${typeof value} ${Object.prototype.toString.call(value)}`;
      if (family.name === 'none' || Object.hasOwn(takers, family.name)) {
        assert.equal(encoded(value), family.name === 'none' ? '' : encoded(takers[family.name]), what);
        assert.equal(filter.contains(value), false, what);
        assert.equal(filter.count(value), 0, what);
      } else {
        for (const ask of ['contains', 'count']) assert.throws(() => filter[ask](value), error, what);
      }
    }
    if (family.name !== 'none') assert.throws(() => filter.contains(), ElementError);
  }
});

test('hashes', async () => {
  const filter = await CuckooFilter.load(TEXT);
  const { elements } = JSON.parse(readFileSync(`${folder}/elements.json`, 'utf8'));
  const { hashes } = elements.find(({ family, value }) => family === 'integer' && value === '1');
  const unsigned = BigInt(`0x${hashes[0]}`);
  const signed = BigInt.asIntN(64, unsigned);
  for (const hash of [unsigned, signed, String(unsigned), String(signed)]) {
    assert.equal(filter.containsHash(hash), true);
    assert.equal(filter.countHash(hash), 1);
  }
  for (const [hash, same] of [
    [0, 0n], [-1, -1n], [2 ** 53 - 1, '9007199254740991'], [2n ** 63n, -(2n ** 63n)], [2n ** 64n - 1n, '-1'],
    ['-0', 0n], ['007', 7n],
  ]) {
    assert.equal(filter.countHash(hash), filter.countHash(same), String(hash));
  }
  const none = [
    undefined, null, true, false, 1.5, NaN, Infinity, 2 ** 53, Number(signed),
    2n ** 64n, -(2n ** 63n) - 1n, unsigned + 2n ** 64n, signed - 2n ** 64n,
    '', ' ', ' 1', '1 ', '1.0', '1e3', '0x10', '+1', '--1', '-', 'a', '1n',
    '18446744073709551616', '-9223372036854775809',
    [], [5], ['5'], [5n], {}, Object.create(null), new Number(5), new String('5'), new Date(5),
    bytes(5), Symbol('5'), () => 5, Promise.resolve(5n),
  ];
  for (const hash of none) {
    for (const ask of ['containsHash', 'countHash']) {
      const expected = { name: 'ElementError', message: /^a hash is a bigint or decimal/ };
      assert.throws(() => filter[ask](hash), expected, `${typeof hash} ${Object.prototype.toString.call(hash)}`);
    }
  }
  assert.throws(() => filter.containsHash(), ElementError);
});

test('the seed has the sign that cf_hash expects', async () => {
  for (const seed of [0n, 1n, 2n ** 63n - 1n]) assert.equal((await empty('integer', seed)).seed, seed);
  for (const seed of [-1n, -(2n ** 63n)]) assert.equal((await empty('integer', seed + 2n ** 64n)).seed, seed);
});

test('images', async () => {
  const lines = TEXT.match(/.{1,20}/g).join('\r\n');
  const texts = [TEXT, `${TEXT}\n`, `${TEXT}\r\n`, ` ${lines}\r\n`];
  const inside = new Uint8Array(80);
  inside.set(IMAGE, 8);
  const sources = [
    IMAGE, IMAGE.buffer, Buffer.from(IMAGE), new DataView(IMAGE.buffer), new Uint16Array(IMAGE.buffer),
    inside.subarray(8, 8 + IMAGE.length),
    runInNewContext('Uint8Array.from(image)', { image: [...IMAGE] }),
    runInNewContext('Uint8Array.from(image).buffer', { image: [...IMAGE] }),
    ...texts, ...texts.map((text) => Buffer.from(text)), ...texts.map((text) => new TextEncoder().encode(text).buffer),
  ];
  for (const source of sources) assert.equal(`${await CuckooFilter.load(source)}`, TEXT);

  const buffer = IMAGE.slice().buffer; // may be used again
  const filter = await CuckooFilter.load(buffer);
  new Uint8Array(buffer).fill(0);
  assert.equal(`${filter}`, TEXT);
  filter.image.fill(0);
  assert.equal(`${filter}`, TEXT);

  for (const [source, message] of [
    [bytes(), /shorter than a header/],
    ['', /shorter than a header/],
    [bytes(0x43, 0x46), /shorter than a header/],
    [Buffer.from('https://bad.example/ is no filter at all'), /not "CF"/],
    ['https://bad.example/', /not valid base64/],
    [Buffer.from(TEXT.slice(0, -1)), /not valid base64/],
    [Buffer.from(TEXT.slice(0, -4)), /length does not agree/],
    [Buffer.concat([Buffer.from(TEXT), bytes(255)]), /not valid base64/],
    [Buffer.from(TEXT, 'utf16le'), /not "CF"/],
  ]) {
    await assert.rejects(CuckooFilter.load(source), { name: 'InvalidImage', message }, String(message));
  }
  for (const source of [undefined, null, true, 1, 1n, [], [67, 70], {}, Symbol('s'), Promise.resolve(TEXT)]) {
    await assert.rejects(CuckooFilter.load(source), { name: 'InvalidImage', message: /neither bytes nor text/ });
  }
  await assert.rejects(CuckooFilter.load(), InvalidImage);
});

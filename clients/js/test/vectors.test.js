// The golden vectors.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createXXHash3 } from 'hash-wasm';
import { CuckooFilter, ElementError, InvalidImage, place } from '../src/filter.js';
import { canonical, families } from '../src/elements.js';

const folder = process.env.VECTORS ?? new URL('../../../test/vectors', import.meta.url).pathname;
const vectors = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8'));
const familyOf = (name) => families.find((family) => family.name === name);

const parsers = {
  none: Number,
  integer: BigInt,
  text: String,
  bytea: (literal) => Buffer.from(literal.slice(2), 'hex'),
  uuid: String,
  boolean: (literal) => literal === 'true',
  date: String,
  timestamp: String,
  timestamptz: String,
  float: Number,
};

function parse({ family, type }, literal) {
  if (type.startsWith('char')) return literal.replace(/ +$/, '');
  if (type === 'float4') return Math.fround(Number(literal));
  return parsers[family](literal);
}

test('elements', async () => {
  const { seeds, elements } = vectors('elements');
  const hashers = await Promise.all(
    seeds.map((seed) => createXXHash3(parseInt(seed.slice(8), 16), parseInt(seed.slice(0, 8), 16))),
  );
  for (const element of elements) {
    const bytes = canonical(familyOf(element.family), parse(element, element.value));
    assert.equal(Buffer.from(bytes).toString('hex'), element.bytes, element.value);
    assert.deepEqual(
      hashers.map((hasher) => hasher.init().update(bytes).digest()),
      element.hashes,
      element.value,
    );
  }
});

test('places', () => {
  const { geometries, elements } = vectors('elements');
  for (const { hashes, places, value } of elements) {
    const [high, low] = [hashes[0].slice(0, 8), hashes[0].slice(8)].map((half) => parseInt(half, 16));
    geometries.forEach((geometry, i) => {
      const [fingerprint, ...positions] = place(geometry, high, low);
      const [key, ...base] = place({ ...geometry, g: 0 }, high, low);
      assert.deepEqual(
        [Math.min(...base), key.toString(16), fingerprint.toString(16), ...positions],
        places[i],
        `${value} ${JSON.stringify(geometry)}`,
      );
    });
  }
});

test('images', async () => {
  for (const expected of vectors('images').images) {
    const filter = await CuckooFilter.load(expected.image);
    for (const key of ['family', 'items', 'm0', 'f0', 'g', 'windows']) assert.equal(filter[key], expected[key], expected.name);
    assert.equal(filter.seed, BigInt(`0x${expected.seed}`));
    assert.equal(filter.toString(), expected.image);
    assert.deepEqual((await CuckooFilter.load(filter.image)).image, filter.image);
    const values = expected.probes.map((literal) => parse(expected, literal));
    assert.equal(values.map((value) => filter.count(value)).join(''), expected.counts, expected.name);
    assert.deepEqual(values.map((value) => filter.contains(value)), [...expected.counts].map((count) => count > 0));
  }
});

test('refused', async () => {
  const { images, texts } = vectors('refused');
  for (const { image, reason } of images) {
    const expected = { name: 'InvalidImage', message: `invalid cuckoofilter image: ${reason}` };
    await assert.rejects(CuckooFilter.load(image), expected);
    await assert.rejects(CuckooFilter.load(Buffer.from(image, 'base64')), expected);
  }
  for (const text of texts) await assert.rejects(CuckooFilter.load(text), /not valid base64/, text);
  await assert.rejects(CuckooFilter.load(''), InvalidImage);
});

test('hashes', async () => {
  const { seeds, elements } = vectors('elements');
  const [seed] = seeds;
  for (const { image, type, seed: its } of vectors('images').images) {
    if (type !== 'int8' || its !== seed) continue;
    const filter = await CuckooFilter.load(image);
    for (const { family, value, hashes } of elements) {
      if (family !== 'integer') continue;
      const hash = BigInt.asIntN(64, BigInt(`0x${hashes[0]}`));
      assert.equal(filter.countHash(hash), filter.count(BigInt(value)));
      assert.equal(filter.containsHash(String(hash)), filter.contains(BigInt(value)));
    }
  }
});

test('white space in text', async () => {
  const [{ image }] = vectors('images').images;
  assert.equal(`${await CuckooFilter.load(` ${image.slice(0, 9)}\r\n\t${image.slice(9)} \n`)}`, image);
});

test('what no element of the family can be is an error', () => {
  const values = {
    integer: [1, -5n, 2 ** 53 - 1],
    text: ['a', ''],
    bytea: [Uint8Array.of(1), new ArrayBuffer(2)],
    uuid: ['A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'a0eebc999c0b4ef8bb6d6bb9bd380a11'],
    boolean: [true],
    date: ['2026-06-01'],
    timestamp: ['2026-06-01 12:00:00', '2026-06-01T12:00:00.5'],
    timestamptz: ['2026-06-01 12:00:00Z', '2026-06-01T12:00:00.5+05:30', new Date()],
    float: [1.5, NaN],
  };
  const wrong = {
    integer: [1.5, 2 ** 53, 2n ** 63n, -(2n ** 63n) - 1n, NaN],
    text: ['\ud800', 'a\udc00'],
    uuid: ['a0eebc99', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1'],
    date: ['2026-02-30', '2026-13-01', '0000-01-01', '2026-6-1'],
    timestamp: ['2026-06-01 24:00:00', '2026-06-01 12:00:00+00', '2026-06-01 12:00', new Date()],
    timestamptz: ['2026-06-01 12:00:60Z', new Date(NaN), '2026-02-30 12:00:00Z'],
  };
  for (const family of families.slice(1)) {
    for (const value of values[family.name] ?? []) assert.ok(canonical(family, value) instanceof Uint8Array);
    const refused = [...(wrong[family.name] ?? []), null, undefined, {}, Symbol('s')];
    for (const [name, others] of Object.entries(values)) {
      // strings and numbers are values of several families
      if (name !== family.name) refused.push(...others.filter((value) => typeof value === 'boolean' || value instanceof ArrayBuffer));
    }
    for (const value of refused) {
      if (family.name === 'boolean' && value === true) continue;
      if (family.name === 'bytea' && value instanceof ArrayBuffer) continue;
      assert.throws(() => canonical(family, value), ElementError, `${family.name} ${String(value)}`);
    }
  }
  const bytes = (family, value) => Buffer.from(canonical(familyOf(family), value)).toString('hex');
  assert.equal(bytes('timestamptz', new Date('2026-06-01T12:00:00.5Z')), bytes('timestamptz', '2026-06-01 17:30:00.5+05:30'));
  for (const value of [0, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53 - 1, 1 - 2 ** 53]) {
    assert.equal(bytes('integer', value), bytes('integer', BigInt(value)));
  }
  assert.equal(bytes('timestamptz', '2026-06-01 12:00:00Z'), bytes('timestamptz', '2026-06-01 08:30:00-0330'));
});

// The golden vectors, and the images that ../../python/tests/model.py has written to the file MODEL.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createXXHash3, xxhash3 } from 'hash-wasm';
import { CuckooFilter, InvalidImage, place } from '../src/filter.js';
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
  inet: String,
  macaddr: String,
  macaddr8: String,
  numeric: String,
  time: String,
  interval: String,
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

// the least hash of each base bucket: all of its 64 bits count
test('the first of two positions', () => {
  for (const m0 of [6, 1000, 134217718]) {
    for (const bucket of [1, 2, 3, m0 / 2, m0 - 1]) {
      const hash = ((BigInt(bucket) << 64n) + BigInt(m0 - 1)) / BigInt(m0);
      const [, first] = place({ m0, f0: 9, g: 0, windows: false }, Number(hash >> 32n), Number(hash & 0xffffffffn));
      assert.equal(first, bucket);
    }
  }
});

test('images', async () => {
  const model = process.env.MODEL ? JSON.parse(readFileSync(process.env.MODEL, 'utf8')).images : [];
  for (const expected of [...vectors('images').images, ...model]) {
    const filter = await CuckooFilter.load(expected.image);
    for (const key of ['family', 'items', 'm0', 'f0', 'g', 'windows']) assert.equal(filter[key], expected[key], expected.name);
    assert.equal(filter.seed, BigInt.asIntN(64, BigInt(`0x${expected.seed}`)));
    assert.equal(filter.fpp, (2 * expected.items) / (expected.m0 * 2 ** expected.f0));
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
  for (const [spaced, text] of vectors('images').texts) assert.equal((await CuckooFilter.load(spaced)).toString(), text);
  await assert.rejects(CuckooFilter.load(''), InvalidImage);
  // a Buffer that went through JSON is such an object
  for (const source of [null, undefined, Promise.resolve(''), { type: 'Buffer', data: [67, 70] }]) {
    const expected = { name: 'InvalidImage', message: /neither bytes nor text/ };
    await assert.rejects(CuckooFilter.load(source), expected);
  }
});

/** Writes the checksum to the end of the bytes. */
async function sealed(bytes) {
  bytes.writeBigUInt64LE(BigInt(`0x${await xxhash3(bytes.subarray(0, -8))}`), bytes.length - 8);
  return bytes;
}

// every flip of a bit of 5 kB, random bytes over others, and other lengths
test('damage', async () => {
  const { image: text } = vectors('images').images.find(({ name }) => name === 'windows of 128, three of them');
  const image = Buffer.from(text, 'base64');
  const refused = async (bytes, where) => {
    const error = await CuckooFilter.load(bytes).catch((reason) => reason);
    assert.ok(error instanceof InvalidImage || bytes.equals(image), where);
  };
  await CuckooFilter.load(image);
  const damaged = Buffer.from(image);
  for (let bit = 0; bit < image.length * 8; bit++) {
    damaged[bit >> 3] ^= 1 << (bit & 7);
    await refused(damaged, `bit ${bit}`);
    damaged[bit >> 3] ^= 1 << (bit & 7);
  }
  for (let i = 0; i < 1000; i++) {
    const [at, end, seed] = [0, 1, 2].map((k) => (i * 7919 + k * 4001 + 1) % image.length);
    damaged.fill(Buffer.from([seed, at, i]), Math.min(at, end), Math.max(at, end));
    await refused(damaged, `bytes ${at}, ${end}`);
    image.copy(damaged);
    await refused(image.subarray(0, at), `the first ${at}`);
    await refused(image.subarray(at), `from ${at} on`);
    await refused(Buffer.concat([image, image.subarray(0, at)]), `${at} more`);
  }
});

// without load() there is no checksum, and no filter
test('the constructor by itself', () => {
  const image = Buffer.from(vectors('images').images[0].image, 'base64');
  assert.throws(() => new CuckooFilter(image), InvalidImage);
  assert.throws(() => new CuckooFilter(new Uint8Array(image)), InvalidImage);
});

test('flags and reserved bytes that are refused', async () => {
  const image = async (flags, m0, reserved) => {
    const bytes = Buffer.alloc(40 + m0 * 4);
    bytes.set([0x43, 0x46, 1, 0, 9, 8, 0, flags]);
    bytes.writeUInt32LE(m0, 8);
    bytes.writeUInt16LE(reserved, 14);
    return sealed(bytes);
  };
  assert.ok((await CuckooFilter.load(await image(1, 256, 0))).windows);
  const flags = 'unknown or wrong flags';
  const refused = [
    [1, 12, 0, flags],
    [1, 126, 0, flags],
    [1, 258, 0, flags],
    [1, 0, 0, 'number of base buckets is zero or odd'],
    [0, 12, 4, 'reserved bytes are not zero'],
    [1, 256, 128, 'reserved bytes are not zero'],
    [0, 12, 0x8000, 'reserved bytes are not zero'],
    ...[1, 2, 3, 4, 5, 6, 7].flatMap((bit) => [[1 << bit, 256, 0, flags], [(1 << bit) | 1, 256, 128, flags]]),
  ];
  for (const [bits, m0, reserved, reason] of refused) {
    const expected = { name: 'InvalidImage', message: `invalid cuckoofilter image: ${reason}` };
    await assert.rejects(CuckooFilter.load(await image(bits, m0, reserved)), expected, `${bits} ${m0} ${reserved}`);
  }
});

// the bytes are zeros that nothing has touched, and need no memory
test('the largest image', () => {
  for (const [m0, reason] of [
    [134217718, 'checksum does not match'], // 512 MiB
    [134217720, 'length does not agree with the header'],
  ]) {
    const image = new Uint8Array(40 + m0 * 4);
    image.set([0x43, 0x46, 1, 0, 9, 8]);
    new DataView(image.buffer).setUint32(8, m0, true);
    assert.throws(() => new CuckooFilter(image, 1n), { message: `invalid cuckoofilter image: ${reason}` });
  }
});

test('base64 that is refused', async () => {
  const [{ image }] = vectors('images').images;
  assert.ok(!image.endsWith('=')); // no padding
  for (const wrong of [...'A=-\f\u00a0\ud800', 'AA', 'AAA', '==', '====', 'AA=', 'AA=Z', 'AA===', 'AA==AAAA', 'AB==', 'AAB=']) {
    await assert.rejects(CuckooFilter.load(image + wrong), /not valid base64/, wrong);
  }
  // complete base64, but a byte too much
  for (const wrong of ['AA==', 'AA = =\t', 'AAA=', 'AAA=\r\n']) {
    await assert.rejects(CuckooFilter.load(image + wrong), /length does not agree/, wrong);
  }
  assert.equal(`${await CuckooFilter.load(`${image}\n`)}`, image);
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

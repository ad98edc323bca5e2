// One filter, read from its image. The names are those of FORMAT.md.
import { createXXHash3, xxhash3 } from 'hash-wasm';
import { ElementError, canonical, families, shown } from './elements.js';

export { ElementError };

const HEADER = 32;
const CHECKSUM = 8;
const LARGEST = 512 * 2 ** 20;
const WINDOWS = 1; // the only flag

/** These are not the complete, unaltered bytes of a filter. */
export class InvalidImage extends Error {
  name = 'InvalidImage';
}

function check(valid, reason) {
  if (!valid) throw new InvalidImage(`invalid cuckoofilter image: ${reason}`);
}

/** The image of PostgreSQL's text form. */
function decodeText(text) {
  const digits = text.replace(/[ \t\r\n]/g, '');
  try {
    const bytes = atob(digits);
    if (btoa(bytes) === digits) {
      const image = new Uint8Array(bytes.length);
      for (let i = 0; i < bytes.length; i++) image[i] = bytes.charCodeAt(i);
      return image;
    }
  } catch {
    // other characters, or too few
  }
  throw new InvalidImage('invalid cuckoofilter text: not valid base64, perhaps an element in place of a filter');
}

/** Are these the bytes of a text, as psql writes it to a file? Base64 of "CF" begins with Q0Y. */
function isText(bytes) {
  const at = bytes.findIndex((byte) => byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && byte !== 0x0a);
  return bytes[at] === 0x51 && bytes[at + 1] === 0x30 && bytes[at + 2] === 0x59;
}

/** The image in what load() takes: a copy. */
function imageOf(source) {
  if (typeof source === 'string') return decodeText(source);
  // what is neither, Uint8Array would take for no bytes
  check(source?.byteLength !== undefined, 'neither bytes nor text, perhaps a promise without await');
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  return isText(bytes) ? decodeText(new TextDecoder('latin1').decode(bytes)) : bytes.slice();
}

/** A hash without its sign. With other numbers the answer would be a wrong "no". */
function wordOf(hash) {
  let word; // of a number below 2^53, which is exact
  if (typeof hash === 'bigint') word = hash;
  else if (typeof hash === 'string' ? /^-?\d+$/.test(hash) : Number.isSafeInteger(hash)) word = BigInt(hash);
  if (word === undefined || word < -(2n ** 63n) || word >= 2n ** 64n) {
    throw new ElementError(`a hash is a bigint or decimal from -2^63 to 2^64 - 1, as cf_hash() returns it, not ${shown(hash)}`);
  }
  return BigInt.asUintN(64, word);
}

// Low nibbles of the four slots, by the code of a bucket: four after another.
const nibbles = [];
for (let a = 0; a < 16; a++) {
  for (let b = a; b < 16; b++) {
    for (let c = b; c < 16; c++) {
      for (let d = c; d < 16; d++) nibbles.push(a, b, c, d);
    }
  }
}

// The splitmix64 finaliser H of each fixed byte, by the low 8 bits of a hash.
const fixedBytes = Array.from({ length: 256 }, (_, i) => i || 1);
const mixed = fixedBytes.map((fixed) => {
  let z = BigInt(fixed);
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
});
const mixedLow = mixed.map((z) => Number(z & 0xffffffffn));
const mixedHigh = mixed.map((z) => Number(z >> 32n));
const steps = mixed.map((z) => 1 + Number(z % 127n));

/** floor((a * m + carry) / 2^32), for a of 32 bits and m of at most 36. */
function scale(a, m, carry = 0) {
  const low = Math.floor(((a & 0xffff) * m + carry) / 0x10000);
  return Math.floor(((a >>> 16) * m + low) / 0x10000);
}

/** The fingerprint and the two positions of a hash, which comes in halves. */
export function place({ m0, f0, g, windows }, high, low) {
  const byte = low & 0xff;
  const fixed = fixedBytes[byte];
  const ext = Math.floor((low % 2 ** f0) / 256);
  const near = windows && fixed % 4 !== 0;

  const j1 = scale(high, m0, scale(low, m0));
  let j2;
  if (near && m0 >= 256) {
    j2 = j1 ^ steps[byte];
  } else {
    j2 = 2 * scale(mixedLow[byte], m0 / 2) + 1 - j1;
    if (j2 < 0) j2 += m0;
  }

  const mask = 2 ** g - 1;
  let segment = ext & mask; // of the smaller base bucket
  let other = near ? segment : (segment ^ mixedHigh[byte]) & mask;
  if (j1 > j2) [segment, other] = [other, segment];

  const fingerprint = fixed + Math.floor(ext / 2 ** g) * 256;
  return [fingerprint, segment * m0 + j1, other * m0 + j2];
}

/** The four slots of each bucket, each bucket checked. */
function unpack(image, buckets, f) {
  const view = new DataView(image.buffer, image.byteOffset);
  const slots = new Uint32Array(buckets * 4);
  const lane = f - 4; // at most 28 bits
  let at = HEADER * 8; // in bits, which numbers of 32 bits do not hold
  // from a bit on, 32 bits; the checksum keeps this in bounds
  const word = (bit) => {
    const byte = Math.floor(bit / 8);
    const shift = bit % 8;
    return (view.getUint32(byte, true) >>> shift) | ((view.getUint8(byte + 4) << 1) << (31 - shift));
  };
  for (let slot = 0; slot < slots.length; ) {
    const code = word(at) & 0xfff;
    check(code * 4 < nibbles.length, 'bucket code out of range');
    at += 12;
    let before = 0;
    for (let i = 0; i < 4; i++) {
      const nibble = nibbles[code * 4 + i];
      const fingerprint = (((word(at) & ((1 << lane) - 1)) << 4) | nibble) >>> 0;
      check(fingerprint % 256 !== 0 || fingerprint === 0, 'fingerprint with a fixed byte of zero');
      check(nibble !== before % 16 || fingerprint >= before, 'fingerprints of a bucket out of order');
      slots[slot++] = fingerprint;
      before = fingerprint;
      at += lane;
    }
  }
  return slots;
}

/** A filter that is read only. In memory a bucket takes 16 bytes. */
export class CuckooFilter {
  #image;
  #slots;
  #family;
  #hasher;

  /**
   * The filter of an image, or of PostgreSQL's text form as a string or bytes.
   * It is asynchronous because the hash function is.
   */
  static async load(source) {
    const image = imageOf(source);
    const checksum = await xxhash3(image.subarray(0, -CHECKSUM));
    const filter = new CuckooFilter(image, BigInt(`0x${checksum}`));
    const seed = BigInt.asUintN(64, filter.seed);
    filter.#hasher = await createXXHash3(Number(seed & 0xffffffffn), Number(seed >> 32n));
    return filter;
  }

  /** For load(), which computes the checksum that the image should have. */
  constructor(image, checksum) {
    const view = new DataView(image.buffer);

    check(image.length >= HEADER, 'shorter than a header');
    check(view.getUint16(0) === 0x4346, 'first two bytes are not "CF"');
    check(image[2] === 1, 'unknown format version');
    const [family, f0, ft, g, flags] = image.subarray(3, 8);
    const m0 = view.getUint32(8, true);
    check(family < families.length, 'unknown element family');
    check(ft >= 8 && ft <= f0 && f0 <= 32 && g <= f0 - 8, 'fingerprint bits or growth level out of range');
    const mayHaveWindows = m0 % 128 === 0 || (m0 >= 128 && m0 < 256);
    check(flags === 0 || (flags === WINDOWS && mayHaveWindows), 'unknown or wrong flags');
    check(m0 > 0 && m0 % 2 === 0, 'number of base buckets is zero or odd');
    check(view.getUint16(12) === 0 || families[family].name === 'other', 'type tag in a family that has none');
    check(view.getUint16(14) === 0, 'reserved bytes are not zero');
    const f = f0 - g;
    const buckets = m0 * 2 ** g;
    const size = HEADER + (buckets / 2) * (f - 1) + CHECKSUM;
    check(image.length === size && size <= LARGEST, 'length does not agree with the header');
    check(view.getBigUint64(size - CHECKSUM, true) === checksum, 'checksum does not match');

    const slots = unpack(image, buckets, f);
    const items = slots.reduce((count, slot) => count + (slot !== 0), 0);
    check(view.getBigUint64(16, true) === BigInt(items), 'item count differs from the occupied slots');
    check(items === 0 || family > 0, 'unknown element family');

    this.#image = image;
    this.#slots = slots;
    this.#family = families[family];
    this.family = this.#family.name;
    this.items = items;
    this.seed = view.getBigInt64(24, true);
    this.m0 = m0;
    this.f0 = f0;
    this.g = g;
    this.windows = flags === WINDOWS;
    Object.freeze(this);
  }

  /** Is the value in the filter? false: certainly not. true: it is, or it is a false positive. */
  contains(value) {
    return this.count(value) > 0;
  }

  /** The copies of the value: 0, 1, or 2 for two or more. */
  count(value) {
    const d = this.#hasher.init().update(canonical(this.#family, value)).digest('binary');
    const high = ((d[0] << 24) | (d[1] << 16) | (d[2] << 8) | d[3]) >>> 0;
    const low = ((d[4] << 24) | (d[5] << 16) | (d[6] << 8) | d[7]) >>> 0;
    return this.#copies(high, low);
  }

  /** The same for the element with this cf_hash, as a bigint or in decimal. */
  containsHash(hash) {
    return this.countHash(hash) > 0;
  }

  countHash(hash) {
    const h = wordOf(hash);
    return this.#copies(Number(h >> 32n), Number(h & 0xffffffffn));
  }

  #copies(high, low) {
    const [fingerprint, first, second] = place(this, high, low);
    return Math.min(2, this.#matches(first, fingerprint) + this.#matches(second, fingerprint));
  }

  #matches(position, fingerprint) {
    let count = 0;
    for (let i = 4 * position; i < 4 * position + 4; i++) count += this.#slots[i] === fingerprint;
    return count;
  }

  /** The probability that an absent element is a false positive. */
  get fpp() {
    return (2 * this.items) / (this.m0 * 2 ** this.f0);
  }

  /** A copy of the image. */
  get image() {
    return this.#image.slice();
  }

  /** The text form of PostgreSQL. */
  toString() {
    const chars = Array.from({ length: Math.ceil(this.#image.length / 8192) }, (_, i) =>
      String.fromCharCode(...this.#image.subarray(i * 8192, (i + 1) * 8192)),
    );
    return btoa(chars.join(''));
  }

  /** JSON and node-postgres take a filter as text. */
  toJSON() {
    return this.toString();
  }

  toPostgres() {
    return this.toString();
  }
}

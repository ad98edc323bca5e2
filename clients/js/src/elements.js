// The canonical bytes of elements: FORMAT.md, "Element to hash".
//
// A value of another type than the family's is an error. It is never a "no":
// the filter may contain the value in the type of its family.

/** The filter cannot contain elements of this type or range. */
export class ElementError extends TypeError {
  name = 'ElementError';
}

const EPOCH = Date.UTC(2000, 0, 1);
const DAY = 86400000;
const SURROGATE = /\p{Surrogate}/u; // one without the other
const UUID = /^[\da-f]{8}-?([\da-f]{4}-?){3}[\da-f]{12}$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(Z|[+-]\d\d(?::?\d\d)?)?$/;

const encoder = new TextEncoder();

// One buffer for all numbers of 8 bytes: they are hashed at once.
const eight = new Uint8Array(8);
const view = new DataView(eight.buffer);

function int64(value) {
  view.setBigInt64(0, value, true);
  return eight;
}

function int32(value) {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setInt32(0, value, true);
  return bytes;
}

function float64(value) {
  if (Number.isNaN(value)) return int64(0x7ff8000000000000n);
  view.setFloat64(0, value + 0, true); // -0 + 0 is 0
  return eight;
}

function integer(value) {
  if (typeof value === 'bigint') return value === BigInt.asIntN(64, value) ? int64(value) : undefined;
  if (!Number.isSafeInteger(value)) return undefined;
  view.setInt32(0, value, true); // the low 32 bits
  view.setInt32(4, Math.floor(value / 2 ** 32), true);
  return eight;
}

function text(value) {
  if (typeof value !== 'string' || !(value.isWellFormed?.() ?? !SURROGATE.test(value))) return undefined;
  return encoder.encode(value);
}

function bytea(value) {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return value instanceof Uint8Array ? value : undefined;
}

function uuid(value) {
  if (typeof value !== 'string' || !UUID.test(value)) return undefined;
  return Uint8Array.from(value.replaceAll('-', '').match(/../g), (byte) => parseInt(byte, 16));
}

/** Milliseconds since 1970 of a day, undefined if there is no such day. */
function day(literal) {
  const time = Date.parse(`${literal}T00:00:00Z`);
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(literal)) return undefined;
  return literal >= '0001' ? time : undefined;
}

function date(value) {
  if (value === 'infinity') return int32(2 ** 31 - 1);
  if (value === '-infinity') return int32(-(2 ** 31));
  if (typeof value !== 'string' || !DATE.test(value)) return undefined;
  const time = day(value);
  return time === undefined ? undefined : int32((time - EPOCH) / DAY);
}

function microseconds(value, withZone) {
  if (value === 'infinity') return int64(2n ** 63n - 1n);
  if (value === '-infinity') return int64(-(2n ** 63n));
  const parts = typeof value === 'string' && TIMESTAMP.exec(value);
  if (!parts || (parts[6] !== undefined) !== withZone) return undefined;
  const [hour, minute, second] = parts.slice(2, 5).map(Number);
  const time = day(parts[1]);
  if (time === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  let zone = 0; // minutes
  if (withZone && parts[6] !== 'Z') {
    zone = Number(parts[6].slice(1, 3)) * 60 + Number(parts[6].slice(3).replace(':', ''));
    if (parts[6][0] === '-') zone = -zone;
  }
  const seconds = (time - EPOCH) / 1000 + (hour * 60 + minute - zone) * 60 + second;
  return int64(BigInt(seconds) * 1000000n + BigInt((parts[5] ?? '').padEnd(6, '0')));
}

function timestamptz(value) {
  if (!(value instanceof Date)) return microseconds(value, true);
  return Number.isNaN(value.getTime()) ? undefined : int64(BigInt(value.getTime() - EPOCH) * 1000n);
}

const nothing = () => undefined;

/** By number: the name, what values it takes, and the bytes of a value. */
export const families = [
  { name: 'none', takes: 'anything', encode: () => new Uint8Array() }, // such a filter is empty
  { name: 'integer', takes: 'a safe integer, or a bigint from -2^63 to 2^63 - 1', encode: integer },
  { name: 'text', takes: 'a string without lone surrogates', encode: text },
  { name: 'bytea', takes: 'a Uint8Array or ArrayBuffer', encode: bytea },
  { name: 'uuid', takes: 'a string of 32 hexadecimal digits', encode: uuid },
  { name: 'boolean', takes: 'a boolean', encode: (value) => (typeof value === 'boolean' ? Uint8Array.of(value) : undefined) },
  { name: 'date', takes: 'a string like 2026-06-01 or infinity', encode: date },
  { name: 'timestamp', takes: 'a string like 2026-06-01 12:00:00.5 or infinity', encode: (value) => microseconds(value, false) },
  { name: 'timestamptz', takes: 'a Date, or a string like 2026-06-01 12:00:00.5+00 or infinity', encode: timestamptz },
  { name: 'float', takes: 'a number', encode: (value) => (typeof value === 'number' ? float64(value) : undefined) },
  { name: 'other', takes: 'only hashes from the server: containsHash() with cf_hash(v, seed)', encode: nothing },
];

/** The bytes that are hashed, until the next call. */
export function canonical(family, value) {
  const bytes = family.encode(value);
  if (bytes === undefined) {
    const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
    throw new ElementError(`cuckoofilter of the family ${family.name} does not contain ${shown}: it takes ${family.takes}`);
  }
  return bytes;
}

// The canonical bytes of elements: FORMAT.md, "Element to hash".
//
// A value of another type than the family's is an error. It is never a "no":
// the filter may contain the value in the type of its family.

/** The filter cannot contain elements of this type or range. */
export class ElementError extends TypeError {
  name = 'ElementError';
}

const EPOCH = Date.UTC(2000, 0, 1);
const FIRST = Date.UTC(-4713, 10, 24); // PostgreSQL's first day
const DAY = 86400000;
const FIRST_DAY = (FIRST - EPOCH) / DAY;
const LAST_DAY = 2145031948; // 5874897-12-31
const END_OF_SECONDS = 9223371331200; // 294277-01-01 00:00:00
const SURROGATE = /\p{Surrogate}/u; // one without the other
const UUID = /^[\da-f]{8}-?([\da-f]{4}-?){3}[\da-f]{12}$/i;
const DATE = /^(\d{4,7}-\d\d-\d\d)( BC)?$/;
const TIMESTAMP =
  /^(\d{4,6}-\d\d-\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(Z|[+-](?:0\d|1[0-5])(?::?[0-5]\d(?::?[0-5]\d)?)?)?( BC)?$/;
const INET = /^([\d.:a-f]+)(?:\/(0|[1-9]\d{0,2}))?$/i;
const OCTET = /^(?:0|[1-9]\d{0,2})$/;
const GROUP = /^[\da-f]{1,4}$/i;
const NUMERIC = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i;
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?$/;
const DAY_MICROSECONDS = 86400000000;

// How macaddr and macaddr8 are written, with 0 for any digit.
const MACADDR = [
  '00:00:00:00:00:00',
  '00-00-00-00-00-00',
  '000000:000000',
  '000000-000000',
  '0000.0000.0000',
  '0000-0000-0000',
  '000000000000',
];
const MACADDR8 = [
  '00:00:00:00:00:00:00:00',
  '00-00-00-00-00-00-00-00',
  '000000:0000000000',
  '000000-0000000000',
  '0000.0000.0000.0000',
  '0000-0000-0000-0000',
  '00000000:00000000',
  '0000000000000000',
];

// The powers of ten of numeric's lowest and highest digit.
const NUMERIC_LEAST = -16383;
const NUMERIC_LAST = 131071;

// Intervals in ISO 8601 and in words, the time in words or as on a clock.
const amounts = (units, sign = '[+-]?') => Object.entries(units).map(([name, unit]) => `(?:(?<${name}>${sign}\\d+)${unit})?`).join('');
const END = '(?: |$)';
const DATE_WORDS = amounts({ year: ` years?${END}`, month: ` mon(?:th)?s?${END}`, week: ` weeks?${END}`, day: ` days?${END}` });
const TIME_WORDS = amounts({ hour: ` hours?${END}`, minute: ` min(?:ute)?s?${END}` });
const SECONDS = '(?<second>[+-]?\\d+(?:\\.\\d{1,6})?) sec(?:ond)?s?';
const CLOCK = '(?<sign>[+-]?)(?<hour>\\d+):(?<minute>[0-5]\\d):(?<second>[0-5]\\d(?:\\.\\d{1,6})?)';
const DATE_ISO = amounts({ year: 'Y', month: 'M', week: 'W', day: 'D' }, '-?');
const TIME_ISO = `${amounts({ hour: 'H', minute: 'M' }, '-?')}(?:(?<second>-?\\d+(?:\\.\\d{1,6})?)S)?`;
const INTERVALS = [
  `^P(?=.)${DATE_ISO}(?:T(?=.)${TIME_ISO})?$`,
  `^(?=.)${DATE_WORDS}${TIME_WORDS}(?:${SECONDS})?$`,
  `^${DATE_WORDS}${CLOCK}$`,
].map((pattern) => new RegExp(pattern));

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
  // PostgreSQL's text cannot contain a zero byte
  if (typeof value !== 'string' || value.includes('\0') || !(value.isWellFormed?.() ?? !SURROGATE.test(value))) return undefined;
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

/** Days since 2000 of a day, undefined if there is no such day. The year before 1 is 1 BC. */
function day(literal, bc) {
  const [year, month, date] = literal.split('-').map(Number);
  const shown = bc ? 1 - year : year;
  // Date knows fewer years, but days repeat after 400
  const cycle = Math.floor((shown - 2000) / 400);
  const time = Date.UTC(shown - 400 * cycle, month - 1, date);
  if (year === 0 || new Date(time).getUTCMonth() !== month - 1) return undefined;
  return (time - EPOCH) / DAY + cycle * 146097;
}

function date(value) {
  if (value === 'infinity') return int32(2 ** 31 - 1);
  if (value === '-infinity') return int32(-(2 ** 31));
  const parts = typeof value === 'string' && DATE.exec(value);
  const days = parts ? day(parts[1], parts[2]) : undefined;
  return days >= FIRST_DAY && days <= LAST_DAY ? int32(days) : undefined;
}

function microseconds(value, withZone) {
  if (value === 'infinity') return int64(2n ** 63n - 1n);
  if (value === '-infinity') return int64(-(2n ** 63n));
  const parts = typeof value === 'string' && TIMESTAMP.exec(value);
  if (!parts || (parts[6] !== undefined) !== withZone) return undefined;
  const [hour, minute, second] = parts.slice(2, 5).map(Number);
  const days = day(parts[1], parts[7]);
  if (days === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  let zone = 0; // seconds
  if (withZone && parts[6] !== 'Z') {
    const [hours, minutes = 0, seconds = 0] = parts[6].match(/\d\d/g).map(Number);
    zone = (hours * 60 + minutes) * 60 + seconds;
    if (parts[6][0] === '-') zone = -zone;
  }
  const seconds = days * 86400 + (hour * 60 + minute) * 60 + second - zone;
  if (seconds < FIRST_DAY * 86400 || seconds >= END_OF_SECONDS) return undefined;
  return int64(BigInt(seconds) * 1000000n + BigInt((parts[5] ?? '').padEnd(6, '0')));
}

function timestamptz(value) {
  if (!(value instanceof Date)) return microseconds(value, true);
  return !(value.getTime() >= FIRST) ? undefined : int64(BigInt(value.getTime() - EPOCH) * 1000n);
}

/** The 4 bytes of an IPv4 address. */
function ipv4(literal) {
  const octets = literal.split('.');
  if (octets.length !== 4 || !octets.every((octet) => OCTET.test(octet) && octet <= 255)) return undefined;
  return octets.map(Number);
}

/** The 16 bytes of an IPv6 address. */
function ipv6(literal) {
  // what ends like an IPv4 address has the last two groups so
  const last = literal.slice(literal.lastIndexOf(':') + 1);
  const octets = last.includes('.') ? ipv4(last) : [];
  if (!octets) return undefined;
  const written = octets.length ? `${literal.slice(0, -last.length)}0:0` : literal;

  const [head, tail] = written.split('::').map((half) => (half ? half.split(':') : []));
  const left = 8 - head.length - (tail?.length ?? 0);
  if (written.split('::').length > 2 || (tail ? left < 1 : left !== 0)) return undefined;
  const groups = [...head, ...Array(left).fill('0'), ...(tail ?? [])];
  if (!groups.every((group) => GROUP.test(group))) return undefined;
  const bytes = groups.flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff]);
  return [...bytes.slice(0, 16 - octets.length), ...octets];
}

function inet(value) {
  const parts = typeof value === 'string' && INET.exec(value);
  if (!parts) return undefined;
  const six = parts[1].includes(':');
  const address = six ? ipv6(parts[1]) : ipv4(parts[1]);
  const bits = Number(parts[2] ?? (six ? 128 : 32));
  if (!address || bits > address.length * 8) return undefined;
  return Uint8Array.of(six ? 6 : 4, bits, ...address);
}

/** The bytes of a MAC address that is written in one of the forms. */
function written(value, forms) {
  if (!forms.includes(value.replace(/[\da-f]/gi, '0'))) return undefined;
  return Uint8Array.from(value.replace(/[:.-]/g, '').match(/../g), (byte) => parseInt(byte, 16));
}

function macaddr(value) {
  const octets = typeof value === 'string' ? written(value, MACADDR) : bytea(value);
  return octets?.length === 6 ? octets : undefined;
}

function macaddr8(value) {
  if (typeof value !== 'string') {
    const octets = bytea(value);
    return octets?.length === 8 ? octets : undefined;
  }
  const octets = written(value, MACADDR);
  return octets ? Uint8Array.of(...octets.slice(0, 3), 0xff, 0xfe, ...octets.slice(3)) : written(value, MACADDR8);
}

function numeric(value) {
  if (typeof value !== 'string') return undefined;
  if (/^nan$/i.test(value)) return encoder.encode('N');
  if (/^[+-]?inf(?:inity)?$/i.test(value)) return encoder.encode(value[0] === '-' ? 'i' : 'I');
  const parts = NUMERIC.exec(value);
  if (!parts) return undefined;
  const [, sign, whole, fraction = '', power = '0'] = parts;
  const digits = (whole + fraction).replace(/^0+/, '');
  let length = digits.length;
  while (digits[length - 1] === '0') length--;
  if (length === 0) return encoder.encode('0');
  const exponent = Number(power) - fraction.length + digits.length - length;
  if (exponent < NUMERIC_LEAST || exponent + length - 1 > NUMERIC_LAST) return undefined;
  const bytes = encoder.encode(`${sign || '+'}0000${digits.slice(0, length)}`);
  new DataView(bytes.buffer).setInt32(1, exponent, true);
  return bytes;
}

function time(value) {
  const parts = typeof value === 'string' && TIME.exec(value);
  if (!parts) return undefined;
  const [hour, minute, second] = parts.slice(1, 4).map((part) => Number(part ?? 0));
  const number = ((hour * 60 + minute) * 60 + second) * 1000000 + Number((parts[4] ?? '').padEnd(6, '0'));
  return minute > 59 || second > 59 || number > DAY_MICROSECONDS ? undefined : int64(BigInt(number));
}

/** The months, days and microseconds of an interval that is text. */
function intervalFields(value) {
  // as PostgreSQL 17 stores it
  if (value === 'infinity') return [2n ** 31n - 1n, 2n ** 31n - 1n, 2n ** 63n - 1n];
  if (value === '-infinity') return [-(2n ** 31n), -(2n ** 31n), -(2n ** 63n)];
  const groups = INTERVALS.map((pattern) => pattern.exec(value)).find(Boolean)?.groups;
  if (!groups) return undefined;
  const [year, month, week, day, hour, minute] = ['year', 'month', 'week', 'day', 'hour', 'minute'].map((name) => BigInt(groups[name] ?? 0));
  const [second, fraction = ''] = (groups.second ?? '0').split('.');
  const microseconds = (hour * 60n + minute) * 60000000n + BigInt(second + fraction.padEnd(6, '0'));
  return [year * 12n + month, week * 7n + day, groups.sign === '-' ? -microseconds : microseconds];
}

function interval(value) {
  let fields;
  if (typeof value === 'string') {
    fields = intervalFields(value);
  } else if (value && Object.keys(value).sort().join() === 'days,microseconds,months') {
    // all three and no other: hours that are not seen would make a wrong "no"
    fields = [value.months, value.days, value.microseconds];
    if (!fields.every((field) => typeof field === 'bigint' || Number.isSafeInteger(field))) return undefined;
    fields = fields.map(BigInt);
  }
  if (!fields || !fields.every((field, i) => field === BigInt.asIntN(i < 2 ? 32 : 64, field))) return undefined;
  const [months, days, microseconds] = fields;
  const number = (months * 30n + days) * BigInt(DAY_MICROSECONDS) + microseconds;
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, number), true);
  new DataView(bytes.buffer).setBigInt64(8, number >> 64n, true);
  return bytes;
}

const nothing = () => undefined;

/** By number: the name, what values it takes, and the bytes of a value. */
export const families = [
  { name: 'none', takes: 'anything', encode: () => new Uint8Array() }, // such a filter is empty
  { name: 'integer', takes: 'a safe integer, or a bigint from -2^63 to 2^63 - 1', encode: integer },
  { name: 'text', takes: 'a string without lone surrogates and zero bytes', encode: text },
  { name: 'bytea', takes: 'a Uint8Array or ArrayBuffer', encode: bytea },
  { name: 'uuid', takes: 'a string of 32 hexadecimal digits', encode: uuid },
  { name: 'boolean', takes: 'a boolean', encode: (value) => (typeof value === 'boolean' ? Uint8Array.of(value) : undefined) },
  { name: 'date', takes: 'a string like 2026-06-01 or infinity', encode: date },
  { name: 'timestamp', takes: 'a string like 2026-06-01 12:00:00.5 or infinity', encode: (value) => microseconds(value, false) },
  { name: 'timestamptz', takes: 'a Date, or a string like 2026-06-01 12:00:00.5+00 or infinity', encode: timestamptz },
  { name: 'float', takes: 'a number', encode: (value) => (typeof value === 'number' ? float64(value) : undefined) },
  { name: 'other', takes: 'only hashes from the server: containsHash() with cf_hash(v, seed)', encode: nothing },
  { name: 'inet', takes: 'a string like 10.0.0.1, 10.0.0.0/8 or 2001:db8::1', encode: inet },
  { name: 'macaddr', takes: 'a string like 08:00:2b:01:02:03, or 6 bytes', encode: macaddr },
  { name: 'macaddr8', takes: 'a string like 08:00:2b:01:02:03:04:05, or 8 bytes', encode: macaddr8 },
  { name: 'numeric', takes: "a string like -1.5, 1e-3, NaN or Infinity, in numeric's range", encode: numeric },
  { name: 'time', takes: 'a string like 12:00:00.5, to 24:00', encode: time },
  { name: 'interval', takes: 'a string like 1 mon 2 days 03:00:00 or P1M2DT3H, or { months, days, microseconds }', encode: interval },
];

/** A value in the text of an error. */
export function shown(value) {
  if (typeof value === 'string') return JSON.stringify(value);
  try {
    return String(value);
  } catch {
    return 'an object without text';
  }
}

/** The bytes that are hashed, until the next call. */
export function canonical(family, value) {
  const bytes = family.encode(value);
  if (bytes === undefined) {
    throw new ElementError(`cuckoofilter of the family ${family.name} does not contain ${shown(value)}: it takes ${family.takes}`);
  }
  return bytes;
}

// The bytes of values by the table of FORMAT.md, and the values that are refused.
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { ElementError } from '../src/filter.js';
import { canonical, families } from '../src/elements.js';

const familyOf = (name) => families.find((family) => family.name === name);
const bytes = (family, value) => Buffer.from(canonical(familyOf(family), value)).toString('hex');

const cases = {
  inet: [
    ['10.0.0.1', '04 20 0a000001'],
    ['10.0.0.1/32', '04 20 0a000001'],
    ['10.0.0.1/24', '04 18 0a000001'],
    ['10.0.0.0/24', '04 18 0a000000'],
    ['0.0.0.0/0', '04 00 00000000'],
    ['255.255.255.255', '04 20 ffffffff'],
    ['::', '06 80 00000000 00000000 00000000 00000000'],
    ['::/0', '06 00 00000000 00000000 00000000 00000000'],
    ['::1', '06 80 00000000 00000000 00000000 00000001'],
    ['2001:db8::ff', '06 80 20010db8 00000000 00000000 000000ff'],
    ['2001:DB8:0:0:0:0:0:00ff/32', '06 20 20010db8 00000000 00000000 000000ff'],
    ['2001:db8::/32', '06 20 20010db8 00000000 00000000 00000000'],
    ['1:2:3:4:5:6:7::', '06 80 00010002 00030004 00050006 00070000'],
    ['::2:3:4:5:6:7:8', '06 80 00000002 00030004 00050006 00070008'],
    ['::ffff:1.2.3.4', '06 80 00000000 00000000 0000ffff 01020304'],
    ['::ffff:1.2.3.4/120', '06 78 00000000 00000000 0000ffff 01020304'],
    ['::ffff:102:304', '06 80 00000000 00000000 0000ffff 01020304'],
    ['::1.2.3.4', '06 80 00000000 00000000 00000000 01020304'],
    ['1:2:3:4:5:6:255.254.253.252', '06 80 00010002 00030004 00050006 fffefdfc'],
  ],
  macaddr: [
    ...['08:00:2b:01:02:03', '08-00-2B-01-02-03', '08002b:010203', '08002b-010203', '0800.2b01.0203', '0800-2b01-0203', '08002b010203'],
    Uint8Array.of(8, 0, 0x2b, 1, 2, 3),
    Uint8Array.of(8, 0, 0x2b, 1, 2, 3).buffer,
  ].map((value) => [value, '08002b010203']),
  macaddr8: [
    ...['08:00:2b:01:02:03:04:05', '08-00-2b-01-02-03-04-05', '08002b:0102030405', '08002b-0102030405', '0800.2b01.0203.0405'],
    ...['0800-2b01-0203-0405', '08002b01:02030405', '08002B0102030405'],
    Uint8Array.of(8, 0, 0x2b, 1, 2, 3, 4, 5),
  ]
    .map((value) => [value, '08002b0102030405'])
    .concat([['08:00:2b:01:02:03', '08002bfffe010203']]),
  numeric: [
    ...['0', '-0', '+0.00', '.0', '0.', '000', '0e9', '-0e-5'].map((value) => [value, '30']),
    ...['NaN', 'nan'].map((value) => [value, '4e']),
    ...['Infinity', '+Infinity', 'inf', 'INFINITY'].map((value) => [value, '49']),
    ...['-Infinity', '-inf'].map((value) => [value, '69']),
    ...['1', '+1', '1.0', '1.00', '001', '1.', '10e-1', '0.1E+1'].map((value) => [value, '2b 00000000 31']),
    ...['-0.025', '-.025', '-25e-3', '-2.50e-02'].map((value) => [value, '2d fdffffff 3235']),
    ...['1200', '1200.000', '1.2e3', '12E2'].map((value) => [value, '2b 02000000 3132']),
    ['1200.0100', '2b feffffff 313230303031'],
    ['1e-16383', '2b 01c0ffff 31'],
    [`0.${'0'.repeat(16382)}1`, '2b 01c0ffff 31'],
    ['-1e131071', '2d ffff0100 31'],
    [`-1${'0'.repeat(131071)}`, '2d ffff0100 31'],
    [`1${'0'.repeat(131070)}1`, `2b 00000000 31 ${'30'.repeat(131070)} 31`],
    ['9007199254740993', '2b 00000000 39303037313939323534373430393933'],
  ],
  time: [
    ...['00:00', '00:00:00', '00:00:00.0'].map((value) => [value, '0000000000000000']),
    ['00:00:00.000001', '0100000000000000'],
    ['00:00:00.1', 'a086010000000000'],
    ['23:59:59.999999', 'ff5fd71d14000000'],
    ...['24:00', '24:00:00', '24:00:00.000'].map((value) => [value, '0060d71d14000000']),
  ],
  interval: [
    ...['00:00:00', 'PT0S', 'P0D', 'P0Y0M0DT0H0M0S', '1 mon -30 days', '-1 days +24:00:00', { months: 0, days: 0, microseconds: 0n }].map(
      (value) => [value, '00'.repeat(16)],
    ),
    ...['-00:00:00.000001', 'PT-0.000001S', '-0.000001 sec', { months: 0, days: 0, microseconds: -1 }].map((value) => [value, 'ff'.repeat(16)]),
    ...['1 mon', '1 month', '30 days', '720:00:00', 'P1M', 'P30D', 'PT720H', '4 weeks 2 days', 'P4W2D', { months: 1, days: 0, microseconds: 0 }].map(
      (value) => [value, `00403d7f5b020000${'00'.repeat(8)}`],
    ),
    // 14 mons, 3 days and 14706789000 µs, of which the time is negative in the second case
    ...['1 year 2 mons 3 days 04:05:06.789', 'P1Y2M3DT4H5M6.789S', '1 years 2 months 3 days 4 hours 5 minutes 6.789 seconds'].map((value) => [
      value,
      `${le((14n * 30n + 3n) * 86400000000n + 14706789000n)}`,
    ]),
    ...['-1 years -2 mons +3 days -04:05:06.789', 'P-1Y-2M3DT-4H-5M-6.789S', '-1 years -2 mons 3 days -4 hours -5 mins -6.789 secs'].map((value) => [
      value,
      `${le((-14n * 30n + 3n) * 86400000000n - 14706789000n)}`,
    ]),
    ['2562047788:00:54.775807', le(2n ** 63n - 1n)],
    ['-2562047788:00:54.775808', le(-(2n ** 63n))],
    ['178956970 years 7 mons 2147483647 days 2562047788:00:54.775807', 'ff5feb62904d8a4e3801000000000000'],
    ['infinity', 'ff5feb62904d8a4e3801000000000000'],
    ['-infinity', '0000000000b075b1c7feffffffffffff'],
  ],
};

/** A number as 16 bytes, in hexadecimal. */
function le(number) {
  const digits = BigInt.asUintN(128, number).toString(16).padStart(32, '0');
  return Buffer.from(digits, 'hex').reverse().toString('hex');
}

test('bytes of values', () => {
  for (const [family, list] of Object.entries(cases)) {
    for (const [value, expected] of list) {
      assert.equal(bytes(family, value), expected.replaceAll(' ', ''), `${family} ${String(value).slice(0, 100)}`);
    }
  }
});

test('random numerics', () => {
  const digits = (length) => Array.from({ length }, () => '0001234567899'[randomInt(13)]).join('');
  for (let i = 0; i < 3000; i++) {
    const [whole, fraction, power] = [digits(randomInt(1, 30)), digits(randomInt(30)), randomInt(-60, 60)];
    const negative = randomInt(2) === 1;
    // as an integer times a power of ten, divided as long as that leaves no rest
    let coefficient = BigInt(whole + fraction);
    let exponent = power - fraction.length;
    while (coefficient > 0n && coefficient % 10n === 0n) {
      coefficient /= 10n;
      exponent++;
    }
    const expected = Buffer.from(coefficient === 0n ? '0' : `${negative ? '-' : '+'}0000${coefficient}`);
    if (coefficient > 0n) expected.writeInt32LE(exponent, 1);
    const literal = `${negative ? '-' : ''}${whole}${fraction && '.'}${fraction}${power ? `e${power}` : ''}`;
    assert.equal(bytes('numeric', literal), expected.toString('hex'), literal);
  }
});

test('random addresses', () => {
  for (let i = 0; i < 3000; i++) {
    // of words that are often 0 or short
    const octets = Buffer.alloc(16);
    for (let at = 0; at < 16; at += 2) octets.writeUInt16BE([0, randomInt(16), randomInt(65536)][randomInt(3)], at);
    const groups = Array.from({ length: 8 }, (_, at) => octets.readUInt16BE(2 * at).toString(16));
    const dotted = [...octets.subarray(12)].join('.');
    const bits = randomInt(129);
    const mask = bits.toString(16).padStart(2, '0');
    // what the platform makes of an address is its shortest form
    const shortest = new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
    const full = groups.map((group) => group.padStart(4, '0').toUpperCase()).join(':');
    for (const literal of [groups.join(':'), shortest, full, `${groups.slice(0, 6).join(':')}:${dotted}`]) {
      assert.equal(bytes('inet', literal), `0680${octets.toString('hex')}`, literal);
      assert.equal(bytes('inet', `${literal}/${bits}`), `06${mask}${octets.toString('hex')}`, literal);
    }
    assert.equal(bytes('inet', dotted), `0420${octets.toString('hex', 12)}`, dotted);
    assert.equal(bytes('inet', `${dotted}/${bits % 33}`), `04${(bits % 33).toString(16).padStart(2, '0')}${octets.toString('hex', 12)}`, dotted);
  }
});

test('random intervals', () => {
  for (let i = 0; i < 3000; i++) {
    const fields = [32, 32, 64].map((width) => {
      const number = BigInt.asIntN(width, randomBytes(8).readBigInt64LE());
      return number >> BigInt(randomInt(width));
    });
    const [months, days, microseconds] = fields;
    const expected = le((months * 30n + days) * 86400000000n + microseconds);
    assert.equal(bytes('interval', { months, days, microseconds }), expected, fields.join());
    const [sign, time] = microseconds < 0n ? ['-', -microseconds] : ['', microseconds];
    const two = (number) => String(number).padStart(2, '0');
    const [hour, minute, second] = [time / 3600000000n, (time / 60000000n) % 60n, (time / 1000000n) % 60n];
    const fraction = String(time % 1000000n).padStart(6, '0');
    const [year, month] = [months / 12n, months % 12n]; // of the same sign
    for (const literal of [
      `${year} years ${month} mons ${days} days ${sign}${two(hour)}:${two(minute)}:${two(second)}.${fraction}`,
      `P${year}Y${month}M${days}DT${sign}${hour}H${sign}${minute}M${sign}${second}.${fraction}S`,
    ]) {
      assert.equal(bytes('interval', literal), expected, literal);
    }
  }
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
    interval: [{ months: 0, days: 0n, microseconds: 0 }],
  };
  const wrong = {
    integer: [1.5, 2 ** 53, 2n ** 63n, -(2n ** 63n) - 1n, NaN],
    text: ['\ud800', 'a\udc00'],
    uuid: ['a0eebc99', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1'],
    date: [...['4714-11-23 BC', '5874898-01-01', '2026-00-01', '2026-01-00', '2023-02-29', '2100-02-29', '0000-01-01 BC'], '2026-02-30', '2026-13-01', '0000-01-01', '2026-6-1'],
    timestamp: ['2026-06-01 24:00:00', '2026-06-01 12:60:00', '2026-06-01 12:00:00+00', '2026-06-01 12:00', new Date()],
    timestamptz: ['4714-11-24 00:00:00+01 BC', '294277-01-01 00:00:00Z', '2026-06-01 12:00:00+01:02:60', '2026-06-01 12:00:60Z', new Date(NaN), '2026-02-30 12:00:00Z'],
    inet: [
      ...['', '10.0.0', '10.0.0.0.1', '10.0.0.256', '10.0.0.01', '10.0.0.1/33', '10.0.0.1/', '10.0.0.1/08', '10.0.0.1/-1', ' 10.0.0.1'],
      ...['10/8', '10.0.0.1/255.0.0.0', '0x0a.0.0.1', ':', ':::', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:8::'],
      ...[':1:2:3:4:5:6:7', '1:2:3:4:5:6:7:', '::12345', '::g', '::1/129', 'fe80::1%eth0', '::1.2.3', '1.2.3.4::', '::1.2.3.4:5', '[::1]', 1, 10n],
    ],
    macaddr: [
      ...['08:00:2b:01:02', '08:00:2b:01:02:3', '8:0:2b:1:2:3', '08:00-2b:01:02:03', '08:00:2b:01:02:0g', '08:00:2b:01:02:03\n'],
      ...[' 08:00:2b:01:02:03', '08.00.2b.01.02.03', '08:00:2b:01:02:03:04:05', new Uint8Array(5), new Uint8Array(8), 0x08002b010203],
    ],
    macaddr8: ['08:00:2b:01:02:03:04', '0800:2b01:0203:0405', new Uint8Array(6), new Uint8Array(7), 1n],
    numeric: [
      ...['', '.', '+', '-.', 'e1', '.e1', '1e', '1e+', '1e1.5', '1 ', ' 1', '1_000', '1,5', '0x1f', '--1', '- 1', '1..2', 'nan7', '-NaN', 'infinite'],
      ...['1e-16384', '1e131072', '11e131071', '1e-99999999999999999999', '1e99999999999999999999', 1, 1n, 1.5, NaN],
    ],
    time: ['12', '1:00', '12:60', '12:00:60', '24:00:01', '24:00:00.000001', '25:00', '12:00:00.', '12:00:00.1234567', '12:00+00', '12:00 PM', 'infinity', 0],
    interval: [
      ...['', ' ', 'P', 'PT', 'P1DT', '-P1D', 'P1.5D', 'PT1.5H', 'P1D1Y', 'P+1D', 'PT+1.5S', 'P0001-02-03T04:05:06', 'p1d', '1', '1 day 5', '1 day 1 day', '1.5 days', '1day'],
      ...['1 day ago', '@ 1 day', '1:30', '1:60:00', '1:00:60', '00:00:00.1234567', '1 day 1 hour 01:00:00', ' 1 day', 'PT1.0000001S', '1 fortnight'],
      ...['2147483648 days', '-2147483649 days', '178956971 years', '2147483648 mons', '306783379 weeks', '2562047788:00:54.775808'],
      ...[1, 1n, [1, 2, 3], { months: 1, days: 2 }, { months: 1, days: 2, hours: 3 }, { months: 1, days: 2, microseconds: 3, years: 4 }],
      ...[2 ** 31, 1.5, '1', null, undefined, NaN, -(2 ** 31) - 1].map((months) => ({ months, days: 0, microseconds: 0 })),
      ...[2n ** 63n, 2 ** 53, -(2n ** 63n) - 1n].map((microseconds) => ({ months: 0, days: 0, microseconds })),
    ],
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
  assert.equal(bytes('timestamptz', new Date('2026-06-01T12:00:00.5Z')), bytes('timestamptz', '2026-06-01 17:30:00.5+05:30'));
  for (const value of [0, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53 - 1, 1 - 2 ** 53]) {
    assert.equal(bytes('integer', value), bytes('integer', BigInt(value)));
  }
  for (const other of ['2026-06-01 08:30:00-0330', '2026-06-01T11:15:30-00:44:30', '2026-06-01 12:44:30+004430']) {
    assert.equal(bytes('timestamptz', '2026-06-01 12:00:00Z'), bytes('timestamptz', other));
  }
  // as PostgreSQL sends them
  const sent = {
    date: {
      ...{ '4714-11-24 BC': 'ffda97a7', '0001-12-31 BC': 'fff4dbf8', '0001-01-01': 'fff4dbf9', '2000-02-29': '0000003b' },
      ...{ '10000-01-01': '002c95d4', '5874897-12-31': '7fda970c' },
    },
    timestamp: {
      '4714-11-24 00:00:00 BC': 'fd0f7cc1411fa000',
      '0044-03-15 12:00:00 BC': 'ff1af9e8fb46d000',
      '10000-01-01 00:00:00': '0380e70b913b8000',
      '294276-12-31 23:59:59.999999': '7fffff5bb3b29fff',
    },
  };
  for (const [type, literals] of Object.entries(sent)) {
    for (const [literal, hex] of Object.entries(literals)) assert.equal(Buffer.from(bytes(type, literal), 'hex').reverse().toString('hex'), hex, literal);
  }
});

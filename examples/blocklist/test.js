// Tests of the service and the page, in a real browser: node test.js [PNG]
//
// The database is that of PGHOST and the like, with the block list loaded. The
// browser is Chromium (or CHROMIUM), without a screen and with a new profile.
// PNG is where a picture of the page goes. The output is TAP.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { chromium } from 'playwright-core';

const client = new pg.Client();
let tests = 0, failed = 0;

function ok(good, name, detail = '')
{
  console.log(`${good ? 'ok' : 'not ok'} ${++tests} - ${name}`);
  if (!good) {
    failed++;
    console.log(`# ${detail}`);
  }
}

const is = (got, expected, name) => ok(got === expected, name, `got ${got}, expected ${expected}`);

// ---- the service ------------------------------------------------------------

const service = spawn(process.execPath, [new URL('server.js', import.meta.url).pathname],
  { env: { ...process.env, PORT: '0', HOST: '127.0.0.1' }, stdio: ['ignore', 'pipe', 'inherit'] });
process.on('exit', () => service.kill());
const [line] = await once(createInterface(service.stdout), 'line');
const base = line.match(/http:\S+\//)[0];
await client.connect();
// from a run before
await client.query("DELETE FROM blocked WHERE domain = 'brand-new.example' OR domain LIKE 'fault-%.example'");
await client.query('SELECT publish()');

const column = async (sql, parameters) => (await client.query(sql, parameters)).rows.map((row) => row.v);
const get = (path, headers = {}) => fetch(base + path, { headers });

const first = await get('filters/domains');
const etag = first.headers.get('etag');
const image = Buffer.from(await first.arrayBuffer());
const [stored] = await column("SELECT f::bytea AS v FROM filters WHERE name = 'domains'");

ok(image.equals(stored), 'a filter is served byte for byte');
is((await get('filters/domains', { 'If-None-Match': etag })).status, 304, 'those who have it get 304');
is((await get('filters/domains', { 'If-None-Match': `"x", W/${etag}` })).status, 304, 'also with a list of tags');
is((await get('filters/domains', { 'If-None-Match': '"x"' })).status, 200, 'those who have another one get it');
is(first.headers.get('content-encoding'), null, 'it is not compressed');
const gzipped = gzipSync(image, { level: 9 }).length / image.length;
ok(gzipped > 0.98, 'because gzip gains nothing', gzipped);
is((await get('filters/none')).status, 404, 'there is no other filter');
is((await get('%2e%2e/server.js')).status, 404, 'no path leads to other files');
is((await get('/')).status, 400, 'nor does what is no path');
is((await get('check')).status, 400, 'a question without a domain is refused');
is((await fetch(base, { method: 'POST' })).status, 405, 'so is another method');

// ---- a proxy between the page and the service ---------------------------------

// What a proxy may do to a filter. Each gets the answer of the service, and
// changes it; an answer without a body is 304.
const old = { status: 200, headers: Object.fromEntries(first.headers), body: image };
const faults = {
  'no ETag': (answer) => delete answer.headers.etag,
  'a truncated body': (answer) => {
    answer.body = answer.body.subarray(0, answer.body.length / 2);
    delete answer.headers['content-length'];
  },
  'a broken connection': (answer) => (answer.sent = answer.body.length / 2),
  'a damaged body': (answer) => (answer.body[answer.body.length / 2 | 0] ^= 1),
  'another format version': (answer) => (answer.body[2] = 0),
  'an old version': (answer) => Object.assign(answer, old),
};
let fault = null, revalidated = 0;

const proxy = createServer(async (request, response) => {
  const ofFilter = request.url === '/filters/domains';
  const tag = request.headers['if-none-match'];
  const got = await fetch(base + request.url.slice(1), {
    headers: tag && fault !== 'no ETag' ? { 'If-None-Match': tag } : {} });
  const { connection, date, 'keep-alive': kept, ...headers } = Object.fromEntries(got.headers);
  const answer = { status: got.status, headers, body: Buffer.from(await got.arrayBuffer()) };

  revalidated += ofFilter && answer.status === 304;
  if (ofFilter && fault && answer.body.length > 0)
    faults[fault](answer);
  response.writeHead(answer.status, answer.headers);
  response.write(answer.body.subarray(0, answer.sent));
  if (answer.sent)
    setTimeout(() => response.destroy(), 50);
  else
    response.end();
});
proxy.listen(0, '127.0.0.1');
await once(proxy, 'listening');
const through = `http://127.0.0.1:${proxy.address().port}/`;

// ---- the page ---------------------------------------------------------------

// root may not use Chromium's sandbox; what the page loads is our own
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-dev-shm-usage', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const page = await (await browser.newContext({ viewport: { width: 390, height: 760 } })).newPage();
const requests = [], errors = [];
page.on('request', (request) => requests.push(request.url()));
page.on('pageerror', (error) => errors.push(error.message));
page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));

const address = page.getByLabel('E-mail address');
const here = page.locator('#here'), there = page.locator('#there');
const asked = () => requests.filter((url) => url.includes('/check'));

// look(ADDRESS): types it, and returns what the page says in the end
async function look(text)
{
  await address.fill(text);
  await address.press('Enter');
  await page.waitForFunction(() => !document.getElementById('there').textContent.includes('…'));
  return [await here.textContent(), await there.textContent()].join(' ');
}

async function refresh()
{
  await page.getByRole('button', { name: 'Look for changes' }).click();
  await page.waitForFunction(() => /^Looked/.test(document.getElementById('refreshed').textContent));
  return (await page.locator('#filters li').allTextContents()).join('; ');
}

await page.goto(through);
await page.waitForFunction(() => document.querySelectorAll('#filters li').length === 2);

// A domain that passes the filter by chance: the filter is the same for all who
// have this list, so it is the same one in each run.
const [chance] = await column(`SELECT 'shop-' || i || '.example' AS v FROM generate_series(1, 1000000) i
  WHERE cf_contains((SELECT f FROM filters WHERE name = 'domains'), 'shop-' || i || '.example') LIMIT 1`);

is(await look('alice@postgresql.org'), 'postgresql.org is not on the list. Not asked.', 'a "no" is final');
is(asked().length, 0, 'and asks nobody');
is(await look('bob@Mailinator.com'), 'mailinator.com may be on the list. It is on the list.', 'a "maybe" is asked, and true');
is(await look(`carol@${chance}`), `${chance} may be on the list. It is not on the list: a false positive.`,
  'or a false positive, and both are shown');
is(await look('dave@box.33mail.com'), 'box.33mail.com may be on the list. It is on the list.',
  'a wildcard blocks the domains below it');
is(asked().length, 3, 'one question for each "maybe"');
ok(asked().every((url) => !/alice|bob|carol|dave/.test(url)), 'which does not tell who', asked().join(' '));
is(await look('dave@'), 'Not an e-mail address yet. Not asked.', 'half an address is not looked up');
is(await look('eve@bücher.example'), 'xn--bcher-kva.example is not on the list. Not asked.', 'other scripts are looked up as Punycode');

// members and strangers by the page's filter, against the table
const members = await column("SELECT domain AS v FROM blocked WHERE NOT wildcard ORDER BY cf_hash(domain) LIMIT 20000");
const inPage = await page.evaluate(async (members) => {
  const { CuckooFilter } = await import('pg-cuckoofilter');
  const filter = await CuckooFilter.load(new Uint8Array(await (await fetch('/filters/domains')).arrayBuffer()));

  return [members.filter((domain) => filter.contains(domain)).length,
    members.filter((domain) => filter.contains(`not-${domain}`)).length];
}, members);
is(inPage[0], members.length, 'the filter in the page misses no member');
ok(inPage[1] < 60, 'and has few false positives', inPage[1]);

ok(/domains: .*unchanged; wildcards: .*unchanged/.test(await refresh()), 'filters that did not change are not read again');
await client.query("INSERT INTO blocked VALUES ('brand-new.example', false)");
is(await look('a@brand-new.example'), 'brand-new.example is not on the list. Not asked.', 'what is not published is not known');
is((await column('SELECT publish() AS v')).join(), 'domains', 'a changed list changes one filter');
ok(/domains: .*loaded; wildcards: .*unchanged/.test(await refresh()), 'which the page gets, and that one alone');
await look('');
is(await look('a@brand-new.example'), 'brand-new.example may be on the list. It is on the list.', 'then it is known');

// ---- faults, and what comes after them ----------------------------------------

const onTheList = (domain) => `${domain} may be on the list. It is on the list.`;
const added = []; // domains that are on the list since the page was loaded

// change(): adds a domain and publishes
async function change()
{
  added.push(`fault-${added.length}.example`);
  await client.query('INSERT INTO blocked VALUES ($1, false)', [added.at(-1)]);
  await client.query('SELECT publish()');
}

// missed(): which of the added domains the page does not find
async function missed()
{
  const missing = [];

  await look(''); // the last domain again would not be looked up
  for (const domain of added)
    if (await look(`a@${domain}`) !== onTheList(domain))
      missing.push(domain);
  return missing.join(' ');
}

// recovers(NAME): whether the page has the filter again, and asks nobody for a "no"
async function recovers(name, filters)
{
  ok(/^domains: [\d,]+ in [\d,]+ bytes, /.test(filters), `${name}, and then none: the page has the filter`, filters);
  is(await missed(), '', 'and finds all that was added');
  const before = asked().length;
  is(await look('a@postgresql.org'), 'postgresql.org is not on the list. Not asked.', 'and its "no" is final');
  is(asked().length, before, 'and asks nobody');
}

for (const name of Object.keys(faults)) {
  fault = name;
  for (let i = 0; i < 2; i++) {
    await change();
    const filters = await refresh();

    if (name === 'no ETag')
      ok(/domains: .*loaded/.test(filters), `${name}: the filter is read again`, filters);
    else if (name !== 'an old version')
      ok(/^domains: could not be loaded/.test(filters), `${name}: there is no filter`, filters);
    if (name !== 'an old version')
      is(await missed(), '', 'and no domain is missed');
  }
  fault = null;
  await recovers(name, await refresh());
  ok(/domains: .*unchanged/.test(await refresh()), 'which it keeps');

  // the browser may have kept the response
  fault = name;
  await change();
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('#filters li').length === 2);
  fault = null;
  const before = revalidated;
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('#filters li').length === 2);
  await recovers(`${name} in the cache`, await page.locator('#filters li').first().textContent());
  if (name === 'a damaged body')
    ok(revalidated > before, 'although the browser had kept the damaged one');
}
errors.splice(0, errors.length, ...errors.filter((error) => !/ERR_INCOMPLETE_CHUNKED|ERR_CONTENT_LENGTH/.test(error)));

await page.route('**/check*', (route) => route.abort());
is(await look('a@mailinator.com'), 'mailinator.com may be on the list. It did not answer. Press Enter to ask again.',
  'no answer is shown as such');
await page.unroute('**/check*');
await address.press('Enter');
await page.waitForFunction(() => document.getElementById('there').textContent === 'It is on the list.');
ok(true, 'and can be asked again');
errors.splice(0, errors.length, ...errors.filter((error) => !error.includes('ERR_FAILED')));

// ---- for everybody ----------------------------------------------------------

await page.keyboard.press('Tab');
is(await page.evaluate(() => document.activeElement.id), 'refresh', 'the keyboard reaches the button');
ok(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== 'none'), 'and shows where it is');
is(await page.getAttribute('#answer', 'aria-live'), 'polite', 'answers are read aloud');
is(await page.getAttribute('html', 'lang'), 'en', 'in the right language');
for (const colorScheme of ['light', 'dark']) {
  await page.emulateMedia({ colorScheme });
  const least = await page.evaluate(() => {
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const channels = (color) => color.match(/[\d.]+/g).map(Number);
    const back = (node) => {
      const color = channels(getComputedStyle(node).backgroundColor);
      return color[3] === 0 ? (node.parentElement ? back(node.parentElement) : [255, 255, 255]) : color;
    };
    return Math.min(...[...document.querySelectorAll('main *')].filter((node) => node.textContent.trim())
      .map((node) => [light(channels(getComputedStyle(node).color)), light(back(node))].sort((a, b) => b - a))
      .map(([a, b]) => (a + 0.05) / (b + 0.05)));
  });
  ok(least >= 7, `contrast of at least 7 to 1, ${colorScheme}`, least);
}
await page.emulateMedia({ colorScheme: 'light' });
await look('carol@a-rather-long-name-that-has-no-blanks-to-break-the-line-at.a-rather-long-domain.example');
for (const width of [320, 390, 1280]) {
  await page.setViewportSize({ width, height: 760 });
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `nothing is wider than a window of ${width}`);
}
is(errors.join(' '), '', 'the browser reports no error');

// ---- the loader ---------------------------------------------------------------

// load.js with a list, in a schema that hides the tables
await client.query(`CREATE SCHEMA loaded
  CREATE TABLE blocked (LIKE public.blocked INCLUDING ALL) CREATE TABLE filters (LIKE public.filters INCLUDING ALL)`);
const folder = await mkdtemp(`${tmpdir()}/blocklist-`);

async function loaded(list, ...more)
{
  await writeFile(`${folder}/list`, list);
  const { status, stderr } = spawnSync(process.execPath,
    [new URL('load.js', import.meta.url).pathname, `${folder}/list`, ...more],
    { env: { ...process.env, PGOPTIONS: '-c search_path=loaded,public' }, encoding: 'utf8' });
  const found = await column('SELECT domain AS v FROM loaded.blocked ORDER BY wildcard, domain COLLATE "C"');

  return { status, stderr, domains: found.join(' ') };
}

const spaces = await loaded(
  '\ufeffA.example\r\n  b.example \r\n\r\n\tc.example\t\n\nb.example.\u00a0\r\nB\u00dccher.example');
is(spaces.domains, 'a.example b.example c.example xn--bcher-kva.example',
  'lines are trimmed, and each domain comes once');
is(spaces.status, 0, 'empty lines are no fault');
is(spaces.stderr, '', 'nor said');
const wrong = await loaded(`a.example\n${'# no domain\n'.repeat(1000)}${'x'.repeat(1000)}\nb.example`);
is(wrong.domains, 'a.example b.example', 'what can be used is loaded');
is(wrong.status, 1, 'but lines that are no domains are a fault');
ok(/left out 1001 of 1003 lines/.test(wrong.stderr), 'which is said', wrong.stderr);
ok(wrong.stderr.length < 300, 'briefly', wrong.stderr.length);
const two = await loaded('a.example', `${folder}/list`);
is(two.domains, 'a.example a.example', 'a second list has the wildcards');
ok((await loaded('a.example', `${folder}/none`)).status > 0, 'a list that cannot be read is a fault');
is((await loaded('a.example')).domains, 'a.example', 'and the list is replaced');
await client.query('DROP SCHEMA loaded CASCADE');
await rm(folder, { recursive: true });

if (process.argv[2]) {
  await page.setViewportSize({ width: 390, height: 760 });
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('#filters li').length === 2);
  await look('alice@postgresql.org');
  await look('bob@mailinator.com');
  await look(`carol@${chance}`);
  await page.screenshot({ path: process.argv[2], fullPage: true });
}

await browser.close();
proxy.close();
await client.end();
console.log(`1..${tests}`);
process.exit(failed ? 1 : 0);

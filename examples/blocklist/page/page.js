// Looks up in this page what a person types, and asks the server on "maybe".
//
// A filter never misses what is on the list, so "no" is final and stays here.
// Its "maybe" is wrong for one domain in a thousand, so the table decides. What
// is not known is shown as such: no filter means to ask, no answer means to say
// so.
import { CuckooFilter } from 'pg-cuckoofilter';
import { domainOf, withParents } from './domain.js';

const element = (id) => document.getElementById(id);
const filters = new Map(['domains', 'wildcards'].map((name) => [name, { note: 'not loaded yet' }]));
const counts = { here: 0, there: 0 };
const pause = 400; // milliseconds without a key, after which an address is complete
let latest = 0; // the lookup whose answer is shown
let shown = ''; // the domain that was looked up last

// ---- filters ----------------------------------------------------------------

// The browser sends the ETag of the copy that it keeps, and takes its copy where
// the server says 304. An unchanged filter is not read again. A response without
// an ETag may be a changed filter, so it is read.
async function load(name, cache)
{
  const response = await fetch(`/filters/${name}`, { cache });
  const etag = response.headers.get('etag');

  if (!response.ok)
    throw new Error(`status ${response.status}`);
  if (etag !== null && etag === filters.get(name).etag)
    return { ...filters.get(name), note: 'unchanged' };
  const bytes = new Uint8Array(await response.arrayBuffer());

  return { image: await CuckooFilter.load(bytes), etag, bytes: bytes.length, note: 'loaded' };
}

// The browser may keep a damaged response and revalidate it, so after a failure
// the page asks for all of it. A filter that cannot be renewed is dropped: its
// "no" would be that of an old list.
async function refresh(name)
{
  try {
    filters.set(name, await load(name, 'no-cache').catch(() => load(name, 'reload')));
  } catch (error) {
    filters.set(name, { note: `could not be loaded: ${error.message}` });
  }
}

async function refreshAll()
{
  element('refreshed').textContent = 'Looking …';
  await Promise.all([...filters.keys()].map(refresh));
  element('filters').replaceChildren(...[...filters].map(([name, { image, bytes, note }]) => {
    const item = document.createElement('li');
    const size = image ? `${image.items.toLocaleString('en')} in ${bytes.toLocaleString('en')} bytes, ` : '';

    item.textContent = `${name}: ${size}${note}`;
    return item;
  }));
  element('refreshed').textContent = `Looked at ${new Date().toLocaleTimeString()}.`;
}

// mayBeBlocked(DOMAIN): false is certain
function mayBeBlocked(domain)
{
  const domains = filters.get('domains').image;
  const wildcards = filters.get('wildcards').image;

  return !domains || !wildcards || domains.contains(domain) ||
    withParents(domain).some((parent) => wildcards.contains(parent));
}

// ---- lookups ----------------------------------------------------------------

async function askServer(domain)
{
  const response = await fetch(`/check?${new URLSearchParams({ domain })}`);

  if (!response.ok)
    throw new Error(`status ${response.status}`);
  return (await response.json()).blocked;
}

function show(id, text, kind = '')
{
  element(id).textContent = text;
  element(id).className = kind;
}

function log(...cells)
{
  const row = document.createElement('tr');

  row.append(...cells.map((text) => {
    const cell = document.createElement('td');

    cell.textContent = text;
    return cell;
  }));
  element('log').prepend(row);
  element('log').children[5]?.remove();
  element('log').parentElement.hidden = false;
  element('totals').textContent = `${counts.here} looked up in this page, ${counts.there} asked of the server.`;
}

async function look()
{
  const domain = domainOf(element('address').value);
  const lookup = ++latest;

  if (domain === shown)
    return;
  shown = domain;
  if (!domain) {
    show('here', element('address').value.trim() ? 'Not an e-mail address yet.' : 'Type an address.');
    show('there', 'Not asked.');
    return;
  }

  counts.here++;
  if (!mayBeBlocked(domain)) {
    show('here', `${domain} is not on the list.`, 'no');
    show('there', 'Not asked.');
    log(domain, 'no', 'not asked');
    return;
  }

  show('here', `${domain} may be on the list.`);
  show('there', 'Asking …');
  counts.there++;
  let answer, kind = '', entry;

  try {
    if (await askServer(domain))
      [answer, kind, entry] = ['It is on the list.', 'yes', 'yes'];
    else
      [answer, kind, entry] = ['It is not on the list: a false positive.', 'no', 'no'];
  } catch {
    [answer, entry] = ['It did not answer. Press Enter to ask again.', 'no answer'];
    if (lookup === latest)
      shown = '';
  }
  log(domain, 'maybe', entry);
  if (lookup === latest)
    show('there', answer, kind);
}

// ---- events -----------------------------------------------------------------

let timer;

element('address').addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(look, pause);
});
element('form').addEventListener('submit', (event) => {
  event.preventDefault();
  clearTimeout(timer);
  look();
});
element('refresh').addEventListener('click', refreshAll);

await refreshAll();
setInterval(refreshAll, 10 * 60 * 1000);
look();

// The block-list service: node server.js
//
// GET /                   the page, and the files it needs
// GET /filters/NAME       a filter, with an ETag; 304 for those who have it
// GET /check?domain=NAME  {"blocked": true or false}, exact, from the table
//
// The database is that of PGHOST, PGDATABASE and the like. HOST and PORT
// (127.0.0.1 and 8080) are where it listens. It keeps nothing in memory: what
// publish() has changed is served at once.
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { normalDomain, withParents } from './page/domain.js';

const require = createRequire(import.meta.url);
const here = fileURLToPath(new URL('.', import.meta.url));
const client = fileURLToPath(new URL('../../clients/js/src/', import.meta.url));
const hashWasm = `${dirname(require.resolve('hash-wasm'))}/index.esm.min.js`;

// All that is served from files, so that no path leads to another one
const files = {
  '/': [`${here}page/index.html`, 'text/html; charset=utf-8'],
  '/style.css': [`${here}page/style.css`, 'text/css; charset=utf-8'],
  '/page.js': [`${here}page/page.js`, 'text/javascript'],
  '/domain.js': [`${here}page/domain.js`, 'text/javascript'],
  '/hash-wasm.js': [hashWasm, 'text/javascript'],
};
for (const name of await readdir(client)) {
  if (name.endsWith('.js'))
    files[`/client/${name}`] = [client + name, 'text/javascript'];
}

const pool = new pg.Pool();
const page = await readFile(files['/'][0], 'utf8');

// The page may run only its own scripts, the one that it contains (by its hash)
// and the WebAssembly of the hash function.
const importMap = /<script type="importmap">(.*?)<\/script>/s.exec(page)[1];
const securityHeaders = {
  'Content-Security-Policy': "default-src 'none'; connect-src 'self'; style-src 'self'; img-src data:; " +
    `script-src 'self' 'wasm-unsafe-eval' 'sha256-${createHash('sha256').update(importMap).digest('base64')}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

// no-cache: a browser keeps it, but asks each time whether it has changed
async function sendFile(response, [path, type])
{
  const body = await readFile(path);

  response.writeHead(200, { 'Content-Type': type, 'Content-Length': body.length, 'Cache-Control': 'no-cache' });
  response.end(body);
}

// For an unchanged filter PostgreSQL reads a row of a hundred bytes, not the
// filter, and the browser gets a header.
//
// There is no Content-Encoding: gzip saves half a percent. The fingerprints are
// bits of a hash, and 95 of 100 slots are in use.
async function sendFilter(request, response, name)
{
  const known = (request.headers['if-none-match'] ?? '').split(',')
    .map((tag) => tag.trim().replace(/^W\//, '').replaceAll('"', ''));
  const { rows: [row] } = await pool.query(
    'SELECT etag, CASE WHEN etag <> ALL ($2) THEN f::bytea END AS image FROM filters WHERE name = $1',
    [name, known]);

  if (!row)
    return sendText(response, 404, 'There is no such filter.');
  response.setHeader('ETag', `"${row.etag}"`);
  response.setHeader('Cache-Control', 'no-cache, no-transform');
  if (!row.image)
    return response.writeHead(304).end();
  response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': row.image.length });
  response.end(row.image);
}

async function sendCheck(response, text)
{
  const domain = normalDomain(text ?? '');

  if (!domain)
    return sendText(response, 400, 'Ask with ?domain= and a domain.');
  const { rows: [row] } = await pool.query(
    `SELECT EXISTS (SELECT FROM blocked WHERE domain = $1 AND NOT wildcard
      OR domain = ANY ($2) AND wildcard) AS blocked`,
    [domain, withParents(domain)]);

  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify({ domain, blocked: row.blocked }));
}

function sendText(response, status, text)
{
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}

async function answer(request, response)
{
  let url;

  for (const [name, value] of Object.entries(securityHeaders))
    response.setHeader(name, value);
  if (!['GET', 'HEAD'].includes(request.method)) {
    response.setHeader('Allow', 'GET, HEAD');
    return sendText(response, 405, 'Only GET and HEAD are known here.');
  }
  try {
    url = new URL(request.url, 'http://localhost');
  } catch {
    return sendText(response, 400, 'That is no path.');
  }
  if (Object.hasOwn(files, url.pathname))
    return sendFile(response, files[url.pathname]);
  if (url.pathname.startsWith('/filters/'))
    return sendFilter(request, response, url.pathname.slice('/filters/'.length));
  if (url.pathname === '/check')
    return sendCheck(response, url.searchParams.get('domain'));
  return sendText(response, 404, 'There is no such page.');
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error);
    if (!response.headersSent)
      sendText(response, 500, 'The service could not answer.');
    else
      response.destroy();
  });
});

// without this, a database that restarts would end the service
pool.on('error', (error) => console.error(error.message));
server.listen(Number(process.env.PORT ?? 8080), process.env.HOST ?? '127.0.0.1', () => {
  const { address, port } = server.address();

  console.log(`listening on http://${address.includes(':') ? `[${address}]` : address}:${port}/`);
});
server.on('error', (error) => {
  console.error(`${error.message}; PORT=... chooses another port`);
  process.exit(1);
});

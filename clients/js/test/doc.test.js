// The blocks of JavaScript in the README, in order, against a live server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const readme = new URL('../README.md', import.meta.url);

test('blocks of the README', () => {
  const text = readFileSync(readme, 'utf8');
  const [, setup] = /^```sql\n(.*?)^```/ms.exec(text);
  const blocks = [...text.matchAll(/^```js\n(.*?)^```/gms)].map(([, block]) => block);
  assert.ok(blocks.length >= 2);
  execFileSync('psql', ['-Xqv', 'ON_ERROR_STOP=1', '-c', 'DROP TABLE IF EXISTS filters', '-c', setup]);
  const strict = "import assert from 'node:assert/strict'; console.assert = assert;\n";
  // a module in this folder, which finds the packages
  execFileSync(process.execPath, ['--input-type=module', '-e', strict + blocks.join('\n')], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
  });
});

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Writes the compiled code of a script after the flags for the grammar were set. */
const WRITE = `
import { Script } from 'node:vm';
const { keepGrammarSmall, prepareForGrammar, underFirstFlags } = await import(process.argv[1]);
const script = new Script('() => 1');
keepGrammarSmall();
prepareForGrammar();
const data = {};
underFirstFlags(() => { data.first = script.createCachedData().toString('base64'); });
data.later = script.createCachedData().toString('base64');
console.log(JSON.stringify(data));
`;

/** Starts without flags and says whether V8 refuses the code. */
const READ = `
const { Script } = require('node:vm');
const cachedData = Buffer.from(process.argv[1], 'base64');
console.log(new Script('() => 1', { cachedData }).cachedDataRejected);
`;

function node(...words: string[]): string {
  return execFileSync(process.execPath, words, { encoding: 'utf8', env: {} }).trim();
}

test('compiled code that is written under the first flags is taken by the next process', () => {
  const module = new URL('./grammar-memory.ts', import.meta.url).href;
  const { first, later } = JSON.parse(node('--input-type=module', '--eval', WRITE, module));
  expect(node('--eval', READ, first)).toBe('false');
  expect(node('--eval', READ, later), 'the flags for the grammar matter to V8').toBe('true');
});

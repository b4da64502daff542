import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Judges as a busy session does, in a process of its own, and says how much memory it took at most, in MB. */
const JUDGE = `
import { readFileSync } from 'node:fs';
const { keepGrammarSmall } = await import(process.argv[1] + '/../../grammar-memory.ts');
const { loadShellParser } = await import(process.argv[1] + '/parse-shell.ts');
keepGrammarSmall();
const parser = await loadShellParser();
for (let round = 0; round < 3000; round++)
  parser.read('for f in a b; do echo "$f $(git log -1)" | grep x; done; [[ a =~ b ]] && (( x + ' + round + ' ))', ({ type }) => type);
console.log(Number(/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024);
`;

test('RES-3: a process of our own that judges commands takes no memory to optimise the grammar', ({
  skip,
}) => {
  if (process.platform !== 'linux') skip('the system does not tell the peak of memory');
  const words = ['--input-type=module', '--eval', JUDGE, import.meta.dirname];
  const peak = Number(execFileSync(process.execPath, words, { encoding: 'utf8', env: {} }));
  expect(peak).toBeLessThan(200);
});

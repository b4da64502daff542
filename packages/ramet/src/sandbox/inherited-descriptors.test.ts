import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { workingSandbox } from '../../test/fixtures/sandbox.ts';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';

test('WORK-7: what this process has inherited does not lead out of a worktree', async ({ skip }) => {
  const { program } = await workingSandbox(skip);
  const directory = temporaryDirectory();
  const [own, outer] = [join(directory, 'own'), join(directory, 'outer')];
  for (const path of [own, outer]) mkdirSync(path);
  const file = join(outer, 'file');
  writeFileSync(file, 'text\n');
  const script = join(directory, 'start.ts');
  const attack = `echo x > /proc/self/fd/40/new; echo x > /proc/self/fd/41; echo x >&42
    ls -l /proc/self/fd | grep -c outer; echo "[$0 $1]" > mine`;
  writeFileSync(
    script,
    `import { isolatedStart, runIsolated } from ${JSON.stringify(join(import.meta.dirname, 'isolated-shell.ts'))};
    const bounds = { shared: [], caches: [], guarded: [], own: [${JSON.stringify(own)}], made: [] };
    const start = isolatedStart(bounds, ${JSON.stringify(own)}, ${JSON.stringify(attack)}, 'a b', 'c');
    const { status, stdout } = await runIsolated(${JSON.stringify(program)}, start, { env: process.env });
    console.log(status, stdout);`,
  );
  const held = [openSync(outer, 'r'), openSync(file, 'r'), openSync(file, 'a')];
  onTestFinished(() => held.forEach((each) => void closeSync(each)));
  const stdio = [...Array(40).fill('ignore'), ...held];
  stdio[1] = 'pipe';
  const end = spawnSync(process.execPath, [script], { stdio, encoding: 'utf8' });
  expect(String(end.output[1])).toBe('0 0\n\n');
  expect(readFileSync(join(own, 'mine'), 'utf8')).toBe('[a b c]\n');
  expect([readdirSync(outer), readFileSync(file, 'utf8')]).toEqual([['file'], 'text\n']);
});

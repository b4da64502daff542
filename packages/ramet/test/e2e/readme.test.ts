import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { PACKAGE_ROOT } from '../../scripts/bundle.ts';
import { test } from '../fixtures/user.ts';
import { ROOT } from '../shape/repository.ts';

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

describe('the README', () => {
  test('LIB-1: has a program that runs as it is, and whose forks read the cache', async ({ user }) => {
    const [, program = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(README) ?? [];
    const emulator = await user.emulate({
      respond: ({ isFork, turn, task }) => {
        if (isFork) return { text: `Scope: ${task.includes('tests') ? 'tests' : 'input'}. Seen.` };
        return turn === 0
          ? { tool_use: [{ name: 'Read', input: { file_path: 'README.md' } }] }
          : { text: 'Read.' };
      },
    });
    mkdirSync(join(user.repository, 'node_modules'));
    symlinkSync(PACKAGE_ROOT, join(user.repository, 'node_modules/ramet'));
    writeFileSync(join(user.repository, 'program.mts'), program);
    const child = spawn(process.execPath, ['program.mts'], {
      cwd: user.repository,
      env: user.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Read\ndone 0\.\d+ Scope: input\. Seen\.\ndone 0\.\d+ Scope: tests\. Seen\.\n$/);
    const forks = emulator.requests.slice(2);
    expect(forks).toHaveLength(2);
    for (const { usage } of forks) expect(usage?.cache_read_input_tokens).toBeGreaterThan(1000);
  });

  test('begins with two commands that install, and with a first one of its own that asks', () => {
    const blocks = Array.from(README.matchAll(/^```sh\n([\s\S]*?)^```$/gm), ([, lines = '']) => lines.trim());
    expect(blocks.slice(0, 2)).toEqual(['npm ci && npx ramet demo', 'npm ci && npm test']);
    const own = blocks.find((block) => block.includes('<your repository>')) ?? '';
    expect(own.split('\n').at(-1)).toBe('ramet');
    expect(README.split('## Flags and commands')[0]).not.toMatch(/^ramet .*bypassPermissions/m);
  });
});

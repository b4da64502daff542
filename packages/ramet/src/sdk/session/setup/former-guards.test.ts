import { execFileSync } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../../test/fixtures/temporary.ts';
import type { HookEntry } from '../../../extensions/hooks/hook-config.ts';
import { changeTrust } from '../../calls/trust.ts';
import { sessionSettings } from './session-settings.ts';

const guard = { PreToolUse: [{ hooks: [{ type: 'command', command: 'exit 0' }] }] };
const file = '.claude/settings.json';

function trusted(): {
  root: string;
  linked: string;
  options(cwd: string): { cwd: string; env: NodeJS.ProcessEnv };
} {
  const base = temporaryDirectory();
  const root = temporaryRepository({ [file]: JSON.stringify({ hooks: guard }) });
  const linked = join(base, 'linked');
  execFileSync('git', ['worktree', 'add', '-q', linked], { cwd: root, stdio: 'ignore' });
  const env = { HOME: base, RAMET_HOME: join(base, 'home'), PATH: process.env.PATH };
  const options = (cwd: string) => ({ cwd, env });
  changeTrust('trust', options(root));
  return { root, linked, options };
}

async function guardsOf(options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<readonly HookEntry[]> {
  return (await sessionSettings(options)).hooks ?? [];
}

test('SEC-1: a guard that a session misses stays missed where .git is replaced meanwhile', async () => {
  const { linked, options } = trusted();
  writeFiles(linked, { [file]: '{}' });
  const [missed] = await guardsOf(options(linked));
  expect(missed?.source.isOver?.()).toBe(false);
  rmSync(join(linked, '.git'));
  expect(missed?.source.isOver?.()).toBe(false);
  execFileSync('git', ['init', '-q'], { cwd: linked });
  expect(missed?.source.isOver?.()).toBe(false);
  changeTrust('trust', options(linked));
  expect(missed?.source.isOver?.()).toBe(true);
});

test('SEC-1: what was trusted as another repository asks on until a person decides', async () => {
  const { root, options } = trusted();
  const there = join(root, '.git');
  renameSync(there, `${root}/aside`);
  const [missed] = await guardsOf(options(root));
  expect(missed?.source.isOver?.()).toBe(false);
  // The session has not read the hooks of what is back.
  renameSync(`${root}/aside`, there);
  expect(missed?.source.isOver?.()).toBe(false);
  rmSync(there, { recursive: true });
  changeTrust('trust', options(root));
  expect(missed?.source.isOver?.()).toBe(false);
  changeTrust('revoke', options(root));
  expect(missed?.source.isOver?.()).toBe(true);
});

test("SEC-1: what was turned off is not missed, and nothing of another repository's trust is kept on record", async () => {
  const { root, options } = trusted();
  writeFiles(root, { '.claude/settings.local.json': '{ "disableAllHooks": true }' });
  changeTrust('trust', options(root));
  rmSync(join(root, '.git'), { recursive: true });
  expect(await guardsOf(options(root))).toEqual([]);
  rmSync(join(root, '.claude'), { recursive: true });
  changeTrust('trust', options(root));
  const { notices } = await sessionSettings(options(root));
  expect(notices).toEqual([]);
});

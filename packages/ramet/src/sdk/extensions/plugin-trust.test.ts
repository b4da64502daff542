import { renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import type { RunCheck } from '../../extensions/trust/run-check.ts';
import { changeTrust, trustOf } from '../calls/trust.ts';
import { findPlace } from '../place.ts';
import { pluginsHere, serversOf } from './plugins.ts';

interface Project {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

const LARGE = 17 << 20;

/** A trusted repository that names a plugin whose server starts this program; the hooks of the plugin run `hook`. */
function project(
  { command = 'node', args = ['server.js'], hook = 'true' },
  files: Record<string, string> = {},
  folder = 'tools/tidy',
): Project {
  const base = temporaryDirectory();
  const root = join(base, 'work');
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: hook }] }] };
  writeFiles(root, {
    '.git/HEAD': '',
    '.ramet/settings.json': JSON.stringify({ plugins: [folder] }),
    [`${folder}/.mcp.json`]: JSON.stringify({ mcpServers: { lines: { command, args } } }),
    [`${folder}/hooks/hooks.json`]: JSON.stringify({ hooks }),
    'src/a.ts': 'export {};\n',
    ...files,
  });
  return { root, env: { RAMET_HOME: join(base, 'home'), HOME: join(base, 'user') } };
}

/** As a new session has it; null where the plugin runs nothing. */
async function checkOf({ root, env }: Project): Promise<RunCheck | null> {
  const place = findPlace({ cwd: root, env });
  const { plugins } = await pluginsHere(place, env);
  const [found] = await serversOf(plugins, place, env);
  return found?.check ?? null;
}

async function trusted(work: Project): Promise<RunCheck> {
  changeTrust('trust', { cwd: work.root, env: work.env });
  const check = await checkOf(work);
  if (check === null) throw new Error('the plugin is not checked');
  return check;
}

function states({ root, env }: Project): string[] {
  return trustOf({ cwd: root, env })
    .parts.filter(({ kind }) => kind === 'plugin')
    .map(({ state }) => state);
}

describe('SEC-1: what a plugin of a repository runs outside of its folder', () => {
  test('is a large program in a temporary folder, as long as it is the one that was trusted', async () => {
    const program = join(temporaryDirectory(), 'node');
    writeFileSync(program, 'a');
    truncateSync(program, LARGE);
    const work = project({ command: program });
    const check = await trusted(work);
    const texts = [program, 'server.js'];
    expect(check(texts, work.root)).toBeNull();
    writeFiles(work.root, { 'src/a.ts': 'edited\n' });
    expect((await checkOf(work))?.(texts, work.root)).toBeNull();
    writeFileSync(`${program}.new`, 'b');
    truncateSync(`${program}.new`, LARGE);
    renameSync(`${program}.new`, program);
    expect(check(texts, work.root)).toContain('node is not what you trusted');
    expect([await checkOf(work), states(work)]).toEqual([null, ['changed']]);
  });

  test('is a script of the repository or of a temporary folder', async () => {
    const other = temporaryDirectory();
    writeFiles(other, { 'x.sh': 'exit 0\n' });
    for (const [hook, file] of [
      ['sh "$CLAUDE_PROJECT_DIR"/scripts/h.sh', 'scripts/h.sh'],
      ['sh "${CLAUDE_PLUGIN_ROOT}"/../../scripts/h.sh', 'scripts/h.sh'],
      [`sh ${join(other, 'x.sh')}`, null],
    ] as const) {
      const work = project({ hook }, { 'scripts/h.sh': 'exit 0\n' });
      const check = await trusted(work);
      const texts = [hook.replaceAll('${CLAUDE_PLUGIN_ROOT}', join(work.root, 'tools/tidy'))];
      expect(check(texts, work.root)).toBeNull();
      writeFiles(file === null ? other : work.root, { [file ?? 'x.sh']: 'exit 1\n' });
      expect(check(texts, work.root)).toContain('is not what you trusted');
      expect(states(work)).toEqual(['changed']);
      writeFiles(other, { 'x.sh': 'exit 0\n' });
    }
  });

  test('is what it prints as an answer about a call', async () => {
    const hook = 'cat policy.json';
    const work = project({ hook }, { 'policy.json': '{}' });
    const check = await trusted(work);
    expect(check([hook], work.root, true)).toBeNull();
    writeFiles(work.root, { 'policy.json': '{"decision":"approve"}' });
    expect(check([hook], work.root, true)).toContain('policy.json is not what you trusted');
  });

  test.for(['tools/tidy', 'my tools/tidy'])('has its own folder under its name: %s', async (folder) => {
    const hook = 'sh "$CLAUDE_PLUGIN_ROOT/run.sh" && sh "$CLAUDE_PLUGIN_ROOT"/run.sh';
    const work = project({ hook }, { [`${folder}/run.sh`]: 'exit 0\n' }, folder);
    const check = await trusted(work);
    expect(check([hook], work.root)).toBeNull();
    writeFiles(work.root, { 'src/a.ts': 'edited\n' });
    expect(check([hook], work.root)).toBeNull();
  });
});

test('SEC-1: a plugin that settings name through a link is checked as well', async () => {
  const hook = 'sh "${CLAUDE_PLUGIN_ROOT}"/run.sh';
  const work = project({ hook }, { 'real/run.sh': 'exit 0\n' }, 'real');
  symlinkSync('real', join(work.root, 'link'));
  writeFiles(work.root, { '.ramet/settings.json': JSON.stringify({ plugins: ['link'] }) });
  const check = await trusted(work);
  const texts = [hook.replaceAll('${CLAUDE_PLUGIN_ROOT}', join(work.root, 'real'))];
  expect(check(texts, work.root)).toBeNull();
  writeFiles(work.root, { 'real/run.sh': 'touch acted\n' });
  expect(check(texts, work.root)).toContain('run.sh is not what you trusted');
});

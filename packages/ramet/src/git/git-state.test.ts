import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runSync } from '../../test/fixtures/run-sync.ts';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { type GitState, type GitStateOptions, gitState } from './git-state.ts';

/** On a busy machine git can need longer than the second that an agent waits for it. */
const stateOf = (options: GitStateOptions): Promise<GitState> => gitState({ timeoutMs: 60_000, ...options });

const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent' };

function repository(directory: string): (...args: string[]) => string {
  const git = (...args: string[]): string =>
    runSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      cwd: directory,
    }).trim();
  git('init', '-q', '-b', 'trunk');
  return git;
}

describe('SEC-1: gitState runs nothing that the repository configures', () => {
  const marks = (directory: string): string => join(directory, '.git', 'program-ran');

  function withFilter(directory: string, configure: (git: (...args: string[]) => string) => void): void {
    const git = repository(directory);
    writeFileSync(join(directory, 'file'), 'text\n');
    writeFileSync(join(directory, '.gitattributes'), '* filter=odd"name\n');
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    configure(git);
    // Another size of timestamp makes git compare contents, through the filter.
    utimesSync(join(directory, 'file'), new Date(0), new Date(0));
  }

  test('neither a clean filter of its configuration', async ({ directory }) => {
    withFilter(directory, (git) => {
      git('config', 'filter.odd"name.clean', `touch '${marks(directory)}'; cat`);
    });
    expect(await stateOf({ directory, env })).toMatchObject({ known: true });
    expect(existsSync(marks(directory))).toBe(false);
  });

  test('nor one that its configuration includes', async ({ directory }) => {
    withFilter(directory, (git) => {
      writeFileSync(
        join(directory, '.git', 'more'),
        `[filter "odd\\"name"]\n\tclean = touch '${marks(directory)}'; cat\n`,
      );
      git('config', 'include.path', 'more');
    });
    expect(await stateOf({ directory, env })).toMatchObject({ known: true });
    expect(existsSync(marks(directory))).toBe(false);
  });
});

describe('gitState', () => {
  test('names branch, head and every kind of change', async ({ directory }) => {
    const git = repository(directory);
    for (const name of ['kept', 'edited', 'moved name', 'gone'])
      writeFileSync(join(directory, name), `${name}\n`);
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    writeFileSync(join(directory, 'edited'), 'x\n');
    git('mv', 'moved name', 'new name');
    rmSync(join(directory, 'gone'));
    writeFileSync(join(directory, 'grün'), '');
    expect(await stateOf({ directory, env })).toEqual({
      known: true,
      branch: 'trunk',
      head: git('rev-parse', 'HEAD'),
      changes: ['.M edited', '.D gone', 'R. moved name -> new name', '?? grün'],
      more: 0,
    });
    git('checkout', '-q', '--detach');
    expect(await stateOf({ directory, env })).toMatchObject({ branch: null });
  });

  test('counts what it does not list, and knows an unborn branch', async ({ directory }) => {
    repository(directory);
    for (let index = 0; index < 7; index++) writeFileSync(join(directory, `f${index}`), '');
    const state = await stateOf({ directory, env, maxLines: 3 });
    expect(state).toEqual({
      known: true,
      branch: 'trunk',
      head: null,
      changes: ['?? f0', '?? f1', '?? f2'],
      more: 4,
    });
  });

  test('is not led to another repository by the environment', async ({ directory }) => {
    repository(directory);
    expect(await stateOf({ directory, env: { ...env, GIT_DIR: '/nowhere' } })).toMatchObject({
      known: true,
    });
  });

  test('says unknown, never clean, outside a repository and where git or the directory is missing', async ({
    directory,
  }) => {
    expect(await stateOf({ directory, env })).toEqual({
      known: false,
      reason: expect.stringContaining('not a git'),
    });
    expect(await stateOf({ directory, env: { PATH: '/nonexistent' } })).toMatchObject({ known: false });
    expect(await stateOf({ directory: join(directory, 'no'), env })).toMatchObject({ known: false });
  });

  test('says unknown when git takes too long or the caller gives up', async ({ directory }) => {
    const slow = { PATH: `${join(directory, 'bin')}:${env.PATH}` };
    mkdirSync(join(directory, 'bin'));
    writeFileSync(join(directory, 'bin/git'), '#!/bin/sh\nexec sleep 60\n');
    chmodSync(join(directory, 'bin/git'), 0o755);
    expect(await stateOf({ directory, env: slow, timeoutMs: 50 })).toEqual({
      known: false,
      reason: 'git did not answer in time',
    });
    const state = await stateOf({ directory, env: slow, signal: AbortSignal.abort() });
    expect(state).toMatchObject({ known: false });
  });

  test('takes no lock and runs no program the repository names', async ({ directory }) => {
    const git = repository(directory);
    const hook = join(directory, 'hook');
    writeFileSync(hook, `#!/bin/sh\ntouch ${join(directory, 'ran')}\n`);
    chmodSync(hook, 0o755);
    git('config', 'core.fsmonitor', hook);
    writeFileSync(join(directory, '.git/index.lock'), '');
    expect(await stateOf({ directory, env })).toMatchObject({ known: true });
    expect(readdirSync(directory)).not.toContain('ran');
  });
});

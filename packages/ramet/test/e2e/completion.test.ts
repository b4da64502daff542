import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import { linesOf } from '../fixtures/command.ts';
import { runSync } from '../fixtures/run-sync.ts';
import { test, type User } from '../fixtures/user.ts';

const LAUNCHER = join(import.meta.dirname, '../../bin/ramet.js');

/** A PATH on which `ramet` is this one. */
function pathWithRamet(user: User): string {
  const folder = join(user.root, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'ramet'), `#!/bin/sh\nexec "${process.execPath}" "${LAUNCHER}" "$@"\n`);
  chmodSync(join(folder, 'ramet'), 0o755);
  return `${folder}:${user.env.PATH}`;
}

/** What a real bash offers for each list of words, after it read the script as users do. */
async function completeInBash(user: User, ...lists: string[][]): Promise<string[][]> {
  const script = `source <(ramet completion bash)
    complete -p ramet >/dev/null || exit 9
    COMP_WORDS=(ramet)
    for word; do
      [ "$word" != . ] && COMP_WORDS+=("$word") && continue
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)) COMPREPLY=()
      _ramet
      printf '%s\\n' "\${COMPREPLY[@]}" .
      COMP_WORDS=(ramet)
    done`;
  const env = { ...user.env, PATH: pathWithRamet(user) };
  const words = lists.flatMap((list) => [...list, '.']);
  const args = ['--norc', '-c', script, 'bash', ...words];
  const { stdout } = await promisify(execFile)('bash', args, { cwd: user.repository, env });
  return stdout.split('.\n').slice(0, -1).map(linesOf);
}

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

describe.concurrent('UI-1: completion in bash', () => {
  test('offers commands, flags and choices', async ({ user }) => {
    const offered: [words: string[], offers: string[]][] = [
      [['doc'], ['doctor']],
      [['-p', '--output-f'], ['--output-format']],
      [
        ['-p', '--output-format', ''],
        ['text', 'json', 'stream-json'],
      ],
      [['--model', '=', 'op'], ['opus']],
      [['completion', 'z'], ['zsh']],
    ];
    expect(await completeInBash(user, ...offered.map(([words]) => words))).toEqual(
      offered.map(([, offers]) => offers),
    );
  });

  test('works where ramet is an alias, from a path with blanks and quotes', ({ user }) => {
    const folder = join(user.root, "it's a folder");
    mkdirSync(folder);
    symlinkSync(LAUNCHER, join(folder, 'ramet.js'));
    const script = `shopt -s expand_aliases
      alias ramet='"$NODE" "$FOLDER/ramet.js"'
      source <(ramet completion bash)
      COMP_WORDS=(ramet doc) COMP_CWORD=1
      _ramet
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { ...user.env, NODE: process.execPath, FOLDER: folder };
    const options = { cwd: user.repository, env, input: script, encoding: 'utf8' } as const;
    expect(linesOf(runSync('bash', ['--norc'], options))).toEqual(['doctor']);
  });

  test('offers the branches of this repository where one is wanted', async ({ user }) => {
    runSync('git', ['branch', 'ramet/one'], { cwd: user.repository });
    const [into, begun] = await completeInBash(user, ['merge', '--into', ''], ['merge', 'r']);
    expect(into?.sort()).toEqual(['main', 'ramet/one']);
    expect(begun).toEqual(['ramet/one']);
  });

  test('offers the sessions of this repository where one is wanted', async ({ user }) => {
    await user.emulate({ respond: () => ({ text: 'ok' }) });
    await user.ramet(['-p', 'x']);
    await user.here(['-p', 'y']);
    const sessions = user.sessions().sort();
    expect(sessions).toHaveLength(2);
    const [first = ''] = sessions;
    const wanted = [
      ['show', ''],
      ['logs', ''],
      ['cost', ''],
      ['-p', '--resume', ''],
    ];
    const offered = await completeInBash(user, ...wanted, ['show', first.slice(0, 6)]);
    expect(offered.pop()).toContain(first);
    expect(offered.map((offers) => offers.sort())).toEqual(wanted.map(() => sessions));
  });

  test('stays silent when sessions cannot be listed', async ({ user }) => {
    writeFileSync(user.rametHome, 'in the way');
    expect(await completeInBash(user, ['show', 'x'])).toEqual([[]]);
  });
});

describe.concurrent('UI-1: completion in other shells', () => {
  test.for(['zsh', 'fish'] as const)('%s gets a script that asks ramet', async (shell, { user }) => {
    const { code, stdout } = await user.here(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain(`ramet completion ${shell}`);
    expect(stdout).toContain(' complete -- ');
    // Where the shell is installed it also has to accept the script; elsewhere the text is all there is.
    if (!isInstalled(shell)) return;
    const file = join(user.root, 'script');
    writeFileSync(file, stdout);
    expect(spawnSync(shell, ['-n', file], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  test('each suggestion comes with its description, file names with a mark', async ({ user }) => {
    const found = await user.here(['complete', '--', 'doc']);
    expect(found.stdout).toMatch(/^doctor\t\S.*\n$/);
    expect((await user.here(['complete', '--', 'emulate', '--scenario', ''])).stdout).toBe(':files\n');
  });

  test('a shell that is not known is refused', async ({ user }) => {
    const end = await user.here(['completion', 'csh']);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(end.stderr)).toEqual([expect.stringContaining('Allowed choices are bash, zsh, fish.')]);
  });
});

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { PERSON, sharedCheckout } from '../../../test/fixtures/shared-checkout.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { createCheckouts } from './checkout.ts';

const ONE = 'aaaaaaaa.1';

describe('WORK-1: git commands of agents wait for each other', () => {
  test('so that none of many at once fails on a lock', async ({ directory }) => {
    const { git, agent } = sharedCheckout(directory);
    const one = agent(ONE);
    const commands = Array.from({ length: 8 }, (_, number) =>
      one.sh(
        `for i in 1 2 3; do git commit -q --allow-empty -m "${number}-$i" || exit 1; git update-index --refresh; done`,
      ),
    );
    expect(await Promise.all(commands)).toEqual(Array.from({ length: 8 }, () => '(no output)'));
    expect(git('rev-list', '--count', 'HEAD').trim()).toBe('25');
  });

  test('also when one is killed while it holds the lock, or starts what outlives it', async ({
    directory,
  }) => {
    const { root, home, agent } = sharedCheckout(directory);
    const one = agent(ONE);
    const env = createCheckouts({ home, environment: PERSON }).at(root)?.environment ?? {};
    writeFileSync(
      join(root, '.git/hooks/pre-commit'),
      '#!/bin/sh\nsleep 600 </dev/null >/dev/null 2>&1 &\necho $! > ../daemon\necho begun; [ -e ../go ] || sleep 600\n',
      { mode: 0o755 },
    );
    const held = spawn('git', ['commit', '--allow-empty', '-m', 'held'], { cwd: root, env, detached: true });
    await once(held.stderr, 'data');
    process.kill(-(held.pid ?? 0), 'SIGKILL');
    writeFileSync(join(root, '../go'), '');
    expect(await one.sh('git commit -q --allow-empty -m next; kill $(cat ../daemon)')).toContain('begun');
  });

  test('and the shim is git itself: arguments, input, exit code, signal, aliases, hooks, worktrees', async ({
    directory,
  }) => {
    const { root, git, agent } = sharedCheckout(directory);
    const one = agent(ONE);
    git('config', 'alias.ci', 'commit -q');
    git('config', 'alias.hi', '!echo hi');
    writeFileSync(join(root, '.git/hooks/pre-commit'), '#!/bin/sh\ngit add hooked.txt\n', { mode: 0o755 });
    writeFileSync(join(root, 'hooked.txt'), 'x\n');
    expect(await one.sh(`printf 'a  "b"\\n\\nc' | git ci -F - --allow-empty; git log -1 --format=%B`)).toBe(
      'a  "b"\n\nc',
    );
    expect(git('show', '--name-only', '--format=', 'HEAD')).toBe('hooked.txt\n');
    expect(await one.sh('git hi; git commit -qm empty; echo $?')).toMatch(/^hi\n[\s\S]*1$/);
    expect(await one.sh('git nonsense; echo $?; git --version; git')).toMatch(
      /'nonsense'[\s\S]*\n1\ngit version/,
    );
    expect(
      await one.sh(
        'git worktree add -q ../tree && cd ../tree && git commit -q --allow-empty -m t && git log -1 --format=%s',
      ),
    ).toBe('t');
    expect(
      await one.sh(
        'mkdir -p x/y && cd x/y && git -C .. -C .. add -n hooked.txt; git --git-dir=../../.git --work-tree=../.. rm -q --cached ../../hooked.txt; cd ../..; git status --short',
      ),
    ).toBe('D  hooked.txt\n?? hooked.txt');
    expect(await one.sh('cd .. && git add x')).toContain('not a git repository');
    expect(await one.sh('git init -q --bare ../bare.git && cd ../bare.git && git add x')).toContain(
      'work tree',
    );
    const told = await one.sh(
      `bash -c 'git commit --allow-empty -m "$(kill -9 $$)"'; git config core.editor 'kill -TERM $PPID; :'; git commit --allow-empty; echo $?`,
    );
    expect(told).toMatch(/143$/);
  });

  test('outside a repository, without git, and without flock', async ({ directory }) => {
    expect(createCheckouts({ home: directory, environment: PERSON }).at(directory)).toBeNull();
    const { root, home } = sharedCheckout(directory);
    const gitless = createCheckouts({ home, environment: { PATH: '/nonexistent' } }).at(root);
    expect(gitless?.environment).toEqual({ PATH: '/nonexistent' });
    const bin = join(directory, 'bin');
    mkdirSync(bin);
    for (const name of ['git', 'sh', 'env']) {
      const found = runSync('sh', ['-c', `command -v ${name}`], {}).trim();
      symlinkSync(found, join(bin, name));
    }
    const flockless = createCheckouts({ home, environment: { ...PERSON, PATH: bin } }).at(root);
    const env = { ...flockless?.environment, RAMET_AGENT: ONE };
    const result = spawnSync('git', ['commit', '-q', '--allow-empty', '-m', 'no flock'], { cwd: root, env });
    expect([result.status, String(result.stderr)]).toEqual([0, '']);
    expect(existsSync(join(flockless?.state ?? '', 'git-lock.sqlite'))).toBe(true);
  });

  test('and an index.lock that was left behind is reported, and left alone', async ({ directory }) => {
    const { root, agent } = sharedCheckout(directory);
    const lock = join(root, '.git/index.lock');
    writeFileSync(lock, '');
    chmodSync(lock, 0o600);
    expect(await agent(ONE).sh('git add a.txt')).toMatch(
      /index\.lock has been there for over 5 s[\s\S]*Exit code 128/,
    );
    expect(existsSync(lock)).toBe(true);
  });
});

describe('WORK-6: commits of agents', () => {
  test('say who made them and for what, once, also when another agent lives there', async ({ directory }) => {
    const { root, git, agent } = sharedCheckout(directory);
    const one = agent(ONE);
    const trailers = (): string =>
      git('log', '-1', '--format=%(trailers:key=Ramet-Agent,key=Ramet-Session,separator=%x2C)').trim();
    await one.sh(
      'git commit -q --allow-empty -m "alone" -- 2>&1; git commit -q --amend --no-edit --allow-empty',
    );
    expect(trailers()).toBe(`Ramet-Agent: ${ONE},Ramet-Session: aaaaaaaa`);
    expect(git('log', '-1', '--format=%s').trim()).toBe('alone');
    agent('bbbbbbbb.2');
    writeFileSync(join(root, 'own.txt'), 'x\n');
    await one.sh('git add own.txt && git -c core.abbrev=9 commit -qm "beside another"');
    expect(git('log', '-1', '--format=%s').trim()).toBe('beside another');
    expect(trailers()).toBe(`Ramet-Agent: ${ONE},Ramet-Session: aaaaaaaa`);
  });

  test('in other repositories, and those of a person, say nothing', async ({ directory }) => {
    const { git, agent } = sharedCheckout(directory);
    const other =
      'git init -q ../other && cd ../other && git commit -q --allow-empty -m other && git log -1 --format=%B';
    expect(await agent(ONE).sh(other)).toBe('other');
    git('commit', '-q', '--allow-empty', '-m', 'mine');
    expect(git('log', '-1', '--format=%B').trim()).toBe('mine');
  });
});

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSync } from '../../test/fixtures/run-sync.ts';
import { workingSandbox } from '../../test/fixtures/sandbox.ts';
import { temporaryDirectory, writeFiles } from '../../test/fixtures/temporary.ts';
import {
  isolatedStart,
  prepareCaches,
  privateCaches,
  proveBounds,
  runIsolated,
  type ShellBounds,
} from './isolated-shell.ts';

/** A home with the caches of two tools, and bounds in which only they can be written. */
function place(): {
  home: string;
  project: string;
  cwd: string;
  env: { PATH: string; HOME: string; TMUX_TMPDIR: string };
  bounds: ShellBounds;
} {
  const base = temporaryDirectory();
  const [home, project, cwd] = [join(base, 'home'), join(base, 'ramet/project'), join(base, 'work')];
  mkdirSync(cwd);
  writeFiles(home, {
    '.gradle/init.d/own.gradle': 'own\n',
    '.gradle/caches/a.jar': 'jar\n',
    '.cargo/bin/tool': 'tool\n',
    '.cargo/registry/src/crate/lib.rs': 'crate\n',
    '.cache/pre-commit/hook': 'hook\n',
  });
  mkdirSync(join(base, 't'));
  const env = { PATH: process.env.PATH ?? '', HOME: home, TMUX_TMPDIR: join(base, 't') };
  const caches = privateCaches(env, project);
  return { home, project, cwd, env, bounds: { shared: [], caches, guarded: [home], own: [cwd], made: [] } };
}

describe('WORK-7: caches of tools in a worktree', () => {
  test('code that an agent plants in one is never in the user’s own', async ({ skip }) => {
    const { program } = await workingSandbox(skip);
    const { home, cwd, env, bounds } = place();
    const held = { ...bounds, guarded: [] };
    expect(await proveBounds(program, held, cwd, env)).toBe('held');
    const script =
      'cd; echo evil > .gradle/caches/a.jar; mkdir -p .gradle/more && echo evil > .gradle/more/x; echo evil > .cargo/registry/src/crate/lib.rs; ' +
      'echo evil > .cache/planted; for f in .cargo/bin/tool .cargo/bin/new .gradle/init.d/own.gradle .gradle/init.d/new.gradle .bashrc; do echo evil 2>/dev/null > $f; done; ' +
      'cat .gradle/caches/a.jar .gradle/init.d/own.gradle .cargo/registry/src/crate/lib.rs .cargo/bin/tool; ls -A .cache';
    const run = async (command: string): Promise<string> =>
      (await runIsolated(program, isolatedStart(held, cwd, command), { env })).stdout;
    expect(await run(script)).toBe('evil\nown\nevil\ntool\nplanted\n');
    // The next agent of the repository has it; the user does not.
    expect(await run('cat ~/.gradle/more/x')).toBe('evil\n');
    expect(execFileSync('grep', ['-rc', '', home], { encoding: 'utf8' })).not.toContain('planted');
    for (const path of [
      '.gradle/caches/a.jar',
      '.cargo/registry/src/crate/lib.rs',
      '.cargo/bin/tool',
      '.gradle/init.d/own.gradle',
    ])
      expect(readFileSync(join(home, path), 'utf8')).not.toContain('evil');
    for (const path of ['.gradle/more', '.cargo/bin/new', '.gradle/init.d/new.gradle', '.bashrc'])
      expect(existsSync(join(home, path))).toBe(false);
  });

  test('what an agent leaves in the way does not keep the sandbox of the next from starting', async ({
    skip,
  }) => {
    const { program } = await workingSandbox(skip);
    const { cwd, env, bounds, home } = place();
    const held = { ...bounds, guarded: [] };
    await prepareCaches(held.caches);
    const gradle = held.caches.find(({ folder }) => folder === join(home, '.gradle'))?.copy ?? '';
    runSync('rm', ['-r', join(gradle, 'init.d')]);
    symlinkSync('/nowhere', join(gradle, 'init.d'));
    execFileSync('chmod', ['000', gradle]);
    expect(await proveBounds(program, held, cwd, env)).toBe('held');
    const start = isolatedStart(held, cwd, 'cat ~/.gradle/init.d/*');
    expect((await runIsolated(program, start, { env })).stdout).toBe('own\n');
  });

  test('agents have a tmux of their own, which the next command finds, and do not reach the user’s', async ({
    skip,
  }) => {
    const { program } = await workingSandbox(skip);
    const { cwd, env, bounds } = place();
    const user = `tmux-${process.getuid?.() ?? 0}`;
    const held = { ...bounds, shared: [env.TMUX_TMPDIR], guarded: [] };
    const run = async (command: string): Promise<string> =>
      (await runIsolated(program, isolatedStart(held, cwd, command), { env })).stdout;
    expect(await proveBounds(program, held, cwd, env)).toBe('held');
    const folder = join(env.TMUX_TMPDIR, user);
    // The user starts his later.
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    writeFileSync(join(folder, 'default'), 'the user’s');
    expect(await run(`cd "$TMUX_TMPDIR/${user}" && ls && stat -c %a . && echo x > own`)).toBe('700\n');
    expect(await run(`ls "$TMUX_TMPDIR/${user}"`)).toBe('own\n');
    expect(readdirSync(folder)).toEqual(['default']);
  });

  test('two processes that come at the same time prepare one copy', async () => {
    const { bounds, home } = place();
    await Promise.all([prepareCaches(bounds.caches), prepareCaches(bounds.caches)]);
    const made = bounds.caches
      .filter(({ folder, copy }) => folder.startsWith(home) && existsSync(copy))
      .map(({ folder }) => folder.slice(home.length));
    expect(made).toEqual(['/.cache', '/.cargo/registry', '/.gradle']);
    const [disposable] = bounds.caches;
    expect(existsSync(join(disposable?.copy ?? '', 'pre-commit'))).toBe(false);
    writeFileSync(join(home, '.gradle/new'), '');
    await prepareCaches(bounds.caches);
    expect(
      existsSync(join(bounds.caches.find(({ folder }) => folder.endsWith('.gradle'))?.copy ?? '', 'new')),
    ).toBe(false);
  });
});

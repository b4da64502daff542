import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../test/fixtures/command.ts';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { createCommandSandbox, plainShell, type ShellDecision } from './command-sandbox.ts';
import type { ShellBounds } from './isolated-shell.ts';

/** An environment in which bubblewrap refuses, and leaves a mark when it is tried. */
function refusing(): { env: { PATH: string }; tried: () => boolean } {
  const folder = temporaryDirectory();
  const mark = join(folder, 'tried');
  writeFileSync(join(folder, 'bwrap'), `#!/bin/bash\ntouch ${mark}\necho 'bwrap: forbidden' >&2\nexit 1\n`);
  chmodSync(join(folder, 'bwrap'), 0o755);
  return {
    env: { PATH: `${folder}${delimiter}${process.env.PATH ?? ''}` },
    tried: () => existsSync(mark),
  };
}

/** An environment in which bubblewrap starts what `which` matches only when it is let. */
function slow(which = '*'): { env: { PATH: string }; letStart: () => void } {
  const folder = temporaryDirectory();
  const go = join(folder, 'go');
  // A fake that stays behind ends with its folder.
  const wait = `until [ -e ${go} ] || [ ! -d ${folder} ]; do sleep 0.02; done`;
  const script = `#!/bin/bash\ncase "$*" in ${which}) ${wait};; esac\necho held\n`;
  writeFileSync(join(folder, 'bwrap'), script);
  chmodSync(join(folder, 'bwrap'), 0o755);
  const PATH = `${folder}${delimiter}${process.env.PATH ?? ''}`;
  return { env: { PATH }, letStart: () => writeFileSync(go, '') };
}

const plain = plainShell('ls');

describe('RES-3: where commands run that were judged to only read', () => {
  test('auto: without a sandbox by themselves, and that is told once, with what to do', async () => {
    const sandbox = createCommandSandbox('auto', refusing().env);
    expect(await sandbox.wall()).toBe(false);
    const told: string[] = [];
    const tell = (notice: string): void => void told.push(notice);
    expect(await sandbox.judgedShell(plain, null)).toMatchObject({ program: 'bash' });
    for (const command of ['ls', 'pwd']) {
      expect(await sandbox.judgedShell(plainShell(command), tell)).toMatchObject({
        program: 'bash',
        arguments: ['-c', command],
        confined: false,
      });
    }
    expect(told).toEqual([
      expect.stringMatching(
        /^no OS sandbox: bubblewrap cannot start: forbidden; read-only agents are held by the strict rules for commands alone \(allow unprivileged user namespaces on this machine.*; sandbox.readOnly: off says nothing\)$/,
      ),
    ]);
  });

  test('required: without a sandbox nowhere', async () => {
    const sandbox = createCommandSandbox('required', { PATH: temporaryDirectory() });
    const refusal =
      'No command can run: the setting sandbox.readOnly requires an OS sandbox, and bubblewrap (bwrap) is not on the PATH. (For the user: install bubblewrap.)';
    expect(await sandbox.shell('ls', '/')).toEqual({ refusal });
    expect(await sandbox.judgedShell(plain, null)).toEqual({ refusal });
  });

  test('what only the sandbox makes harmless never runs without it', async () => {
    for (const mode of ['auto', 'off'] as const) {
      const sandbox = createCommandSandbox(mode, { PATH: temporaryDirectory() });
      expect(await sandbox.shell('ls', '/')).toEqual({ refusal: expect.any(String) });
    }
  });

  test('off: by themselves, and no sandbox is tried', async () => {
    const { env, tried } = refusing();
    const sandbox = createCommandSandbox('off', env);
    sandbox.prepare();
    expect(await sandbox.wall()).toBe(false);
    expect(await sandbox.judgedShell(plain, () => {})).toMatchObject({ program: 'bash' });
    expect(tried()).toBe(false);
  });

  test('git keeps no notes for them, with a sandbox or without', async () => {
    for (const mode of ['auto', 'off'] as const) {
      const sandbox = createCommandSandbox(mode, { PATH: process.env.PATH ?? '' });
      expect(await sandbox.judgedShell(plain, null)).toMatchObject({
        environment: { GIT_OPTIONAL_LOCKS: '0' },
      });
    }
  });
});

/** Perhaps behind a shell that closes what the tests have inherited. */
function runsBubblewrap(shell: ShellDecision): boolean {
  return 'program' in shell && [shell.program, ...shell.arguments].some((word) => word.endsWith('/bwrap'));
}

describe('WORK-7: where commands of agents in worktrees run', () => {
  const bounds: ShellBounds = { shared: [], caches: [], guarded: [], own: [], made: [] };

  test('auto: without a sandbox by themselves, and that is told once, with what to do', async () => {
    const sandbox = createCommandSandbox('off', refusing().env);
    const told: string[] = [];
    for (const command of ['ls', 'pwd']) {
      const shell = await sandbox.isolatedShell(command, '/', bounds, (notice) => void told.push(notice));
      expect(shell).toMatchObject({ program: 'bash', arguments: ['-c', command], confined: false });
    }
    expect(told).toEqual([
      expect.stringMatching(
        /^no OS sandbox: bubblewrap cannot start: forbidden; commands in worktrees are held by the command parser alone \(allow unprivileged user namespaces on this machine.*; sandbox.worktree: off says nothing\)$/,
      ),
    ]);
  });

  test('required: without a sandbox nowhere', async () => {
    const sandbox = createCommandSandbox('off', { PATH: temporaryDirectory() }, 'required');
    expect(await sandbox.isolatedShell('ls', '/', bounds, () => {})).toEqual({
      refusal:
        'No command can run: the setting sandbox.worktree requires an OS sandbox, and bubblewrap (bwrap) is not on the PATH. (For the user: install bubblewrap.)',
    });
  });

  test('off: by themselves, and no sandbox is tried', async () => {
    const { env, tried } = refusing();
    const sandbox = createCommandSandbox('auto', env, 'off');
    expect(await sandbox.isolatedShell('ls', '/', bounds, () => {})).toMatchObject({ program: 'bash' });
    expect(tried()).toBe(false);
  });

  test('a sandbox that works, and does not hold these bounds, is none', async () => {
    const folder = temporaryDirectory();
    // Holds the file that is tried first, and nothing else.
    writeFileSync(join(folder, 'bwrap'), '#!/bin/bash\ncase "$*" in *held*) echo held;; *) exit 2;; esac\n');
    chmodSync(join(folder, 'bwrap'), 0o755);
    const told: string[] = [];
    const sandbox = createCommandSandbox('off', { PATH: `${folder}${delimiter}${process.env.PATH ?? ''}` });
    const shell = await sandbox.isolatedShell('ls', '/', bounds, (notice) => void told.push(notice));
    expect(shell).toMatchObject({ program: 'bash', arguments: ['-c', 'ls'] });
    expect(told).toEqual([expect.stringContaining('bubblewrap does not hold here')]);
  });

  test('a sandbox that is slow to start is waited for, and that is told once', async () => {
    const { env, letStart } = slow();
    const waits: string[] = [];
    const told: string[] = [];
    const onSlow = (notice: string): void => void waits.push(notice);
    const sandbox = createCommandSandbox('auto', env, 'auto', { onSlow, tellAfterMs: 10 });
    const shell = sandbox.isolatedShell('ls', '/', bounds, (notice) => void told.push(notice));
    const wall = sandbox.wall();
    await eventually(() => waits.length > 0);
    letStart();
    expect(await shell).toSatisfy(runsBubblewrap);
    expect([await wall, await sandbox.isolationNotice(), told]).toEqual([true, null, []]);
    expect(waits).toEqual(['waiting for the OS sandbox: bubblewrap has not started after 0.01 s']);
  });

  test('one that starts in time holds, and nothing is told', async () => {
    const { env, letStart } = slow();
    letStart();
    const told: string[] = [];
    const tell = (notice: string): void => void told.push(notice);
    const sandbox = createCommandSandbox('auto', env, 'auto', { onSlow: tell, tellAfterMs: 60_000 });
    for (const command of ['ls', 'pwd'])
      expect(await sandbox.isolatedShell(command, '/', bounds, tell)).toSatisfy(runsBubblewrap);
    expect(told).toEqual([]);
  });

  test('one that does not start in time is no refusal: it is told as such, and holds as soon as it has started', async () => {
    const { env, letStart } = slow();
    const told: string[] = [];
    const tell = (notice: string): void => void told.push(notice);
    const sandbox = createCommandSandbox('auto', env, 'auto', { limitMs: 1_000 });
    const isHeld = async (): Promise<boolean> => {
      const shell = await sandbox.isolatedShell('ls', '/', bounds, tell);
      return runsBubblewrap(shell);
    };
    expect(await isHeld()).toBe(false);
    expect(await isHeld()).toBe(false);
    expect(told).toEqual([
      'no OS sandbox: bubblewrap has not started after 1 s; commands in worktrees are held by the command parser alone until it has started ' +
        '(the machine may be overloaded: start fewer agents and other programs at the same time; with sandbox.worktree: required nothing runs without)',
    ]);
    letStart();
    await eventually(isHeld);
  });

  test('required: what is slow refuses commands until it has started', async () => {
    const { env, letStart } = slow();
    const sandbox = createCommandSandbox('off', env, 'required', { limitMs: 1_000 });
    expect(await sandbox.isolationRefusal()).toBe(
      'the setting sandbox.worktree requires an OS sandbox, and bubblewrap has not started after 1 s (for the user: the machine may be overloaded: start fewer agents and other programs at the same time)',
    );
    letStart();
    await eventually(async () => (await sandbox.isolationRefusal()) === null);
  });

  test('bounds whose proof is slow are not taken for bounds that do not hold', async () => {
    const { env, letStart } = slow('*"test -w"*');
    const told: string[] = [];
    const sandbox = createCommandSandbox('off', env, 'auto', { limitMs: 1_000 });
    const isHeld = async (): Promise<boolean> => {
      const shell = await sandbox.isolatedShell('ls', '/', bounds, (notice) => void told.push(notice));
      return runsBubblewrap(shell);
    };
    expect(await isHeld()).toBe(false);
    expect(told).toEqual([expect.stringContaining('overloaded')]);
    letStart();
    await eventually(isHeld);
  });
});

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { commandList, heldPlace } from '../../test/fixtures/held-place.ts';
import { withoutSandbox, workingSandbox } from '../../test/fixtures/sandbox.ts';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { tryBubblewrap } from './bubblewrap.ts';

const PATH = process.env.PATH ?? '';

/** A PATH on which `bwrap` is the script. */
function pathWith(script: string): { PATH: string; folder: string } {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'bwrap'), `#!/bin/bash\n${script}\n`);
  chmodSync(join(folder, 'bwrap'), 0o755);
  return { PATH: `${folder}${delimiter}${PATH}`, folder };
}

describe('TYPE-2: a sandbox that is not what it should be', () => {
  test('is missing', async () => {
    expect(await tryBubblewrap({ PATH: temporaryDirectory() })).toEqual({
      works: false,
      reason: 'bubblewrap (bwrap) is not on the PATH',
      remedy: 'install bubblewrap',
    });
  });

  test('is in a place that depends on the directory', async () => {
    expect(await tryBubblewrap({ PATH: `.${delimiter}bin` })).toMatchObject({ works: false });
  });

  test('refuses, with what it said', async () => {
    const env = pathWith('echo "bwrap: No permissions to create new namespace" >&2; echo more >&2; exit 1');
    expect(await tryBubblewrap(env)).toEqual({
      works: false,
      reason: 'bubblewrap cannot start: No permissions to create new namespace',
      remedy: expect.stringContaining('allow unprivileged user namespaces on this machine'),
    });
    expect(await tryBubblewrap(pathWith('exit 3'))).toMatchObject({
      reason: 'bubblewrap cannot start: exit code 3',
    });
  });

  test('is no program at all', async () => {
    const { PATH: path, folder } = pathWith('');
    writeFileSync(join(folder, 'bwrap'), '#!/nowhere/bash\n');
    expect(await tryBubblewrap({ PATH: path })).toMatchObject({
      works: false,
      reason: expect.stringContaining('cannot be started'),
    });
  });

  test('is slow, and ended with whatever it started, although it ignores being asked', async () => {
    const env = pathWith(
      `trap '' TERM INT HUP; echo $$ > "\${0%/*}/pid"; sleep 1000 & sleep 1000; sleep 1000`,
    );
    const state = await tryBubblewrap(env, { limitMs: 2_000 });
    expect(state).toEqual({
      ...{ works: false, isSlow: true, reason: 'bubblewrap has not started after 2 s' },
      remedy: 'the machine may be overloaded: start fewer agents and other programs at the same time',
    });
    const pid = Number(readFileSync(join(env.folder, 'pid'), 'utf8'));
    const members = (): string => {
      const all = execFileSync('ps', ['-eo', 'pgid=,stat='], { encoding: 'utf8' });
      return all
        .split('\n')
        .filter((line) => new RegExp(`^ *${pid} [^Z]`).test(line))
        .join();
    };
    while (members() !== '') await sleep(10);
  });

  test('holds nothing: the command is carried out as it is', async () => {
    const env = pathWith('while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
    expect(await tryBubblewrap(env)).toMatchObject({
      works: false,
      reason: expect.stringContaining('does not hold what it runs'),
    });
    expect(await tryBubblewrap(pathWith('exit 0'))).toMatchObject({ works: false });
  });

  test('knows no filter for the processor', async () => {
    expect(await tryBubblewrap({ PATH }, { architecture: 'riscv64' })).toEqual({
      works: false,
      reason: 'not available for riscv64',
      remedy: null,
    });
  });

  test('holds files, and leaves rights or system calls as they are', async ({ skip }) => {
    const { program } = await workingSandbox(skip);
    for (const [option, count] of [
      ['--seccomp', 2],
      ['--cap-drop', 2],
    ] as const) {
      const drop = `words=(); while [ $# -gt 0 ]; do if [ "$1" = ${option} ]; then shift ${count}; else words+=("$1"); shift; fi; done`;
      expect(await tryBubblewrap(pathWith(`${drop}; exec ${program} "\${words[@]}"`))).toMatchObject({
        works: process.getuid?.() !== 0 && option === '--cap-drop',
      });
    }
  });

  test('is one of another system', async () => {
    expect(await tryBubblewrap({ PATH }, { platform: 'plan9' })).toEqual({
      works: false,
      reason: 'not available for plan9',
      remedy: null,
    });
  });
});

describe('tests where there is no sandbox', () => {
  const skipped: unknown[] = [];
  const skip = (note: unknown): never => {
    skipped.push(note);
    throw new Error('skipped');
  };

  test('are skipped with the reason, and fail where a sandbox is required', () => {
    expect(() => withoutSandbox('no namespaces', skip, 'auto')).toThrow('skipped');
    expect(skipped).toEqual(['no sandbox here: no namespaces']);
    expect(() => withoutSandbox('no namespaces', skip, 'required')).toThrow(
      'a sandbox is required: no namespaces',
    );
    expect(skipped).toHaveLength(1);
  });
});

describe('TYPE-2: a sandbox that works', () => {
  test('keeps every way of writing from the files, without any parser', { timeout: 120_000 }, async ({
    skip,
  }) => {
    const place = heldPlace();
    const sandbox = await workingSandbox(skip);
    const before = place.look();
    const waiting = commandList('write-attempts.txt');
    const { env } = place;
    const worker = async (): Promise<void> => {
      for (let command = waiting.pop(); command !== undefined; command = waiting.pop()) {
        // Some of these wait for a terminal or a network that never comes.
        await sandbox.run(command, { cwd: place.repository, env, limitMs: 3_000 });
      }
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    expect(place.look()).toEqual(before);
  });

  test('lets reading commands do what they do, scratch files included', async ({ skip }) => {
    const place = heldPlace();
    const sandbox = await workingSandbox(skip);
    const run = async (command: string): Promise<string> =>
      (await sandbox.run(command, { cwd: place.repository, env: place.env })).output;
    expect(await run('pwd; git log --format=%s')).toBe(`${place.repository}\nsecond\nstart\n`);
    expect(await run('seq 200000 | sort -S 64k -rn | head -1')).toBe('200000\n');
    expect(await run(`cat <<'EOF' | wc -c\n${'x'.repeat(100_000)}\nEOF`)).toBe('100001\n');
    expect(await run('echo $PPID; cat /proc/1/comm')).toBe('1\nbwrap\n');
    expect(
      await run('echo a > "$TMPDIR/a" && cat "$TMPDIR/a" && diff <(echo a) <(echo a) && echo same'),
    ).toBe('a\nsame\n');
    expect(existsSync(join(place.repository, 'new'))).toBe(false);
  });
});

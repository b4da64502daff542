import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { commandList, heldPlace } from '../../test/fixtures/held-place.ts';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { bubblewrapArguments, tryBubblewrap } from './bubblewrap.ts';

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

  test('stands in a place that depends on the directory', async () => {
    expect(await tryBubblewrap({ PATH: `.${delimiter}bin` })).toMatchObject({ works: false });
  });

  test('refuses, with what it said', async () => {
    const env = pathWith('echo "bwrap: No permissions to create new namespace" >&2; echo more >&2; exit 1');
    expect(await tryBubblewrap(env)).toEqual({
      works: false,
      reason: 'bubblewrap cannot start: No permissions to create new namespace',
      remedy: 'allow unprivileged user namespaces on this machine',
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
    expect(state).toMatchObject({ works: false, reason: 'bubblewrap does not start within 2000 ms' });
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
      reason: expect.stringContaining('does not keep files from being written'),
    });
    expect(await tryBubblewrap(pathWith('exit 0'))).toMatchObject({ works: false });
  });

  test('is one of another system', async () => {
    expect(await tryBubblewrap({ PATH }, { platform: 'plan9' })).toEqual({
      works: false,
      reason: 'there is none for plan9',
      remedy: null,
    });
  });
});

describe('TYPE-2: a sandbox that works', () => {
  test('keeps every way of writing from the files, without any parser', { timeout: 120_000 }, async ({
    skip,
  }) => {
    const place = heldPlace();
    const state = await tryBubblewrap(place.env);
    if (!state.works) return skip(`no sandbox here: ${state.reason}`);
    const before = place.look();
    const waiting = commandList('write-attempts.txt');
    const worker = async (): Promise<void> => {
      for (let command = waiting.pop(); command !== undefined; command = waiting.pop()) {
        await runQuietly(state.program, bubblewrapArguments(command, place.repository), place.env);
      }
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    expect(place.look()).toEqual(before);
  });

  test('lets reading commands do what they do, scratch files included', async ({ skip }) => {
    const place = heldPlace();
    const state = await tryBubblewrap(place.env);
    if (!state.works) return skip(`no sandbox here: ${state.reason}`);
    const run = (command: string): string =>
      execFileSync(state.program, bubblewrapArguments(command, place.repository), {
        env: place.env,
        encoding: 'utf8',
      });
    expect(run('pwd; git log --format=%s')).toBe(`${place.repository}\nsecond\nstart\n`);
    expect(run('seq 200000 | sort -S 64k -rn | head -1')).toBe('200000\n');
    expect(run(`cat <<'EOF' | wc -c\n${'x'.repeat(100_000)}\nEOF`)).toBe('100001\n');
    expect(run('echo $PPID; cat /proc/1/comm')).toBe('1\nbwrap\n');
    expect(existsSync(join(place.repository, 'new'))).toBe(false);
  });
});

/** Some of these wait for a terminal or a network that never comes. */
async function runQuietly(
  program: string,
  words: readonly string[],
  env: Record<string, string>,
): Promise<void> {
  const { spawn } = await import('node:child_process');
  const child = spawn(program, words, { env, stdio: 'ignore', detached: true, timeout: 3_000 });
  await new Promise((settle) => child.once('close', settle));
}

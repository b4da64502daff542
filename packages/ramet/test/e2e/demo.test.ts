import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually, linesOf } from '../fixtures/command.ts';
import { test } from '../fixtures/user.ts';

describe.concurrent('UI-1: ramet demo', () => {
  test('forks into five and shows their work, the change and the bill, and leaves nothing behind', async ({
    user,
  }) => {
    const end = await user.ramet(['demo']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    for (const shown of [
      'The task\n  See what is wrong, let five agents mend one file each, and check.',
      '  Done: 3 steps carried out.',
      ' 5 files changed, 5 insertions(+), 5 deletions(-)',
    ]) {
      expect(end.stdout).toContain(shown);
    }
    for (const file of ['leap-year.js', 'median.js', 'plural.js', 'roman.js', 'slug.js']) {
      expect(end.stdout).toMatch(new RegExp(`^  fork [2-6] +Write ${file} +refused: not read yet$`, 'm'));
      expect(end.stdout).toMatch(new RegExp(`^  [├└]─ fork: mend ${file} +done +5 turns .* ${file}$`, 'm'));
      expect(end.stdout).toMatch(new RegExp(`^    mend ${file} +.* \\d\\d% +\\$0\\.\\d{4}$`, 'm'));
    }
    expect(end.stdout).toMatch(/^ {2}main .* \$0\.\d{4}$/m);
    expect(end.stdout).toMatch(/^ {2}in all .* \$0\.\d{4}$/m);
    const [, times] = /: 5 agents for the price of (\d\.\d)\.$/m.exec(end.stdout) ?? [];
    expect(Number(times)).toBeGreaterThan(1);
    expect(Number(times)).toBeLessThan(4);
    expect(Math.max(...linesOf(end.stdout).map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(readdirSync(join(user.root, 'tmp'))).toEqual([]);
    expect(existsSync(user.rametHome)).toBe(false);
  });

  test('needs no key, no git identity and no repository; keeps its folder when asked to, and says how to look around', async ({
    user,
  }) => {
    const broken = join(user.root, 'home/.gitconfig');
    writeFileSync(broken, '[commit]\n\tgpgsign = true\n[user]\n\tuseConfigOnly = true\n');
    const env = {
      ANTHROPIC_API_KEY: undefined,
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
      HTTP_PROXY: 'http://127.0.0.1:1',
      RAMET_MODEL_SONNET: 'unheard-of',
    };
    const end = await user.ramet(['demo', '--keep'], { cwd: '/', env });
    expect(end).toMatchObject({ code: 0, stderr: '' });
    const repository = /^ {2}cd (.+)$/m.exec(end.stdout)?.[1] ?? '';
    const home = /^ {2}RAMET_HOME=(\S+) ramet show$/m.exec(end.stdout)?.[1] ?? '';
    const shown = await user.ramet(['show'], { cwd: repository, env: { RAMET_HOME: home } });
    expect(shown.stdout).toContain('[assistant] Done: 3 steps carried out.');
    rmSync(dirname(repository), { recursive: true });
  });

  test('fails with the reason when git is missing', async ({ user }) => {
    const end = await user.ramet(['demo'], { env: { PATH: join(user.root, 'home') } });
    expect(end).toMatchObject({ code: 1, stderr: 'ramet: git init did not work: it is not installed\n' });
    expect(readdirSync(join(user.root, 'tmp'))).toEqual([]);
  });

  test('fails with the reason when the task is not carried out', async ({ user }) => {
    // A bash that fails stands for whatever may be wrong with a machine.
    writeFileSync(join(user.root, 'home/bash'), '#!/bin/sh\necho no shell today\nexit 9\n', { mode: 0o755 });
    const env = { PATH: `${join(user.root, 'home')}:${process.env.PATH}` };
    const end = await user.ramet(['demo'], { env });
    expect(end.code).toBe(1);
    expect(linesOf(end.stderr)).toEqual([
      expect.stringMatching(/^ramet: the demo failed: the agent ended as failed: step 1 of 3 .*exit code 9;/),
    ]);
    expect(end.stdout).toContain('no shell today');
  });

  test('leaves nothing behind when it is interrupted in the middle of its forks', async ({ user }) => {
    const started = join(user.root, 'home/started');
    const hangs = `case "$*" in *'check.js slug'*) touch ${started}; exec sleep 600 ;; esac`;
    const script = `#!/bin/sh\n${hangs}\nexec /bin/bash "$@"\n`;
    writeFileSync(join(user.root, 'home/bash'), script, { mode: 0o755 });
    const env = { PATH: `${join(user.root, 'home')}:${process.env.PATH}` };
    const command = user.start(['demo'], { env });
    await eventually(() => existsSync(started));
    command.kill('SIGINT');
    expect(await command.ended).toMatchObject({ code: 130, stderr: 'ramet: interrupted (SIGINT)\n' });
    expect(readdirSync(join(user.root, 'tmp'))).toEqual([]);
  });
});

describe.concurrent('OP-2, OP-5: ramet demo operate', () => {
  test('eight tasks land in spite of a conflict, a failing check and a kill, and nothing is left behind', async ({
    user,
  }) => {
    const end = await user.ramet(['demo', 'operate']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(end.stdout).toMatch(/^kill -9 \d+: the operator dies, with 4 agents at work$/m);
    expect(end.stdout).toContain('the run is resumed from its journal');
    expect(end.stdout).toMatch(/^ {2}T004 {2}FAILED its check: tried again/m);
    expect(end.stdout).toMatch(/^ {2}T00[67] {2}CONFLICT: done again on the new base/m);
    expect(end.stdout).toMatch(/^The report\n {2}TASK /m);
    expect(end.stdout).toMatch(/ agents for 8 tasks would have cost \$0/);
    expect(Math.max(...linesOf(end.stdout).map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(readdirSync(join(user.root, 'tmp'))).toEqual([]);
    expect(existsSync(user.rametHome)).toBe(false);
  });

  test('a story that it does not know is wrong use', async ({ user }) => {
    expect(await user.here(['demo', 'opera'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('operate'),
    });
  });
});

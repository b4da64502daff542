import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually, linesOf } from '../fixtures/command.ts';
import { plainText, startOnTerminal } from '../fixtures/terminal.ts';
import { test } from '../fixtures/user.ts';

const widest = (text: string): number => Math.max(...linesOf(text).map((line) => line.length));

describe.concurrent('UI-1: ramet demo', () => {
  test('five agents survive a kill, their branches are merged, and nothing is left behind', async ({
    user,
  }) => {
    const end = await user.ramet(['demo']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    const parts = end.stdout.split(/^(?=\$ |kill -9 |The bill)/m);
    const [, check = '', work = '', kill = '', resume = '', merge = '', log = '', bill = ''] = parts;
    expect(check).toBe('$ node check.js\n  leap-year of 1900 is true, should be false\n  … and 4 more\n\n');
    expect(work).toMatch(/^\$ ramet -p "Fix what node check\.js finds, .*\n {2}main +Bash node check\.js\n/);
    expect(kill).toMatch(/^kill -9 \d+: the process is gone, with five agents in the middle of their work\n/);
    expect(resume).toMatch(/^\$ ramet resume\n/);
    for (const name of ['leap-year', 'median', 'plural', 'roman', 'slug']) {
      expect(work).toMatch(new RegExp(`^  ${name} +begins on branch ramet/${name}$`, 'm'));
      expect(work).toMatch(new RegExp(`^  ${name} +Edit ${name}\\.js$`, 'm'));
      expect(resume).toMatch(new RegExp(`^  ${name} +resumes on branch ramet/${name}$`, 'm'));
      expect(resume).not.toMatch(new RegExp(`^  ${name} +(?:Read|Edit) `, 'm'));
      expect(resume).toMatch(new RegExp(`^  ${name} +done, on ramet/${name}$`, 'm'));
      expect(merge).toMatch(new RegExp(`^  ramet/${name} +landed +[0-9a-f]{10}$`, 'm'));
      expect(bill).toMatch(new RegExp(`^    ${name} +.* \\d\\d% +\\$0\\.\\d{4}$`, 'm'));
    }
    expect(log).toContain(' Write 4 as IV\n');
    expect(bill).toMatch(/^ {2}in all .* \$0\.\d{4}$/m);
    const [, times] = /^Five agents for the price of (\d\.\d)\./m.exec(bill) ?? [];
    expect(Number(times)).toBeGreaterThan(1);
    expect(Number(times)).toBeLessThan(4);
    expect(end.stdout).not.toMatch(/refused|failed|unknown/);
    expect(widest(end.stdout)).toBeLessThanOrEqual(80);
    expect(readdirSync(join(user.root, 'tmp'))).toEqual([]);
    expect(existsSync(user.rametHome)).toBe(false);
  });

  test('on a terminal the agents are rows that are drawn again, and the bill is on the last screen; needs no key, no git identity and no repository; keeps its folder when asked to, and says how to look around', async ({
    user,
  }) => {
    const broken = join(user.root, 'home/.gitconfig');
    writeFileSync(broken, '[commit]\n\tgpgsign = true\n[user]\n\tuseConfigOnly = true\n');
    const env = {
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
      HTTP_PROXY: 'http://127.0.0.1:1',
      RAMET_MODEL_SONNET: 'unheard-of',
    };
    const before = 'cd /; unset ANTHROPIC_API_KEY';
    await using run = startOnTerminal(user, ['demo', '--keep'], { columns: 80, rows: 24, before, env });
    await run.shows(/^ {2}main +waits for 5 agents .*\n(?: {2}[├└]─ .*\n){5}/m);
    await run.shows('$ ramet resume');
    expect(await run.ended).toBe(0);
    // Once before the kill and once after it; which agent comes last is not certain.
    expect(run.screen.match(/^ {2}└─ \w+ /gm)).toHaveLength(2);
    expect(run.screen).toMatch(/^ {2}[├└]─ roman +done, on ramet\/roman +4 /m);
    expect(run.screen.trimEnd().split('\n').slice(-23).join('\n')).toContain('The bill, from the journal');
    const printed = plainText(run.bytes);
    const repository = /^ {2}cd (.+)$/m.exec(printed)?.[1] ?? '';
    const [, home = '', command = ''] = /^ {2}RAMET_HOME=(\S+) (\S+) show$/m.exec(printed) ?? [];
    expect(command).toBe(join(import.meta.dirname, '../../bin/ramet'));
    const shown = await user.here(['show'], { cwd: repository, env: { RAMET_HOME: home } });
    expect(shown.stdout).toContain('[assistant] All five are fixed, each on its own branch.');
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
      expect.stringMatching(/^ramet: the demo failed: the agents did not get to work: .*no shell today/),
    ]);
    expect(readdirSync(join(user.root, 'tmp'))).toEqual([]);
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
    expect(widest(end.stdout)).toBeLessThanOrEqual(80);
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

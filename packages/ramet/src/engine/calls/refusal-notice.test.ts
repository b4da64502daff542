/** What is refused to an agent again and again is told once, wherever and however often it is resumed (FORK-4). */
import { describe, expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import {
  call,
  eventsOf,
  type FamilySession,
  lastTexts,
  startAgents,
  startFamily,
  timesIn,
} from '../../../test/fixtures/family.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { REFUSED_OFTEN } from '../agent/notices.ts';
import { refusalKind } from './tool-result.ts';

const RULES = { permissions: { deny: ['Bash(rm:*)', 'Read(secret/**)'] } };
const rm = (name: string) => call('Bash', { command: `rm ${name}` });
const DONE = { text: 'Scope: done.' };

/** Which of an agent's results say it, in order. */
function tellings(family: FamilySession, task: string): boolean[] {
  const [, ...later] = family.requestsOf(task);
  return later.map((record) => lastTexts(record).some((text) => text.includes(REFUSED_OFTEN)));
}

describe('FORK-4: denial tracking', () => {
  test('after the third equal refusal the agent is told once, after the reason', async () => {
    const family = await startFamily({
      ...RULES,
      cast: { 'Go.': [rm('a'), rm('b'), rm('c'), rm('d'), DONE] },
    });
    await family.run('Go.');
    expect(tellings(family, 'Go.')).toEqual([false, false, true, false]);
    const [result = ''] = lastTexts(family.requestsOf('Go.')[3]);
    expect(result.indexOf('denied by the rule')).toBeGreaterThanOrEqual(0);
    expect(result.endsWith(REFUSED_OFTEN)).toBe(true);
  });

  test('another tool, another rule, and what only failed are other things', async () => {
    const read = call('Read', { file_path: 'secret/key' });
    const missing = call('Read', { file_path: 'missing.txt' });
    const family = await startFamily({
      ...RULES,
      cast: {
        'Go.': [rm('a'), read, missing, rm('b'), read, missing, missing, missing, rm('c'), read, DONE],
      },
    });
    await family.run('Go.');
    const both = [...Array<boolean>(8).fill(false), true, true];
    expect(tellings(family, 'Go.')).toEqual(both);
  });

  test('three at once are told in one of their results', async () => {
    const reads = ['a', 'b', 'c', 'd'].map((name) => ({
      name: 'Read',
      input: { file_path: `secret/${name}` },
    }));
    const family = await startFamily({ ...RULES, cast: { 'Go.': [{ tool_use: reads }, DONE] } });
    await family.run('Go.');
    expect(timesIn(lastTexts(family.requestsOf('Go.')[1]).join('\n'), REFUSED_OFTEN)).toBe(1);
  });

  test('what nobody can be asked about counts, whichever file it is', async () => {
    const write = (name: string) => call('Write', { file_path: name, content: 'x' });
    const family = await startFamily({
      permissionMode: 'default',
      cast: { 'Go.': [write('a'), write('b'), write('c'), DONE] },
    });
    await family.run('Go.');
    expect(tellings(family, 'Go.')).toEqual([false, false, true]);
  });

  test('so do commands that nobody can be asked about, whichever they are', async () => {
    const family = await startFamily({
      permissionMode: 'default',
      cast: { 'Go.': [rm('a1'), rm('a2'), call('Bash', { command: 'touch a3 > b' }), rm('a4'), DONE] },
    });
    await family.run('Go.');
    expect(tellings(family, 'Go.')).toEqual([false, false, true, false]);
  });

  test('so does the fence of a worktree, for files and for paths of the parent', async () => {
    const outside = (name: string) => call('Write', { file_path: `/etc/${name}`, content: 'x' });
    const stash = call('Bash', { command: 'git stash' });
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['child'], { isolation: 'worktree' }), { text: 'ok' }],
        child: [outside('a'), outside('b'), outside('c'), stash, stash, stash, DONE],
      },
    });
    await family.run('Go.');
    expect(tellings(family, 'child')).toEqual([false, false, true, false, false, true]);
  });

  test('a fork continues the count of its parent, and the parent does not count with it', async () => {
    const family = await startFamily({
      ...RULES,
      cast: {
        'Go.': [rm('a'), rm('b'), startAgents(['child one', 'child two']), rm('c'), { text: 'ok' }],
        'child one': [rm('x'), rm('y'), DONE],
        'child two': [rm('x'), DONE],
      },
    });
    await family.run('Go.');
    expect(tellings(family, 'child one')).toEqual([true, false]);
    expect(tellings(family, 'child two')).toEqual([true]);
    expect(tellings(family, 'Go.')).toEqual([false, false, false, true]);
  });

  test('a fresh agent begins at none', async () => {
    const family = await startFamily({
      ...RULES,
      cast: {
        'Go.': [
          rm('a'),
          rm('b'),
          startAgents(['child'], { subagent_type: 'general-purpose' }),
          { text: 'ok' },
        ],
        child: [rm('x'), rm('y'), DONE],
      },
    });
    await family.run('Go.');
    expect(tellings(family, 'child')).toEqual([false, false]);
  });

  test('a resumed agent continues the count, and is not told again', async () => {
    const family = await startFamily({ ...RULES, cast: { 'Go.': [rm('a'), rm('b'), { text: 'first' }] } });
    await family.run('Go.');
    const again = await family.reopen({ 'Go on.': [rm('c'), { text: 'second' }] });
    await again.run('Go on.');
    expect(tellings(again, 'Go on.')).toEqual([true]);
    const last = await again.reopen({ 'And on.': [rm('d'), rm('e'), rm('f'), { text: 'third' }] });
    await last.run('And on.');
    expect(tellings(last, 'And on.')).toEqual([false, false, false]);
  });

  test('a fork that is continued has its own count and its parent’s of then', async () => {
    const family = await startFamily({
      ...RULES,
      cast: {
        'Go.': [
          rm('a'),
          startAgents(['child'], { name: 'kid' }),
          rm('b'),
          call('SendMessage', { to: 'kid', message: 'again' }),
          { text: 'ok' },
          { text: 'ok' },
        ],
        child: [rm('x'), DONE, rm('y'), DONE],
      },
    });
    await family.run('Go.');
    const told = eventsOf(family.recordedOf(2), 'tool.completed');
    expect(told.map(({ refused }) => refused)).toEqual([expect.stringContaining('Bash: '), told[0]?.refused]);
    expect(tellings(family, 'child')).toEqual([false, false, true]);
    expect(tellings(family, 'Go.')).not.toContain(true);
  });

  test('an interrupt is no refusal, and no secret is recorded in one', async () => {
    const abort = new AbortController();
    const engine = await startEngine({
      provider: scriptedModel({ calls: [{ name: 'Bash', input: { command: 'true' } }] }, { text: 'ok' }),
      spec: {
        canUseTool: async () => {
          abort.abort('SIGINT');
          return { allowed: false, reason: 'never' };
        },
      },
    });
    await engine.run('Go.', abort.signal);
    expect(eventsOf(engine.recorded(), 'tool.completed').map(({ refused }) => refused)).toEqual([undefined]);
    const secret = await startEngine({
      provider: scriptedModel({ calls: [{ name: 'Bash', input: { command: 'true' } }] }, { text: 'ok' }),
      spec: { canUseTool: () => ({ allowed: false, reason: 'it holds hunter2' }) },
      runtime: { redact: (text) => text.replaceAll('hunter2', '[redacted]') },
    });
    await secret.run('Go.');
    expect(eventsOf(secret.recorded(), 'tool.completed')).toMatchObject([
      { refused: expect.stringContaining('[redacted]') },
    ]);
  });
});

describe('FORK-4: what makes refusals equal', () => {
  const BASH = { name: 'Bash', isCommand: true };
  const READ = { name: 'Read', isCommand: false };

  test('the file, and what the user could do about it, do not matter', () => {
    const outside = (file: string): string =>
      refusalKind(
        { name: 'Write', isCommand: false },
        `${file} is outside your worktree /w, and you write only there. Write /w/a instead.`,
      );
    expect(outside('/etc/a')).toBe(outside('/home/b.txt'));
    const unasked = (rule: string): string =>
      refusalKind(
        BASH,
        `Bash is not permitted: it runs x. (For the user: --allowedTools "${rule}" allows it.)`,
      );
    expect(unasked('Bash(a:*)')).toBe(unasked('Bash(b:*)'));
  });

  test('nor does the command, whatever it contains', () => {
    const unasked = (command: string): string =>
      refusalKind(BASH, `Bash is not permitted: it runs ${command}, and nobody can be asked in this run.`);
    expect(unasked('rm a1')).toBe(
      'Bash: Bash is not permitted: it runs ..., and nobody can be asked in this run.',
    );
    expect(unasked('rm a2; it writes "x, and y"')).toBe(unasked('rm a1'));
    const only = (what: string): string =>
      refusalKind(BASH, `Bash is refused: you only read, and it ${what}.`);
    expect(only('runs rm a1')).toBe(only('runs touch b'));
    expect(only('sets PATH')).not.toBe(only('runs touch b'));
    const rule = (text: string): string => refusalKind(BASH, `Bash is denied by the rule ${text} in x.`);
    expect(rule('Bash(rm:*)')).not.toBe(rule('Bash(mv:*)'));
  });

  test('the tool and the rule do, and a long reason is cut', () => {
    expect(refusalKind(READ, 'denied by X')).not.toBe(refusalKind({ ...READ, name: 'Edit' }, 'denied by X'));
    expect(refusalKind(READ, 'denied by X')).not.toBe(refusalKind(READ, 'denied by Y'));
    expect(refusalKind(READ, 'a '.repeat(10_000))).toHaveLength(200);
  });
});

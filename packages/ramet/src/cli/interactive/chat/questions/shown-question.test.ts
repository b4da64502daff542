import { describe, expect, test, vi } from 'vitest';
import type { PermissionQuestion } from '../../../../permission/broker.ts';
import type { Key, KeyName } from '../../editor/key-parser.ts';
import { textStyle } from '../../screen/text-style.ts';
import { createEventView } from '../event-text.ts';
import { QuestionDesk } from './question-desk.ts';
import { ShownQuestion } from './shown-question.ts';

const ofChild: PermissionQuestion = {
  agent: 'x.2',
  agentName: 'parser',
  parent: 'x.1',
  cwd: '/srv',
  tool: 'Bash',
  summary: 'npm test',
  reason: 'it runs a program',
  suggestedRules: [],
  command: 'npm test',
  input: { command: 'npm test' },
};
const yes: Key = { type: 'text', text: 'y' };
const letter = (text: string): Key => ({ type: 'text', text });
const press = (name: KeyName): Key => ({ type: 'press', name });
const { signal } = new AbortController();

function asked(size = { columns: 80, rows: 24 }, isEscapeTaken = () => false) {
  let time = 0;
  const timers = new Set<{ at: number; act(): void }>();
  const saved: string[] = [];
  let output = '';
  const events = createEventView(textStyle(false), {
    print: (text) => print(text),
    answer: (text) => print(`\n${text}`),
    endAnswer: () => print('\n'),
  });
  const desk = new QuestionDesk((withdrawn) => question.changed(withdrawn));
  const print = (text: string): void => {
    output += text;
  };
  const question = new ShownQuestion({
    desk,
    events,
    style: textStyle(false),
    print,
    columns: () => size.columns,
    rows: () => size.rows,
    rules: {
      problem: (rules) => (rules.includes('Nope(x)') ? 'Nope(x) can never match' : null),
      save: async (where, rules) => {
        if (where === 'user') throw new Error('the disk is full');
        saved.push(`${where}: ${rules.join(' ')}`);
        return '.ramet/settings.local.json';
      },
    },
    isEscapeTaken,
    now: () => time,
    later(ms, act) {
      const timer = { at: time + ms, act };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  });
  const main = { agentId: 'x.1', parentAgentId: null };
  return {
    desk,
    question,
    wait: (ms: number) => {
      time += ms;
      for (const timer of timers) {
        if (timer.at > time) continue;
        timers.delete(timer);
        timer.act();
      }
    },
    /** Timers that have not fired. */
    timers,
    answering: () => print(events.text({ type: 'text_delta', text: 'I am', ...main }, 80)),
    answered: () => {
      print(events.end());
      question.show();
    },
    shown: () => output,
    saved,
  };
}

describe('RES-3: the open question on a terminal', () => {
  test('of a child waits until the answer of the main agent is over, and no key counts before', async () => {
    const { desk, question, answering, answered, shown, wait } = asked();
    answering();
    const answer = desk.ask(ofChild, signal);
    expect(shown()).toBe('\nI am');
    expect(question.live(false)).toEqual({ question: null, rule: null, answers: null, field: null });
    expect(question.take(yes, false)).toBe(false);
    answered();
    expect(shown()).toMatch(/^\nI am\n\? agent "parser" asks for permission: Bash\n/);
    wait(1_000);
    expect(question.live(false)).toEqual({
      question: 'agent "parser" asks: Bash npm test',
      rule: null,
      answers: 'y once · n no · Tab reason',
      field: null,
    });
    expect(question.take(yes, false)).toBe(true);
    wait(300);
    expect(await answer).toEqual({ kind: 'once' });
    expect(question.take(yes, false)).toBe(false);
  });

  test('that went away takes the key that was meant for it, and no other question does', async () => {
    const { desk, question, shown } = asked();
    const stop = new AbortController();
    const first = desk.ask(ofChild, stop.signal).catch(() => 'withdrawn');
    void desk.ask({ ...ofChild, summary: 'rm x' }, signal);
    stop.abort();
    expect(await first).toBe('withdrawn');
    expect(shown()).toContain('no longer asked');
    expect(question.justWithdrawn).toBe(true);
    expect(question.take(yes, false)).toBe(false);
    expect(desk.current?.summary).toBe('rm x');
  });

  test('is not answered by a key of its first moments: that goes to the input', async () => {
    const { desk, question, wait } = asked();
    const answer = desk.ask(ofChild, signal);
    wait(600);
    expect(question.live(false).answers).toBe('a question');
    expect(question.take(yes, false)).toBe(false);
    wait(600);
    expect(question.take(yes, false)).toBe(false);
    wait(1_000);
    expect(question.take(yes, false)).toBe(true);
    wait(300);
    expect(await answer).toEqual({ kind: 'once' });
  });

  test('UI-3: Esc in its first moments neither answers it nor stops the turn; with a list open its keys are not offered', async () => {
    const { desk, question, wait } = asked();
    const answer = desk.ask(ofChild, signal);
    wait(300);
    expect(question.take(press('escape'), false)).toBe(true);
    expect(desk.current).not.toBeNull();
    wait(1_000);
    expect(question.live(false, true).answers).toBe('a question: Esc closes the list first');
    expect(question.live(false).answers).toContain('y once');
    expect(question.take(press('escape'), false)).toBe(true);
    expect(await answer).toMatchObject({ kind: 'denied' });
  });

  test('UI-3: grants nothing lasting for one letter: always takes Enter behind it', async () => {
    const { desk, question, wait } = asked();
    const answer = desk.ask({ ...ofChild, suggestedRules: ['Bash(npm test:*)'] }, signal);
    wait(1_000);
    expect(question.take(letter('a'), false)).toBe(true);
    expect(question.live(false).answers).toBe('Enter: session · Tab: where · →: edit');
    expect(question.live(false).rule).toBe('always: Bash(npm test:*)');
    wait(1_000);
    expect(question.take(letter('a'), false)).toBe(true);
    expect(question.take({ type: 'press', name: 'left' }, false)).toBe(false);
    expect(question.take({ type: 'press', name: 'enter' }, false)).toBe(false);
    expect(desk.current).not.toBeNull();
    wait(1_000);
    expect(question.take(letter('a'), false)).toBe(true);
    wait(100);
    expect(question.take({ type: 'press', name: 'enter' }, false)).toBe(true);
    expect(await answer).toEqual({ kind: 'always', rules: ['Bash(npm test:*)'] });
  });

  test('UI-3: an always is saved where the user says, with the rule as it was edited', async () => {
    const { desk, question, wait, shown, saved } = asked();
    const answer = desk.ask({ ...ofChild, suggestedRules: ['Bash(npm test:*)'] }, signal);
    wait(1_000);
    question.take(letter('a'), false);
    wait(100);
    question.take(press('tab'), false);
    expect(question.live(false).answers).toContain('Enter: project');
    question.take(press('right'), false);
    expect(question.live(false)).toMatchObject({
      answers: 'Enter: done · Esc: back',
      field: { prompt: 'rule: ' },
    });
    question.take(press('delete-to-start'), false);
    for (const character of 'Nope(x)') question.take(letter(character), false);
    question.take(press('enter'), false);
    expect(question.live(false)).toMatchObject({ answers: 'Nope(x) can never match', field: {} });
    question.take(press('delete-to-start'), false);
    question.take({ type: 'paste', text: 'Bash(npm run *), Edit' }, false);
    question.take(press('enter'), false);
    expect(question.live(false).rule).toBe('always: Bash(npm run *), Edit');
    expect(desk.current).not.toBeNull();
    question.take(press('enter'), false);
    expect(await answer).toEqual({ kind: 'always', rules: ['Bash(npm run *)', 'Edit'] });
    await vi.waitFor(() => expect(shown()).toContain('saved in .ramet/settings.local.json'));
    expect(saved).toEqual(['project: Bash(npm run *) Edit']);
  });

  test('UI-3: a rule that cannot be saved still holds for the session, and the user is told', async () => {
    const { desk, question, wait, shown } = asked();
    const answer = desk.ask({ ...ofChild, suggestedRules: ['Edit'] }, signal);
    wait(1_000);
    for (const key of [letter('a'), press('tab'), press('tab'), press('enter')]) {
      question.take(key, false);
      wait(100);
    }
    expect(await answer).toEqual({ kind: 'always', rules: ['Edit'] });
    await vi.waitFor(() => expect(shown()).toContain('the disk is full; the rule holds for this session'));
  });

  test('UI-3: a rule that does not cover the call says so before Enter counts, and allows this call once', async () => {
    const { desk, question, shown, wait } = asked();
    const known = Promise.withResolvers<boolean>();
    const covers = (): Promise<boolean> => known.promise;
    const answer = desk.ask({ ...ofChild, suggestedRules: ['Bash(npm test:*)'], covers }, signal);
    wait(1_000);
    const keys = [letter('a'), press('right'), press('delete-to-start'), letter('Edit'), press('enter')];
    for (const key of keys) {
      question.take(key, false);
      wait(100);
    }
    expect(question.take(press('enter'), false)).toBe(true);
    expect(question.live(false).rule).toBe('always: Edit');
    known.resolve(false);
    await known.promise;
    expect(question.live(false).rule).toBe('this rule does not cover this call, which will ask again: Edit');
    question.take(press('enter'), false);
    expect(await answer).toEqual({ kind: 'always', rules: ['Edit'] });
    expect(shown()).toContain('  allowed once; from now on: Edit\n');
  });

  test('UI-3: an always is for the file that was shown; Up makes it a folder, Down the file again', async () => {
    const { desk, question, wait } = asked();
    const suggestedRules = ['Bash(npm test:*)', 'Edit(src/deep/a.ts)', 'Edit(//etc/b)'];
    const answer = desk.ask({ ...ofChild, suggestedRules }, signal);
    wait(1_000);
    const pressed = (key: Key): string | null => {
      question.take(key, false);
      wait(100);
      return question.live(false).rule;
    };
    expect(pressed(letter('a'))).toBe('always: Bash(npm test:*), Edit(src/deep/a.ts), Edit(//etc/b)');
    expect(question.live(false).answers).toContain('↑: folder');
    expect(pressed(press('up'))).toBe('always: Bash(npm test:*), Edit(src/deep/**), Edit(//etc/b)');
    expect(pressed(press('up'))).toContain('Edit(src/**)');
    expect(question.live(false).answers).not.toContain('folder');
    expect(pressed(press('up'))).toContain('Edit(src/**)');
    expect(pressed(press('down'))).toContain('Edit(src/deep/a.ts)');
    pressed(press('up'));
    pressed(press('enter'));
    expect(await answer).toMatchObject({ rules: ['Bash(npm test:*)', 'Edit(src/deep/**)', 'Edit(//etc/b)'] });
  });

  test('a no takes a reason, which Esc leaves again', async () => {
    const { desk, question, wait, shown } = asked();
    const answer = desk.ask(ofChild, signal);
    wait(1_000);
    question.take(press('tab'), false);
    question.take(letter('y'), false);
    question.take(press('escape'), false);
    expect(desk.current).not.toBeNull();
    expect(question.live(false).field).toBeNull();
    question.take(press('tab'), false);
    for (const character of 'yes, but use tabs') expect(question.take(letter(character), false)).toBe(true);
    question.take(press('enter'), false);
    expect(await answer).toEqual({ kind: 'denied', reason: 'the user said no: yes, but use tabs' });
    expect(shown()).toContain('denied: yes, but use tabs');
  });

  test('Esc leaves an always without an answer', async () => {
    const { desk, question, wait } = asked();
    void desk.ask({ ...ofChild, suggestedRules: ['Edit'] }, signal);
    wait(1_000);
    expect(question.take(letter('a'), false)).toBe(true);
    expect(question.take(press('escape'), false)).toBe(true);
    expect(desk.current).not.toBeNull();
    expect(question.live(false).answers).toBe('y once · a always · n no · Tab reason');
  });

  test('Space turns pages as fast as it is pressed, and one too many is no text', async () => {
    const { desk, question, wait, shown } = asked();
    const summary = Array.from({ length: 100 }, (_, index) => `echo ${index}`).join('\n');
    const answer = desk.ask({ ...ofChild, summary }, signal);
    wait(1_000);
    for (let presses = 0; presses < 10; presses += 1) {
      expect(question.take(letter(' '), false)).toBe(true);
      wait(150);
    }
    expect(shown()).toContain('echo 99');
    expect(question.live(false).answers).toMatch(/^y once/);
    expect(question.take(yes, false)).toBe(true);
    wait(1_000);
    expect(await answer).toEqual({ kind: 'once' });
  });

  test('Space after a letter is text', async () => {
    const { desk, question, wait } = asked();
    void desk.ask(ofChild, signal);
    wait(1_000);
    expect(question.take(yes, false)).toBe(true);
    wait(100);
    expect(question.take(letter(' '), false)).toBe(false);
    expect(question.withheld).toEqual(yes);
    expect(desk.current).not.toBeNull();
  });

  test('Space shows more of a long one, and answers nothing where there is no more', async () => {
    const { desk, question, wait, shown } = asked();
    const summary = Array.from({ length: 30 }, (_, index) => `echo ${index}`).join('\n');
    void desk.ask({ ...ofChild, summary }, signal);
    wait(1_000);
    expect(shown()).not.toContain('echo 29');
    expect(question.live(false).answers).toMatch(/^\d+ more lines: Space · y once · /);
    expect(question.take(letter(' '), false)).toBe(true);
    expect(shown()).toContain('echo 29');
    wait(1_000);
    expect(question.take(letter(' '), false)).toBe(true);
    expect(question.showMore(true)).toBe(false);
    expect(desk.current).not.toBeNull();
  });

  test('what is entered for a question that goes away is no answer to the next', async () => {
    const { desk, question, wait } = asked();
    const stop = new AbortController();
    const first = desk.ask(ofChild, stop.signal).catch(() => 'withdrawn');
    void desk.ask({ ...ofChild, summary: 'rm x' }, signal);
    wait(1_000);
    question.take(press('tab'), false);
    question.take(letter('x'), false);
    stop.abort();
    expect(await first).toBe('withdrawn');
    expect(question.live(false)).toMatchObject({ answers: 'a question', field: null });
    expect(question.take(press('enter'), false)).toBe(false);
    expect(desk.current?.summary).toBe('rm x');
  });

  test.for(['wait', 'why', 'any', 'a y', 'also yes', 'no way', 'you should', 'yn'])(
    'is not answered by "%s"',
    (words) => {
      const { desk, question, wait, timers } = asked();
      void desk.ask({ ...ofChild, suggestedRules: ['Bash(npm test:*)'] }, signal);
      wait(1_000);
      let written = '';
      for (const character of words) {
        const isTaken = question.take(letter(character), written !== '');
        written += question.withheld?.type === 'text' ? question.withheld.text : '';
        if (!isTaken) written += character;
        wait(150);
      }
      wait(1_000);
      expect(desk.current).not.toBeNull();
      expect(written).toBe(words);
      expect(timers.size).toBe(0);
    },
  );

  test('a letter that answers can be taken back, and Enter need not wait for its moment', async () => {
    const { desk, question, wait, timers } = asked();
    const answer = desk.ask(ofChild, signal);
    wait(1_000);
    question.take(yes, false);
    expect(question.take(press('backspace'), false)).toBe(true);
    wait(1_000);
    expect(desk.current).not.toBeNull();
    question.take(yes, false);
    expect(question.take(press('left'), false)).toBe(false);
    expect(question.withheld).toEqual(yes);
    wait(1_000);
    question.take(yes, false);
    wait(100);
    expect(question.take(press('enter'), false)).toBe(true);
    expect(await answer).toEqual({ kind: 'once' });
    const denial = desk.ask(ofChild, signal);
    wait(1_000);
    question.take(yes, false);
    expect(question.take(press('escape'), false)).toBe(true);
    expect(await denial).toMatchObject({ kind: 'denied' });
    expect(timers.size).toBe(0);
  });

  test.for(['a', 'y'])('Enter that comes with "%s" in one piece confirms nothing', async (typed) => {
    const { desk, question, wait } = asked();
    void desk.ask({ ...ofChild, suggestedRules: ['Edit'] }, signal);
    wait(1_000);
    expect(question.take(letter(typed), false)).toBe(true);
    if (typed === 'a') question.take(press('tab'), false);
    expect(question.take(press('enter'), false)).toBe(true);
    expect(question.withheld).toEqual(letter(typed));
    wait(1_000);
    expect(desk.current).not.toBeNull();
    expect(question.live(false).answers).toContain('y once');
  });

  test('a letter for a question that goes away is no answer to the next', async () => {
    const { desk, question, wait, timers } = asked();
    const stop = new AbortController();
    const first = desk.ask(ofChild, stop.signal).catch(() => 'withdrawn');
    void desk.ask({ ...ofChild, summary: 'rm x' }, signal);
    wait(1_000);
    question.take(yes, false);
    stop.abort();
    expect(await first).toBe('withdrawn');
    wait(1_000);
    expect(desk.current?.summary).toBe('rm x');
    expect(timers.size).toBe(0);
  });

  test('a blank that comes with a question is neither an answer nor text', async () => {
    const { desk, question } = asked();
    void desk.ask(ofChild, signal);
    expect(question.take(letter(' '), false)).toBe(true);
    expect(question.take(letter(' '), true)).toBe(false);
  });

  test('who chooses "always" for a command with many parts sees every rule first', () => {
    const { desk, question, wait, shown } = asked();
    const suggestedRules = Array.from({ length: 40 }, (_, index) => `Bash(touch ${index})`);
    void desk.ask({ ...ofChild, suggestedRules }, signal);
    wait(1_000);
    expect(shown()).not.toContain('Bash(touch 39)');
    question.take(letter('a'), false);
    for (const rule of suggestedRules) expect(shown()).toContain(`"always" allows ${rule}`);
  });

  test('an answer before the end of a long question says how much was not looked at', async () => {
    const { desk, question, wait, shown } = asked();
    const summary = Array.from({ length: 30 }, (_, index) => `echo ${index}`).join('\n');
    const answer = desk.ask({ ...ofChild, summary }, signal);
    wait(1_000);
    question.take(yes, false);
    wait(300);
    expect(await answer).toEqual({ kind: 'once' });
    expect(shown()).toContain('  allowed once (14 lines of it were not shown)\n');
  });

  test('is not answered by letters while there is text in the input, however slowly they come; Esc denies', async () => {
    const { desk, question, wait } = asked();
    const answer = desk.ask(ofChild, signal);
    for (const character of 'yan') {
      wait(5_000);
      expect(question.take(letter(character), true)).toBe(false);
    }
    expect(question.live(true).answers).toBe('Esc no · empty the input for y once · n no');
    expect(question.take({ type: 'press', name: 'escape' }, true)).toBe(true);
    expect(await answer).toMatchObject({ kind: 'denied' });
  });

  test('UI-3: where Esc goes back it is no answer, and takes back a letter that was one; a reason is left by it', async () => {
    const { desk, question, wait, timers } = asked(undefined, () => true);
    void desk.ask(ofChild, signal);
    expect(question.take(press('escape'), false)).toBe(false);
    wait(1_000);
    question.take(yes, false);
    expect(question.take(press('escape'), false)).toBe(false);
    wait(1_000);
    expect(timers.size).toBe(0);
    expect(question.live(true).answers).toBe('empty the input for y once · n no');
    question.take(press('tab'), false);
    expect(question.take(press('escape'), false)).toBe(true);
    expect(question.isEntering).toBe(false);
    expect(desk.current).toBe(ofChild);
  });
});

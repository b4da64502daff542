import { describe, expect, test } from 'vitest';
import type { PermissionQuestion } from '../../permission/broker.ts';
import { createEventView } from './event-text.ts';
import type { Key } from './key-parser.ts';
import { QuestionDesk } from './question-desk.ts';
import { ShownQuestion } from './shown-question.ts';
import { textStyle } from './text-style.ts';

const ofChild: PermissionQuestion = {
  agent: 'x.2',
  agentName: 'parser',
  parent: 'x.1',
  cwd: '/srv',
  tool: 'Bash',
  summary: 'npm test',
  reason: 'it runs a program',
  suggestedRules: [],
  input: { command: 'npm test' },
};
const yes: Key = { type: 'text', text: 'y' };
const { signal } = new AbortController();

function asked() {
  const events = createEventView(textStyle(false));
  let output = '';
  const desk = new QuestionDesk((withdrawn) => question.changed(withdrawn));
  const print = (text: string): void => {
    output += text;
  };
  const question = new ShownQuestion({ desk, events, style: textStyle(false), print, columns: () => 80 });
  const main = { agentId: 'x.1', parentAgentId: null };
  return {
    desk,
    question,
    answering: () => print(events.text({ type: 'text_delta', text: 'I am', ...main }, 80)),
    answered: () => {
      print(events.end());
      question.show();
    },
    shown: () => output,
  };
}

describe('RES-3: the open question on a terminal', () => {
  test('of a child waits until the answer of the main agent is over, and no key counts before', async () => {
    const { desk, question, answering, answered, shown } = asked();
    answering();
    const answer = desk.ask(ofChild, signal);
    expect(shown()).toBe('\nI am');
    expect(question.live).toEqual({ question: null, answers: null });
    expect(question.take(yes, false)).toBe(false);
    answered();
    expect(shown()).toMatch(/^\nI am\n\? agent "parser" asks for permission: Bash\n/);
    expect(question.live).toEqual({
      question: 'agent "parser" asks: Bash npm test',
      answers: 'y once · n no',
    });
    expect(question.take(yes, false)).toBe(true);
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
    expect(question.take(yes, false)).toBe(true);
    expect(desk.current?.summary).toBe('rm x');
  });
});

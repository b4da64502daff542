import { expect, test } from 'vitest';
import { QuestionDesk } from './question-desk.ts';

const question = (agentName: string) => ({
  ...{ agent: `s.${agentName}`, agentName, parent: null, cwd: '', tool: 'Bash', summary: 'ls', reason: 'x' },
  ...{ suggestedRules: [], input: {} },
});

test('TEAM-1: fifty members that ask at once are answered one by one, and none is lost', async () => {
  const shown: (string | null)[] = [];
  const desk = new QuestionDesk(() => shown.push(desk.current?.agentName ?? null));
  const stopping = new AbortController();
  const names = Array.from({ length: 50 }, (_, index) => `m${index}`);
  const answers = names.map((name, index) => {
    const signal = index === 20 ? stopping.signal : new AbortController().signal;
    return desk.ask(question(name), signal).catch(() => 'withdrawn');
  });
  for (const [index, name] of names.entries()) {
    // One that is stopped meanwhile asks nothing any more.
    if (index === 10) stopping.abort();
    if (index === 20) continue;
    expect(desk.current?.agentName).toBe(name);
    desk.answer({ kind: 'denied', reason: name });
  }
  expect(desk.isEmpty).toBe(true);
  expect(await Promise.all(answers)).toEqual(
    names.map((name, index) => (index === 20 ? 'withdrawn' : { kind: 'denied', reason: name })),
  );
  expect(shown).toEqual([...names.filter((_, index) => index !== 20), null]);
});

import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runToEnd, runUntil, startEngine, toolOf } from '../../../test/fixtures/engine.ts';
import { contentOf, freezeBlock } from '../../conversation/frozen-block.ts';
import { openReader } from '../../journal/sessions.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import type { Tool } from '../../tools/tool.ts';
import { MAY_HAVE_RUN, NOT_RUN } from '../agent/notices.ts';
import { resumeAgent } from '../resume/resume.ts';
import { closedAnswers } from './finish-calls.ts';

interface CountedTools {
  tools: Tool[];
  /** How often each was run. */
  runs: Record<string, number>;
}

/** `stuckIn` never ends the first time it is run. */
function countedTools(stuckIn: string): CountedTools {
  const runs: Record<string, number> = {};
  const counted = (name: string, effect: Tool['effect']): Tool =>
    toolOf(name, effect, async () => {
      runs[name] = (runs[name] ?? 0) + 1;
      if (name === stuckIn && runs[name] === 1) await new Promise(() => {});
      return { content: `${name} ${runs[name]}` };
    });
  return {
    runs,
    tools: [
      ...[counted('Look', 'read'), counted('Change', 'execute'), counted('After', 'execute')],
      { ...counted('Send', 'execute'), onceInTeam: true, ofSession: true },
    ],
  };
}

/** The agent in another process, after the first was killed during the calls of a message. */
async function resumedAfterKill(names: readonly string[], stuckIn: string) {
  const { runs, tools } = countedTools(stuckIn);
  const calls = names.map((name, index) => ({ name, input: {}, id: `c${index}` }));
  const engine = await startEngine({ provider: scriptedModel({ calls }), tools });
  engine.agent.say('prompt', [freezeBlock({ type: 'text', text: 'go' })]);
  await runUntil(engine.agent, (event) => event.type === 'tool_started' && event.call.name === stuckIn);
  const { journal } = engine.runtime;
  await journal.commit('written');
  const answers: unknown[] = [];
  const provider = scriptedModel(({ messages }) => {
    const content = messages.at(-1)?.content ?? [];
    const found =
      typeof content === 'string' ? [] : content.map((block) => 'content' in block && block.content);
    answers.push(...found);
    return { text: 'ok' };
  });
  const reader = openReader({ project: dirname(journal.file), session: journal.session });
  const { spec } = engine.agent;
  const again = resumeAgent({ ...engine.runtime, provider }, reader, () => spec, spec.id);
  reader.close();
  return { again, answers, runs };
}

/** What it answers to them. */
async function answersAfterKill(names: readonly string[], stuckIn: string) {
  const { again, answers, runs } = await resumedAfterKill(names, stuckIn);
  await runToEnd(again);
  return { answers, runs };
}

describe('AGENT-5: calls that a killed process left open', () => {
  test('one that only reads is made again, and those after it are made', async () => {
    const { answers, runs } = await answersAfterKill(['Change', 'Look', 'After'], 'Look');
    expect(answers).toEqual(['Change 1', 'Look 2', 'After 1']);
    expect(runs).toEqual({ Change: 1, Look: 2, After: 1 });
  });

  test('one that may have changed something is not made again, and nothing after it is begun', async () => {
    const { answers, runs } = await answersAfterKill(['Look', 'Change', 'After', 'Look'], 'Change');
    expect(answers).toEqual(['Look 1', MAY_HAVE_RUN, NOT_RUN.interrupted, NOT_RUN.interrupted]);
    expect(runs).toEqual({ Look: 1, Change: 1 });
  });
});

describe('TEAM-2: calls whose effect the record of the team has', () => {
  test('are made again, and find what they did', async () => {
    const { answers, runs } = await answersAfterKill(['Send', 'After'], 'Send');
    expect(answers).toEqual(['Send 2', 'After 1']);
    expect(runs).toEqual({ Send: 2, After: 1 });
  });

  test('are made again also after one that may have taken effect, where the record lost its end', async () => {
    const { again, answers, runs } = await resumedAfterKill(['Change', 'Send', 'After'], 'Change');
    again.record({ type: 'record.shortened' });
    await runToEnd(again);
    expect(answers).toEqual([MAY_HAVE_RUN, 'Send 1', MAY_HAVE_RUN]);
    expect(runs).toEqual({ Change: 1, Send: 1 });
  });

  test('are never said to be not run where they are closed, unless they were not begun', async () => {
    const { again } = await resumedAfterKill(['Send', 'Send'], 'Send');
    const answers = (await closedAnswers(again))?.map((block) => contentOf(block).content);
    expect(answers).toEqual([MAY_HAVE_RUN, NOT_RUN.interrupted]);
  });
});

import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runToEnd, runUntil, startEngine, toolOf } from '../../../test/fixtures/engine.ts';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import { openReader } from '../../journal/sessions.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import type { Tool } from '../../tools/tool.ts';
import { MAY_HAVE_RUN, NOT_RUN } from '../agent/notices.ts';
import { resumeAgent } from '../resume/resume.ts';

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
    tools: [counted('Look', 'read'), counted('Change', 'execute'), counted('After', 'execute')],
  };
}

/** What another process answers to the calls of a message during which the first one was killed. */
async function answersAfterKill(names: readonly string[], stuckIn: string) {
  const { runs, tools } = countedTools(stuckIn);
  const calls = names.map((name, index) => ({ name, input: {}, id: `c${index}` }));
  const engine = await startEngine({ provider: scriptedModel({ calls }), tools });
  engine.agent.say('prompt', [freezeBlock({ type: 'text', text: 'go' })]);
  await runUntil(engine.agent, (event) => event.type === 'tool_started' && event.call.name === stuckIn);
  const { journal } = engine.runtime;
  await journal.commit('written');
  let answers: unknown[] = [];
  const provider = scriptedModel(({ messages }) => {
    const content = messages.at(-1)?.content ?? [];
    answers = typeof content === 'string' ? [] : content.map((block) => 'content' in block && block.content);
    return { text: 'ok' };
  });
  const reader = openReader({ project: dirname(journal.file), session: journal.session });
  const { spec } = engine.agent;
  const again = resumeAgent({ ...engine.runtime, provider }, reader, () => spec, spec.id);
  reader.close();
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

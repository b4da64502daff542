import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cast, eventsOf, type FamilySession, startFamily } from '../../../test/fixtures/family.ts';

/** An agent that starts others, in the foreground or not, and then reports or fails. */
interface Branch {
  background: boolean;
  fails: boolean;
  children: Branch[];
}

const branch = (depth: number): fc.Arbitrary<Branch> =>
  fc.record({
    background: fc.boolean(),
    fails: fc.boolean().map((value) => value && depth > 0),
    children: depth >= 3 ? fc.constant([]) : fc.array(branch(depth + 1), { maxLength: 3 }),
  });

/** The parts of a tree; counts how many of its agents are asked for an answer at once. */
function castOf(root: Branch) {
  let asked = 0;
  const seen = { most: 0 };
  const cast: Cast = {};
  const add = (task: string, { children, fails }: Branch): void => {
    cast[task] = async ({ turn }) => {
      const isChild = task !== 'Go:';
      if (isChild) asked += 1;
      seen.most = Math.max(seen.most, asked);
      await new Promise(setImmediate);
      if (isChild) asked -= 1;
      if (turn > 0 || children.length === 0) {
        return fails ? { text: 'No.', stop_reason: 'refusal' } : { text: `Scope: ${task}` };
      }
      const tool_use = children.map(({ background }, index) => ({
        name: 'Agent',
        input: {
          prompt: `${task}${index}:`,
          description: 'a part',
          subagent_type: 'general-purpose',
          run_in_background: background,
        },
      }));
      return { tool_use };
    };
    for (const [index, child] of children.entries()) add(`${task}${index}:`, child);
  };
  add('Go:', root);
  // The longest first: a task begins as its parent's does.
  const longestFirst = Object.entries(cast).sort(([a], [b]) => b.length - a.length);
  return { cast: Object.fromEntries(longestFirst), seen };
}

function expectToldOnce({ recorded, session }: FamilySession): void {
  const events = recorded();
  const notes = events.flatMap(({ agent, event }) =>
    event.type === 'message.received' && event.kind === 'notification' ? [`${event.from} to ${agent}`] : [],
  );
  const background = events.flatMap(({ agent, event }) =>
    event.type === 'agent.started' && event.origin?.background ? [`${agent} to ${event.parent}`] : [],
  );
  expect(notes.toSorted()).toEqual(background.toSorted());
  const main = events.flatMap(({ agent, event }) => (agent === `${session.id}.1` ? [event] : []));
  const delivered = eventsOf(main, 'message.appended').flatMap(({ delivers = [] }) => delivers);
  expect(delivered.toSorted()).toEqual(
    eventsOf(main, 'message.received')
      .map(({ item }) => item)
      .toSorted(),
  );
}

describe('AGENT-5, LAUNCH-3: any tree of agents', () => {
  test('ends: each agent once, each in the background told of once, never more at work than may', async () => {
    const trees = fc.asyncProperty(branch(0), fc.integer({ min: 1, max: 3 }), async (root, concurrent) => {
      const { cast, seen } = castOf(root);
      const family = await startFamily({ agents: { concurrent }, cast });
      const { result } = await family.run('Go:');
      expect(result).toMatchObject({ status: 'done', text: 'Scope: Go:' });
      expect(seen.most).toBeLessThanOrEqual(concurrent);
      expect(family.session.agents).toEqual([]);
      const events = family.recorded();
      const started = events.flatMap(({ agent, event }) => (event.type === 'agent.started' ? [agent] : []));
      const ended = events.flatMap(({ agent, event }) => (event.type === 'agent.ended' ? [agent] : []));
      expect(ended.toSorted()).toEqual(started.toSorted());
      expectToldOnce(family);
      await family.session[Symbol.asyncDispose]();
    });
    await fc.assert(trees, { numRuns: 15, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false });
  });
});

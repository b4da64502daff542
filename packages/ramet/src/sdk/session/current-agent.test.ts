/** Code that an agent runs knows whose it is, however deep it is and whatever runs beside it. */
import { describe, expect, test } from 'vitest';
import * as zod from 'zod';
import { call, startAgents, startFamily } from '../../../test/fixtures/family.ts';
import { currentAgentId } from '../../system/current-agent.ts';
import { tool } from '../own-tools/tool.ts';

/** Far from the call, as behind a library that knows nothing of agents. */
async function later(): Promise<string | null> {
  await new Promise((resolve) => setImmediate(resolve));
  return currentAgentId();
}

describe('EXEC-1: the agent that code runs for', () => {
  test.each(['in-process', 'process'] as const)(
    'is known to tools, hooks and questions of a parent and its children side by side (%s)',
    async (executor) => {
      const seen: { by: string; is: string; known: string | null }[] = [];
      const look = tool({
        name: 'look',
        description: 'd',
        input: zod.object({}),
        async run(_, { agentId }) {
          seen.push({ by: 'tool', is: agentId, known: await later() });
          return 'ok';
        },
      });
      const { session, run } = await startFamily({
        tools: [look],
        permissionMode: 'default',
        agents: { executor },
        hooks: {
          PostToolUse: [
            {
              matcher: 'look',
              hooks: [
                async ({ agent_id }) => {
                  seen.push({ by: 'hook', is: String(agent_id ?? `${session.id}.1`), known: await later() });
                  return {};
                },
              ],
            },
          ],
        },
        async canUseTool({ tool: name, agentId }) {
          if (name === 'look') seen.push({ by: 'question', is: agentId, known: await later() });
          return true;
        },
        cast: {
          'Go.': [
            startAgents(['One.', 'Two.'], { subagent_type: 'general-purpose' }),
            call('look', {}),
            { text: 'Done.' },
          ],
          'One.': [call('look', {}), { text: 'One.' }],
          'Two.': [call('look', {}), { text: 'Two.' }],
        },
      });
      await run('Go.');
      expect(seen.map(({ known }) => known)).toEqual(seen.map(({ is }) => is));
      const agents = (by: string) => seen.filter((one) => one.by === by).map(({ is }) => is);
      expect(new Set(agents('tool')).size).toBe(3);
      expect(new Set(agents('hook'))).toEqual(new Set(agents('tool')));
      expect(agents('question').length).toBeGreaterThan(0);
      expect(currentAgentId()).toBe(null);
    },
  );
});

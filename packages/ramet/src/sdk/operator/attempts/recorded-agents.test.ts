import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import { freezeBlock } from '../../../conversation/frozen-block.ts';
import { createSession, openReader } from '../../../journal/sessions.ts';
import { agentId } from '../../../schema/ids.ts';
import { NO_USAGE } from '../../../schema/usage.ts';
import { RecordedAgents } from './recorded-agents.ts';

test('OP-9: who named a ref is read from the commands of agents, as a whole word, those of children included', async () => {
  const project = join(temporaryDirectory(), 'project');
  const journal = await createSession({ project, cwd: project });
  const id = (number: number): ReturnType<typeof agentId> => agentId(journal.session, number);
  const start = (number: number, parent: number | null): void =>
    journal.append(id(number), {
      ...{ type: 'agent.started', parent: parent === null ? null : id(parent), agentType: 'general-purpose' },
      ...{ name: null, model: 'm', permissionMode: 'acceptEdits', maxTurns: 9, budget: {} },
    });
  const says = (number: number, command: string): void => {
    const block = freezeBlock({ type: 'tool_use', id: 'c', name: 'Bash', input: { command } });
    journal.storeBlock(block.digest, block.bytes);
    journal.append(id(number), {
      ...{ type: 'response.completed', request: 'r', messageId: 'm', model: 'm', stopReason: 'tool_use' },
      ...{ blocks: [block.digest], kept: true, usage: NO_USAGE, costUsd: 0 },
      ...{ firstTokenMs: 0, durationMs: 0, rate: {} },
    });
  };
  start(1, null);
  for (const number of [2, 3]) start(number, 1);
  start(4, 2);
  says(2, 'true\ngit branch ramet/own');
  says(3, 'git log ramet/other refs/heads/ramet/both');
  says(
    4,
    'git push . HEAD:refs/heads/ramet/of-child; git tag ramet/both; git tag ramet/whole.1 x/ramet/none',
  );
  await journal.close();
  const recorded = new RecordedAgents(() => openReader({ project, session: journal.session }));
  const words = ['own', 'of-child', 'other', 'both', 'whole', 'ow', 'none'];
  expect(words.map((word) => recorded.naming(id(2), `ramet/${word}`, 0))).toEqual([
    ...['own', 'own', 'others', 'both', 'nobody', 'nobody', 'nobody'],
  ]);
  // What it said before its task began, as another try of it did, says nothing.
  expect(recorded.naming(id(2), 'ramet/own', Date.now() + 60_000)).toBe('nobody');
  expect([recorded.isNews('a'), recorded.isNews('a'), recorded.isNews('b')]).toEqual([true, false, true]);
});

import { expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { agentToolFor } from '../../tools/agent.ts';
import { readTool } from '../../tools/files/read.ts';

test('LAUNCH-1: while a response asks for agents, connections for their requests are made', async () => {
  const model = scriptedModel({ text: 'Done.' });
  const expected: number[] = [];
  const { run } = await startEngine({
    tools: [agentToolFor({ fork: true, types: [] }), readTool],
    provider: {
      ...model,
      send(request, options) {
        for (const name of ['Agent', 'Read', 'Agent', 'unknown', 'Agent'])
          options.onDelta({ type: 'call', name });
        return model.send(request, options);
      },
      expect: (requests) => void expected.push(requests),
    },
  });
  expect((await run('go')).result.status).toBe('done');
  expect(expected).toEqual([1, 2]);
});

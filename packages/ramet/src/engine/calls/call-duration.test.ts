import { expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import { systemClock } from '../../schema/clock.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { bashTool } from '../../tools/shell/bash.ts';
import { runCalls } from './tool-runner.ts';

const THINKS_MS = 1_000_000_000;

test('RES-3: the time that a person takes to permit a call is no part of how long the call took', async () => {
  let passed = 0;
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + passed,
    elapsed: () => performance.now() + passed,
  };
  const broker = {
    ask: async () => {
      passed += THINKS_MS;
      return { kind: 'once' as const };
    },
  };
  const engine = await startEngine({
    provider: scriptedModel(),
    tools: [bashTool],
    spec: { permissionMode: 'default' },
    runtime: { broker, clock },
  });
  const call = {
    type: 'tool_use' as const,
    id: 'toolu_1',
    name: 'Bash',
    input: { command: 'touch asked.txt' },
  };
  await runCalls({ agent: engine.agent, signal: new AbortController().signal }, [call]);
  await engine.runtime.journal.commit('synced');
  const durations = engine
    .recorded()
    .flatMap((event) => (event.type === 'tool.completed' ? [event.durationMs] : []));
  expect(passed).toBe(THINKS_MS);
  expect(durations).toEqual([expect.any(Number)]);
  expect(durations[0]).toBeLessThan(THINKS_MS);
});

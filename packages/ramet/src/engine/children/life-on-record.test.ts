import { describe, expect, test } from 'vitest';
import { call, startAgents, startFamily } from '../../../test/fixtures/family.ts';

describe('AGENT-4: the life of an agent in the background is on record, step by step', () => {
  test('from the prompt to its notification, in order and with the time of each step', async () => {
    const family = await startFamily({
      files: { 'a.txt': 'one' },
      cast: {
        'Go.': [
          startAgents(['child'], { subagent_type: 'general-purpose', run_in_background: true }),
          call('TaskOutput', { task_id: 'all', block: true, timeout: 60_000 }),
          { text: 'I wait.' },
          { text: 'ok' },
        ],
        child: [call('Read', { file_path: 'a.txt' }), { text: 'It says one.' }],
      },
    });
    await family.run('Go.');
    const recorded = family.recorded();
    const steps = recorded.map(({ agent, event }) => `${agent?.split('.')[1] ?? '-'} ${event.type}`);
    const life = [
      ...['1 message.appended', '1 request.started', '1 response.completed', '1 tool.started'],
      ...['2 agent.started', '2 prefix.frozen', '2 message.appended', '2 request.started'],
      ...['2 response.completed', '2 tool.started', '2 file.read', '2 tool.completed', '2 message.appended'],
      ...['2 request.started', '2 response.completed', '2 agent.ended', '1 message.received'],
    ];
    let from = 0;
    for (const step of life) {
      const at = steps.indexOf(step, from);
      expect(at, `${step} after ${steps.slice(0, from).join(', ')}`).toBeGreaterThanOrEqual(from);
      from = at + 1;
    }
    const times = recorded.map(({ time }) => time);
    expect(times.every((time) => Number.isSafeInteger(time) && time > 0)).toBe(true);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });
});

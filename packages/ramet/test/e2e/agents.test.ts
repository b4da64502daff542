import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { childOf, fanOut, inputCost } from '../fixtures/fan-out.ts';
import { test } from '../fixtures/user.ts';

const ARGS = ['--permission-mode', 'bypassPermissions', '--output-format', 'json'];

describe.concurrent('AGENT-1: one message starts many agents', () => {
  for (const [label, input, most] of [
    ['forks', {}, 11_000],
    ['general-purpose agents', { subagent_type: 'general-purpose' }, 11_000],
    ['Explore agents', { subagent_type: 'Explore' }, 7_500],
  ] as const) {
    test(`five ${label} run, share a prefix and report in the order of their calls`, async ({ user }) => {
      const emulator = await user.emulate({ respond: fanOut({ children: 5, input }) });
      user.env.RAMET_MODEL_HAIKU = 'claude-sonnet-5';
      // Not every machine has a sandbox, and who has none is told.
      mkdirSync(user.rametHome);
      writeFileSync(join(user.rametHome, 'settings.json'), '{"sandbox": {"readOnly": "off"}}');
      const end = await user.ramet(['-p', 'Go.', ...ARGS]);
      expect(end).toMatchObject({ code: 0, stderr: '' });
      const children = emulator.requests.filter(({ request }) => request && childOf(request) !== null);
      expect(children).toHaveLength(10);
      expect(inputCost(children)).toBeLessThan(most);
      expect(inputCost(emulator.requests)).toBeLessThan(20_000);
      const results = emulator.requests.at(-1)?.request?.messages.at(-1)?.content;
      const order = [...JSON.stringify(results).matchAll(/Scope: child (\d)/g)].map(([, child]) => child);
      expect(order).toEqual(['1', '2', '3', '4', '5']);
    });
  }
});

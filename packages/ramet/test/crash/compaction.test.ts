/** A real command that is killed while its conversation is compacted, and then goes on. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Answer, RequestView } from '../../src/emulator/index.ts';
import { isQuestion } from '../fixtures/crowded-engine.ts';
import { momentsOf, SAMPLE_TIMEOUT_MS } from '../fixtures/kill-sample.ts';
import { KilledSession, PROMPT } from './killed-session.ts';

/** Tools and system prompt take some of it; each command fills about a tenth. */
const SMALL = { RAMET_CONTEXT_WINDOW: '20000' };
const ALLOWED = ['--permission-mode', 'bypassPermissions'];
const COMMANDS = 10;
const RANDOM_MOMENTS = momentsOf({ sample: 3, all: 6 });

/** Runs commands until ten have been answered; it counts by what the conversation or its summary says. */
function respond(view: RequestView): Answer {
  const text = JSON.stringify(view.request.messages);
  const numbers = Array.from(text.matchAll(/\bran (\d+)\b/g), ([, number]) => Number(number));
  const done = Math.max(0, ...numbers);
  if (isQuestion(view)) return { text: `So far it ran ${done}` };
  if (done >= COMMANDS) return { text: 'all done' };
  const command = `seq 1 1500; echo "ran ${done + 1}"`;
  return { text: 'on it', tool_use: [{ name: 'Bash', input: { command } }] };
}

async function expectUnharmed(session: KilledSession): Promise<void> {
  expect(session.requests.filter(({ outcome }) => outcome === 'refused')).toEqual([]);
  expect(session.unmatched).toEqual([]);
  const rebuilt = new Set(await session.rebuilt());
  expect(session.requests.filter(({ body }) => !rebuilt.has(body))).toEqual([]);
  expect(await session.agents()).toMatchObject([{ status: 'done', cause: null }]);
}

describe('RES-7, LOG-1: a session killed while it is compacted', () => {
  test.each(['headers', 'text'] as const)('has the old conversation, whole (stalled at %s)', async (at) => {
    await using session = await KilledSession.open(respond, SMALL);
    session.fault = (view) => (isQuestion(view) ? { kind: 'stall', at } : undefined);
    void session.start(PROMPT, ...ALLOWED);
    await session.until(() => session.requests.at(-1)?.outcome === 'fault');
    const before = session.requests.at(-1);
    await session.kill();
    const ended = await session.start('--continue');
    expect(ended).toEqual({ code: 0, stdout: 'all done\n', stderr: '' });
    const again = session.requests.find((one) => one !== before && one.body === before?.body);
    expect(again?.status).toBe(200);
    await expectUnharmed(session);
  });

  test(`comes to the same end from ${RANDOM_MOMENTS} random moments around it`, {
    timeout: SAMPLE_TIMEOUT_MS,
  }, async () => {
    for (let number = 0; number < RANDOM_MOMENTS; number++) {
      await using session = await KilledSession.open(respond, SMALL);
      void session.start(PROMPT, ...ALLOWED);
      await session.until(() => session.requests.some(({ body }) => body.includes('about to be replaced')));
      await sleep(Math.random() * 15);
      await session.kill();
      if ((await session.agents())[0]?.status !== 'done') {
        expect(await session.start('--continue')).toMatchObject({ code: 0, stdout: 'all done\n' });
      }
      await expectUnharmed(session);
    }
  });
});

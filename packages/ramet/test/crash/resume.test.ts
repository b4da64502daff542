/**
 * A real command, a real emulator, SIGKILL, and then the same session again: by phase, at random moments, and over
 * and over. `expectUnharmed` holds what must be true however it was killed.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { RequestRecord } from '../../src/emulator/index.ts';
import { addUsage, NO_USAGE, type Usage } from '../../src/schema/usage.ts';
import { crashProgram } from '../fixtures/crash-programs.ts';
import { momentsOf, SAMPLE_TIMEOUT_MS } from '../fixtures/kill-sample.ts';
import { MAY_HAVE_RUN, NOT_RUN, unfinishedCalls } from './careful-model.ts';
import { KilledSession, PROMPT } from './killed-session.ts';

const FINAL_FILES = {
  'README.md': '# Test\n',
  'notes.txt': 'two\n',
  'trace.txt': 'first\nsecond\nthird\nfourth\n',
};
const ALLOWED = ['--permission-mode', 'bypassPermissions'];
/** A short kill campaign has as many again. */
const RANDOM_MOMENTS = momentsOf({ sample: 3, all: 8 });
const EARLY_MOMENTS = momentsOf({ sample: 2, all: 4 });
/** The provider pauses only where it runs a tool of its own. */
const PAUSED_CALL = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };

/** Without a prompt and without saying again what it may do. */
async function resume(session: KilledSession, ...how: string[]): Promise<void> {
  const ended = await session.start(...how);
  expect(ended).toEqual({ code: 0, stdout: `step ${session.model.lastStep}\n`, stderr: '' });
}

async function expectUnharmed(session: KilledSession): Promise<void> {
  expect(session.files()).toEqual(FINAL_FILES);
  expect(session.unmatched).toEqual([]);
  expect(session.requests.filter(({ outcome }) => outcome === 'refused')).toEqual([]);
  expectOneConversation(session.requests);
  expect(await session.usage()).toEqual(usageOf(paidFor(session.requests)));
  expect(await session.agents()).toMatchObject([{ status: 'done', cause: null }]);
}

/** Every request is the one before it, byte for byte, with or without more messages. */
function expectOneConversation(requests: readonly RequestRecord[]): void {
  let before = '';
  for (const { body } of requests) {
    const prompt = promptOf(body);
    expect(prompt.slice(0, before.length)).toBe(before);
    before = prompt;
  }
}

/** The body up to its last message, without the cache marks, which move. */
function promptOf(body: string): string {
  return body.replace(/\],"max_tokens":\d+,"stream":true\}$/, '').replace(/,"cache_control":\{[^}]*\}/g, '');
}

/**
 * What was answered; of a prompt that was answered twice, because the first answer arrived at a dead process, the last.
 */
function paidFor(requests: readonly RequestRecord[]): RequestRecord[] {
  const answered = requests.filter(({ outcome }) => outcome === 'answered');
  return [...new Map(answered.map((record) => [promptOf(record.body), record])).values()];
}

function usageOf(requests: readonly RequestRecord[]): Usage {
  return requests.map(({ usage }) => ({ ...NO_USAGE, ...pick(usage) })).reduce(addUsage, NO_USAGE);
}

function pick(usage: RequestRecord['usage']): Partial<Usage> {
  if (usage === undefined) throw new Error('an answer without usage');
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage;
  const tokens = { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens };
  // The emulator answers with it as the provider does.
  const { web_search_requests: searches }: Pick<Usage, 'web_search_requests'> = usage.server_tool_use ?? {};
  return searches === undefined ? tokens : { ...tokens, web_search_requests: searches };
}

interface Phase {
  /** Prepares the moment; resolves when it has come. */
  reach(session: KilledSession): Promise<void>;
  /** What the calls that were open are answered with. */
  told?: string[];
  /** Requests in all; an undisturbed run has 7. */
  requests: number;
}

/** Breaks the first request of `step` and waits until the emulator has done so. */
function broken(step: number, fault: ReturnType<NonNullable<KilledSession['fault']>>): Phase['reach'] {
  return async (session) => {
    session.fault = (view) => (session.model.stepOf(view) === step ? fault : undefined);
    const silent = fault !== undefined && 'at' in fault && fault.at === 'headers';
    await session.until(() => session.requests.at(-1)?.outcome === 'fault');
    if (!silent) await session.until(() => session.requests.at(-1)?.status !== 0);
  };
}

const PHASES: Record<string, Phase> = {
  'its first request is not answered yet': {
    reach: broken(0, { kind: 'stall', at: 'headers' }),
    requests: 8,
  },
  'a later request is not answered yet': {
    reach: broken(3, { kind: 'stall', at: 'headers' }),
    requests: 8,
  },
  'a response has sent half of its text': { reach: broken(3, { kind: 'stall', at: 'text' }), requests: 8 },
  'a response has sent half of a call': {
    reach: broken(4, { kind: 'stall', at: 'tool_input' }),
    requests: 8,
  },
  'it waits to try again after a 529': {
    async reach(session) {
      await broken(3, { kind: 'status', status: 529 })(session);
      await session.until(async () => (await session.agents())[0]?.activity?.kind === 'retrying');
    },
    requests: 8,
  },
  'one call of a response is done, one runs, and one is to come': {
    async reach(session) {
      session.hold();
      await session.until(() => session.isHeld());
    },
    told: [MAY_HAVE_RUN, NOT_RUN],
    requests: 8,
  },
};

describe('LOG-1, AGENT-5: a session killed at any point and resumed', () => {
  test('has something to be compared with', async () => {
    await using session = await KilledSession.open();
    const ended = await session.start(PROMPT, ...ALLOWED);
    expect(ended).toEqual({ code: 0, stdout: `step ${session.model.lastStep}\n`, stderr: '' });
    expect(session.requests).toHaveLength(7);
    await expectUnharmed(session);
  });

  test.each(Object.entries(PHASES))('resumes when it is killed while %s', async (_, phase) => {
    await using session = await KilledSession.open();
    void session.start(PROMPT, ...ALLOWED);
    await phase.reach(session);
    await session.kill();
    const [agent] = await session.agents();
    expect(agent).toMatchObject({ status: 'interrupted', cause: 'process_ended', activity: null });
    const before = session.requests.length;
    await resume(session, '--resume', agent?.id.split('.')[0] ?? '');
    const request = session.requests[before]?.request;
    const told = request === undefined ? [] : unfinishedCalls({ request }).map(({ content }) => content);
    expect(told).toEqual((phase.told ?? []).map((text) => expect.stringContaining(text)));
    expect(session.requests).toHaveLength(phase.requests);
    await expectUnharmed(session);
  });
});

describe('LOG-1: a program killed between a response and what follows it', () => {
  test.each([
    ['reports an answer that was complete', 'end_turn', 1, 'one'],
    ['asks for the rest of one that was cut', 'max_tokens', 2, 'two'],
    ['asks for the rest of one that was paused', 'pause_turn', 2, 'onetwo'],
  ])('%s (%s)', async (_, stop_reason, requests, answer) => {
    let answers = 0;
    await using session = await KilledSession.open(() => {
      answers += 1;
      if (answers > 1) return { text: 'two' };
      return {
        text: 'one',
        stop_reason,
        ...(stop_reason === 'pause_turn' ? { content: [PAUSED_CALL] } : {}),
      };
    });
    const { child } = session.startProgram(crashProgram('stopping-consumer'));
    await once(child.stdout, 'data');
    await session.kill();
    expect(await session.agents()).toMatchObject([{ status: 'interrupted', cause: 'process_ended' }]);
    // The provider pauses searches alone.
    const ended = await session.start('--continue', '--allowedTools', 'WebSearch');
    expect(ended).toEqual({ code: 0, stdout: `${answer}\n`, stderr: '' });
    expect(session.requests).toHaveLength(requests);
    expectOneConversation(session.requests);
    expect(await session.usage()).toEqual(usageOf(session.requests));
    expect(await session.agents()).toMatchObject([{ status: 'done' }]);
  });
});

describe('LOG-1: kill and continue', () => {
  async function killAfter(session: KilledSession, ms: number): Promise<void> {
    await session.until(() => session.requests.length > 0);
    await sleep(ms);
    await session.kill();
  }

  async function finish(session: KilledSession): Promise<void> {
    const agents = await session.agents();
    // Killed after its end was on record: there is nothing to resume, and nothing is asked.
    if (agents[0]?.status === 'done') return;
    expect(agents).toMatchObject([{ status: 'interrupted', cause: 'process_ended' }]);
    await resume(session, '--continue');
  }

  test(`comes to the same end from ${RANDOM_MOMENTS} random moments`, {
    timeout: SAMPLE_TIMEOUT_MS,
  }, async () => {
    await using undisturbed = await KilledSession.open();
    const ended = undisturbed.start(PROMPT, ...ALLOWED);
    await undisturbed.until(() => undisturbed.requests.length > 0);
    const first = performance.now();
    await ended;
    const length = performance.now() - first;
    for (let number = 0; number < RANDOM_MOMENTS; number++) {
      await using session = await KilledSession.open();
      void session.start(PROMPT, ...ALLOWED);
      await killAfter(session, ((number + Math.random()) / RANDOM_MOMENTS) * length);
      await finish(session);
      await expectUnharmed(session);
    }
  });

  test(`loses nothing that was recorded in ${EARLY_MOMENTS} moments before the first request`, async () => {
    for (let number = 0; number < EARLY_MOMENTS; number++) {
      await using session = await KilledSession.open();
      void session.start(PROMPT, ...ALLOWED);
      await session.until(() => session.isHomeThere());
      await sleep(Math.random() * 20);
      await session.kill();
      if (session.requests.length > 0) continue;
      // Either nothing is left, or the prompt is: never a session without one.
      const [agent] = await session.agents();
      const silent = await session.start('--continue');
      if (agent === undefined) {
        expect(silent).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(/^ramet: .+\n$/) });
        expect((await session.start(PROMPT, ...ALLOWED)).code).toBe(0);
      } else expect(silent.code).toBe(0);
      await expectUnharmed(session);
    }
  });

  test('comes to the same end the moment an effect shows', async () => {
    await using session = await KilledSession.open();
    void session.start(PROMPT, ...ALLOWED);
    await session.until(() => traceOf(session).includes('second'));
    await session.kill();
    await finish(session);
    await expectUnharmed(session);
  });

  test('comes to the same end right after the final answer', async () => {
    await using session = await KilledSession.open();
    void session.start(PROMPT, ...ALLOWED);
    await session.until(() => session.requests[6]?.outcome === 'answered');
    await session.kill();
    await finish(session);
    await expectUnharmed(session);
  });

  test('comes to the same end however often it is killed', async () => {
    await using session = await KilledSession.open();
    void session.start(PROMPT, ...ALLOWED);
    await killAfter(session, 20);
    for (let kills = 1; kills < 6; kills++) {
      const before = session.requests.length;
      void session.start('--continue');
      await session.until(() => session.requests.length > before);
      await sleep(Math.random() * 15);
      await session.kill();
      if ((await session.agents())[0]?.status === 'done') break;
    }
    await finish(session);
    await expectUnharmed(session);
  });
});

function traceOf(session: KilledSession): string {
  return session.files()['trace.txt'] ?? '';
}

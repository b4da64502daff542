/** Scenes that every executor plays: what comes of them is compared, byte for byte where bytes matter. */

import { type Clock, systemClock } from '../../src/schema/clock.ts';
import type { JournalEvent } from '../../src/schema/events.ts';
import type { ExecutorKind } from '../../src/schema/status.ts';
import { digestOf } from '../../src/system/digest.ts';
import { type FamilyOptions, type FamilySession, promptBytes, startFamily } from '../fixtures/family.ts';

export const EXECUTORS_UNDER_TEST: readonly ExecutorKind[] = ['in-process', 'process'];

/** A session whose children run where `executor` says. */
export function startHosted(executor: ExecutorKind, options: FamilyOptions): Promise<FamilySession> {
  return startFamily({ ...options, agents: { ...options.agents, executor } });
}

export interface PlayedScene {
  result: unknown;
  /** What agent 2 recorded, without what differs from run to run. */
  recorded: unknown[];
  /** What everybody told, agent by agent. */
  events: string[];
  /** The requests of all agents, sorted: siblings race. */
  requests: string[];
}

/**
 * Everything takes no time. Reports say how long an agent took, and models read them: on a slow machine more digits are
 * more tokens.
 */
const WITHOUT_DURATIONS: Clock = { ...systemClock, elapsed: () => 0 };

/** Plays a scene to its end and leaves out of it what no two runs have in common. */
export async function playScene(
  executor: ExecutorKind,
  options: FamilyOptions,
  prompt: string,
): Promise<PlayedScene> {
  const family = await startHosted(executor, { ...options, clock: WITHOUT_DURATIONS });
  const plain = (text: string): string =>
    text
      .replaceAll(family.session.id, 'SESSION')
      .replaceAll(family.cwd, 'CWD')
      .replaceAll(/toolu_[0-9a-f]{12}\d+/g, 'CALL')
      .replaceAll(/ at [0-9a-f]{12}/g, ' at COMMIT');
  const { result, events } = await family.run(prompt);
  const { durationMs: _, ...told } = result;
  return {
    result: told,
    recorded: family.recordedOf(2).map((event) => JSON.parse(plain(JSON.stringify(timeless(event))))),
    events: events.map(({ type, agentId }) => plain(`${agentId} ${type}`)).sort(),
    requests: family.emulator.requests.map((record) => shortened(plain(promptBytes(record)))).sort(),
  };
}

/** Two that differ differ in this too, and it can be read when they do. */
function shortened(text: string): string {
  return `${text.slice(-200)} ${text.length} ${digestOf(text)}`;
}

const TIMES: ReadonlySet<string> = new Set([
  'durationMs',
  'firstTokenMs',
  'rate',
  'messageId',
  'pid',
  'origin',
]);

/** Digests of what names the session or its directory differ; so do times, and ids that the provider gives. */
function timeless(event: JournalEvent): unknown {
  return JSON.parse(
    JSON.stringify(event, (key, value) => {
      if (TIMES.has(key)) return undefined;
      return typeof value === 'string' && /^[\w-]{43}$|^[0-9a-f]{64}$/.test(value) ? 'DIGEST' : value;
    }),
  );
}

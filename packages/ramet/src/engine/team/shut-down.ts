/**
 * Ends a member that is to shut down (TEAM-4): it is asked, then its work is cancelled, then it is stopped. How its model
 * answers does not matter.
 */
import type { Clock } from '../../schema/clock.ts';
import type { Agent } from '../agent/agent.ts';
import { STOPPED } from '../agent/notices.ts';
import type { AgentHandle } from '../children/child-handle.ts';

/** For its current step and a last message. */
const ASKED_MS = 20_000;
/** For a summary of what it has done. */
const CANCELLED_MS = 10_000;

const SHUT_DOWN = `You are asked to shut down. Finish your current step, leave the files in a working state, say in one message to the lead what is open, and end your turn. In ${ASKED_MS / 1_000} seconds your work is cancelled in any case.`;

type StoppedMember = Pick<AgentHandle, 'result' | 'cancel' | 'stop'>;

/** Resolves when it has ended, or was stopped. */
export async function shutDown(
  member: { receive(kind: 'notification', from: null, text: string): void },
  handle: StoppedMember,
  clock: Clock,
): Promise<void> {
  const ended = new AbortController();
  void handle.result.then(() => ended.abort());
  member.receive('notification', null, SHUT_DOWN);
  await clock.sleep(ASKED_MS, ended.signal, { keepsAlive: false });
  if (ended.signal.aborted) return;
  handle.cancel();
  await clock.sleep(CANCELLED_MS, ended.signal, { keepsAlive: false });
  if (!ended.signal.aborted) handle.stop(STOPPED);
}

/** Each member is shut down once at a time. */
export class ShutDowns {
  readonly #under = new Set<string>();

  begin(name: string, member: Agent, handle: AgentHandle | undefined): void {
    if (handle === undefined || this.#under.has(name)) return;
    this.#under.add(name);
    void shutDown(member, handle, member.runtime.clock).finally(() => this.#under.delete(name));
  }
}

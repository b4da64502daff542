/**
 * Ends a member that is to shut down (TEAM-4): it is asked, then its work is cancelled, then it is stopped. How its model
 * answers does not matter.
 */
import { type FrozenBlock, freezeBlock } from '../../conversation/frozen-block.ts';
import type { Clock } from '../../schema/clock.ts';
import type { Agent } from '../agent/agent.ts';
import { STOPPED } from '../agent/notices.ts';
import type { AgentHandle } from '../children/child-handle.ts';

/** For its current step and a last message. */
const ASKED_MS = 20_000;
/** For a summary of what it has done. A command that does not end takes some seconds more: in all it is half a minute. */
const CANCELLED_MS = 7_000;

const SHUT_DOWN = `You are asked to shut down. Finish your current step, leave the files in a working state, say in one message to the lead what is open, and end your turn. In ${ASKED_MS / 1_000} seconds your work is cancelled in any case.`;

const ASKED_TO_END = noticeBlock(SHUT_DOWN);

const AGAIN =
  'You were stopped, and now you work again: nobody asks you to shut down any more. TaskList shows which tasks are yours.';

const AT_WORK_AGAIN = noticeBlock(AGAIN);

function noticeBlock(text: string): FrozenBlock {
  return freezeBlock({ type: 'text', text });
}

/** One that was asked to end works again: what it has not read of that is taken back, and what it has read is no longer so. */
export function worksAgain(agent: Agent): void {
  agent.takeFromInbox(({ blocks }) => blocks.some(({ digest }) => digest === ASKED_TO_END.digest), null);
  const { messages } = agent.conversation;
  const said = messages.flatMap(({ blocks }) => blocks).findLast(isOneOf(ASKED_TO_END, AT_WORK_AGAIN));
  const isWaiting = agent.inbox.items.some(({ blocks }) => blocks.some(isOneOf(AT_WORK_AGAIN)));
  if (said?.digest === ASKED_TO_END.digest && !isWaiting) agent.receive('notification', null, AGAIN);
}

function isOneOf(...wanted: readonly FrozenBlock[]): (block: FrozenBlock) => boolean {
  return ({ digest }) => wanted.some((one) => one.digest === digest);
}

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

/** What an agent keeps of itself besides its conversation, as plain data; live and on resume it is this fold. */
import type { EventOf, JournalEvent } from '../../schema/events.ts';
import { foldRefusals, type Refusals, refusalsOfFork } from './refusals.ts';

export interface OwnState {
  /** How often what was refused to it. */
  readonly refusals: Refusals;
  /** What it last said of its progress with the task it has; null before it said anything. */
  readonly progress: string | null;
}

export const NEW_STATE: OwnState = { refusals: [], progress: null };

/** What the first record of a fork says of its parent's; `calls` are those of the message that asks for it. */
export function inheritedState(
  { refusals }: OwnState,
  calls: ReadonlySet<string>,
): Pick<EventOf<'conversation.inherited'>, 'refusals'> {
  return refusalsOfFork(refusals, calls);
}

export function foldOwnState({ refusals, progress }: OwnState, event: JournalEvent): OwnState {
  return { refusals: foldRefusals(refusals, event), progress: foldProgress(progress, event) };
}

export function foldProgress(progress: string | null, event: JournalEvent): string | null {
  if (event.type === 'progress.reported') return event.line;
  return event.type === 'message.appended' && event.cause === 'prompt' ? null : progress;
}

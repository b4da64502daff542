/** What an agent last said of its progress with the task it has (RES-4); null before it said anything. */
import type { JournalEvent } from '../../schema/events.ts';

export function foldProgress(progress: string | null, event: JournalEvent): string | null {
  if (event.type === 'progress.reported') return event.line;
  return event.type === 'message.appended' && event.cause === 'prompt' ? null : progress;
}

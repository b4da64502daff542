/** What was said and done in a session, for programs. */
import type { RecordedEvent } from '../../schema/events.ts';
import { viewAgents } from '../../views/session-target.ts';
import { tellDamage } from '../../views/session-view.ts';
import {
  type SessionTranscript,
  transcriptObject,
  transcriptOf,
  viewTranscript,
} from '../../views/transcript.ts';
import { findPlace } from '../place.ts';
import { type CallOptions, callerOf } from './caller.ts';

export async function transcript(
  target: string | undefined,
  { full = false, ...options }: CallOptions & { full?: boolean } = {},
): Promise<SessionTranscript> {
  const caller = callerOf(options);
  using view = viewTranscript(target, findPlace(caller).project);
  tellDamage(view, caller);
  return transcriptOf(view, { full });
}

export async function exportSession(
  target: string | undefined,
  { format = 'markdown', ...options }: CallOptions & { format?: 'markdown' | 'json' } = {},
): Promise<string> {
  const caller = callerOf(options);
  using view = viewTranscript(target, findPlace(caller).project);
  tellDamage(view, caller);
  if (format === 'json') return JSON.stringify(transcriptObject(view, { full: true }));
  const { sessionMarkdown } = await import('../../views/session-markdown.ts');
  return [...sessionMarkdown(view)].join('');
}

export async function* readEvents(
  target: string | undefined,
  options: CallOptions = {},
): AsyncGenerator<RecordedEvent, void> {
  const caller = callerOf(options);
  using view = viewAgents(target, findPlace(caller).project);
  for (const recorded of view.reader.events(view.agent === null ? {} : { agent: view.agent })) {
    caller.signal.throwIfAborted();
    yield recorded;
  }
  tellDamage(view, caller);
}

/** Events as the rows of a journal have them, and as they are to be read. */
import type { AdoptedWork, EventOf, JournalEvent } from '../schema/events.ts';

/** Events as they are to be read after their repository was renamed: the paths of files are those of today. */
export function movedEvent(event: JournalEvent, moved: (path: string) => string): JournalEvent {
  switch (event.type) {
    case 'file.read':
    case 'file.changed':
      return { ...event, path: moved(event.path) };
    case 'files.restored':
      return { ...event, files: event.files.map((file) => ({ ...file, path: moved(file.path) })) };
    case 'message.appended':
      return event.adopted === undefined ? event : { ...event, adopted: movedWork(event.adopted, moved) };
    case 'conversation.replaced':
      return movedConversation(event, moved);
    case 'files.settled':
      return { ...event, failed: event.failed.map((file) => ({ ...file, path: moved(file.path) })) };
    default:
      return event;
  }
}

function movedWork({ agent, files }: AdoptedWork, moved: (path: string) => string): AdoptedWork {
  return { agent, files: files.map((file) => ({ ...file, path: moved(file.path) })) };
}

function movedConversation(
  event: EventOf<'conversation.replaced'>,
  moved: (path: string) => string,
): EventOf<'conversation.replaced'> {
  const { seen, takes } = event;
  const within = <File extends { path: string }>(files: readonly File[]): File[] =>
    files.map((file) => ({ ...file, path: moved(file.path) }));
  return {
    ...event,
    ...(seen && { seen: within(seen) }),
    ...(takes && { takes: { ...takes, touched: within(takes.touched) } }),
  };
}

/** Null for what is no event. */
export function eventFrom(data: string): JournalEvent | null {
  try {
    // Only a SessionWriter puts rows here, from a JournalEvent; versions are checked when opening.
    const event = JSON.parse(data) as JournalEvent | null;
    return typeof event?.type === 'string' ? event : null;
  } catch {
    return null;
  }
}

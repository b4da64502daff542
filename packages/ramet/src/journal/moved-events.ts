/** Events as they are to be read after their repository was renamed: the paths of files are those of today. */
import type { JournalEvent } from '../schema/events.ts';

export function movedEvent(event: JournalEvent, moved: (path: string) => string): JournalEvent {
  switch (event.type) {
    case 'file.read':
    case 'file.changed':
      return { ...event, path: moved(event.path) };
    case 'files.restored':
      return { ...event, files: event.files.map((file) => ({ ...file, path: moved(file.path) })) };
    case 'files.settled':
      return { ...event, failed: event.failed.map((file) => ({ ...file, path: moved(file.path) })) };
    default:
      return event;
  }
}

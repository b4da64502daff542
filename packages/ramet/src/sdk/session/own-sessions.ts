/**
 * The sessions that this process has open. `stop` ends one of them alone, from within: a signal would end the process
 * and every other session of it. Callers know a session only by its id, so the list belongs to the process, as the leases
 * do.
 */
export interface OwnSession {
  /** Interrupts what runs, and closes the session when that has ended, or without waiting for it once `hurry` is. */
  stop(hurry: Promise<unknown>): Promise<void>;
}

const open = new Map<string, OwnSession>();

/** `file` is its journal's. Returns the way out. */
export function enterOwn(file: string, session: OwnSession): () => void {
  open.set(file, session);
  return () => void open.delete(file);
}

export function findOwn(file: string): OwnSession | undefined {
  return open.get(file);
}

/**
 * The sessions that this process has open. Whoever is asked to stop one of them ends that one alone, from within: a
 * signal would end the process, and every other session of it. Callers know a session by its id only, so this list is
 * the process's, as the process's leases are.
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

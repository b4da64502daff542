/** Clears up what is old some seconds into a session, where a setting says so. */
import type { ResolvedOptions } from '../options.ts';
import type { Place } from '../place.ts';

const AFTER_MS = 3_000;

/**
 * Automatic retention (`retention.days`, off unless it is set): some seconds into a session, what is older goes, by the
 * rules of `ramet gc`. Beside everything else; what goes wrong is found again by the next one, or by `ramet gc`.
 *
 * Returns the way out, for a session that ends before.
 */
export function retainLater(settings: ResolvedOptions, place: Place): Disposable {
  const days = settings.settings.retention?.days;
  if (days === undefined) return { [Symbol.dispose]() {} };
  const work = (): Promise<unknown> => retain({ place, days, now: settings.clock.now() });
  const timer = setTimeout(() => void work().catch(() => {}), AFTER_MS).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** The sessions that went. */
export async function retain(order: { place: Place; days: number; now: number }): Promise<string[]> {
  const { place, days, now } = order;
  const { sessionHoldings } = await import('./session-holdings.ts');
  const { removeSession } = await import('./remove-session.ts');
  const { sessionsWithWorktrees } = await import('./session-holdings.ts');
  const withWorktrees = sessionsWithWorktrees(place);
  return sessionHoldings(place.project, { now, days, withWorktrees })
    .filter(({ keep }) => keep === null)
    .filter(({ session, written }) => removeSession(place.project, session, written) === 'removed')
    .map(({ session }) => session);
}

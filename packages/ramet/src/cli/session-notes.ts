/** What a person should know of a session that was just opened, one line each. */
import { isEmbedded } from '../model/catalog.ts';
import type { RecordListener } from '../sdk/session/event-bus.ts';
import type { Session } from '../sdk/session/session.ts';
import { checkoutWarning } from '../system/text/checkout-warning.ts';
import { printable } from '../views/text/format.ts';
import type { CommandIo } from './io.ts';

const NO_KEY =
  'no key set: using the recipe model, which carries out the commands in the task (see docs/recipe.md)';

/** `chosen`: the user named a model or a provider, or the resumed session had one (MODEL-1). */
export function sessionNotes(
  { repository, agent, model, notices }: Session,
  { cwd, env }: CommandIo,
  chosen: boolean,
): string[] {
  const embeddedByDefault = isEmbedded(model) && !chosen && !env.RAMET_PROVIDER;
  return [
    ...notices,
    ...(repository === null ? [`${agent.cwd} is not in a git repository: working without git`] : []),
    // A resumed session continues where it began.
    ...(agent.cwd === cwd ? [] : [`continuing in ${agent.cwd}`]),
    ...(embeddedByDefault ? [NO_KEY] : []),
  ];
}

/**
 * Says that a checkout changed while an agent was in a worktree of it, as soon as that is on record (WORK-9).
 *
 * Each change once, however many agents saw it.
 */
export function tellingChanges(note: (line: string) => void, next?: RecordListener): RecordListener {
  const told = new Set<string>();
  return (agent, event) => {
    next?.(agent, event);
    if (event.type !== 'worktree.released') return;
    const fresh = (event.checkoutChanges ?? []).filter((text) => !told.has(text));
    for (const text of fresh) told.add(text);
    if (fresh.length === 0) return;
    note(printable(`${event.from} changed meanwhile; ${checkoutWarning(fresh)}`));
  };
}

/** What is on record of a session itself: how it started, how it was resumed, and what it was given each time. */
import type { GitState } from '../../../git/shapes.ts';
import type { JournalReader } from '../../../journal/journal.ts';
import type { EventOf } from '../../../schema/events.ts';
import type { GivenRights } from '../../../schema/status.ts';
import type { ResolvedOptions } from '../../options.ts';
import type { Place } from '../../place.ts';
import { VERSION } from '../../version.ts';
import type { SharedParts } from '../session-runtime.ts';
import { foldersOf } from './session-rules.ts';

export function recordStarted(
  { runtime, watch }: SharedParts,
  { cwd, repository }: Place,
  settings: ResolvedOptions,
  git: GitState | null,
): void {
  const { coordinator, housekeeping } = settings;
  const given = givenRights(settings, cwd, runtime.redact);
  runtime.journal.append(null, {
    type: 'session.started',
    version: VERSION,
    cwd,
    repository: repository?.root ?? null,
    ...(git?.known && { branch: git.branch }),
    ...(watch && { watches: watch.run }),
    ...(coordinator && { coordinator: true as const }),
    ...(housekeeping && { housekeeping: true as const }),
    ...(given && { given }),
  });
}

export function recordResumed({ runtime }: SharedParts, { cwd }: Place, settings: ResolvedOptions): void {
  const given = givenRights(settings, cwd, runtime.redact);
  runtime.journal.append(null, { type: 'session.resumed', version: VERSION, cwd, ...(given && { given }) });
}

/** What the options give a session; undefined for nothing. */
function givenRights(
  { givenRules, additionalDirectories = [] }: ResolvedOptions,
  cwd: string,
  redact: (text: string) => string,
): GivenRights | undefined {
  const { allow = [], ask = [], deny = [] } = givenRules;
  const lists = { allow, ask, deny, folders: foldersOf(additionalDirectories, cwd) };
  const given = Object.entries(lists).filter(([, texts]) => texts.length > 0);
  if (given.length === 0) return undefined;
  return Object.fromEntries(given.map(([list, texts]) => [list, texts.map(redact)]));
}

/** All that a session was given when it started and each time it was resumed. */
export function recordedRights(reader: JournalReader): Required<GivenRights> {
  const all = { allow: new Set<string>(), ask: new Set<string>(), deny: new Set<string>() };
  const folders = new Set<string>();
  for (const { event } of reader.events({ types: ['session.started', 'session.resumed'] })) {
    // No other type comes.
    const { given = {} } = event as EventOf<'session.started' | 'session.resumed'>;
    for (const list of ['allow', 'ask', 'deny'] as const)
      for (const text of given[list] ?? []) all[list].add(text);
    for (const folder of given.folders ?? []) folders.add(folder);
  }
  return { allow: [...all.allow], ask: [...all.ask], deny: [...all.deny], folders: [...folders] };
}

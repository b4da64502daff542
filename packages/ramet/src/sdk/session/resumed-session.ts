/** Opens a session that was there before: finds it, takes its journal over, and rebuilds the main agent. Loaded late. */
import { existsSync } from 'node:fs';
import { tellOfLostEnd } from '../../engine/opening.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { findSession, latestSession, type SessionEntry } from '../../journal/session-list.ts';
import { openReader, resumeSession } from '../../journal/sessions.ts';
import { thinkingNote } from '../../model/thinking.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { EventOf } from '../../schema/events.ts';
import { agentId, MAIN_TYPE, type SessionId } from '../../schema/ids.ts';
import { isInside } from '../../system/landing-path.ts';
import { teamFile } from '../../team/wake-line.ts';
import { isHousekeeping } from '../../views/session-view.ts';
import { offeringMembers, openAgentTypes, ToldTypes, typeContext } from '../agent-types/agent-types.ts';
import { extensionPlace, findPlugins, withPlugins } from '../extensions/plugins.ts';
import { openPrompts } from '../extensions/session-prompts.ts';
import { endOrphans, finishAdoptions, recordEndedOrphans } from '../leftovers.ts';
import { TeamSync } from '../memory/team-sync.ts';
import type { ResolvedOptions } from '../options.ts';
import { findPlace, type Place } from '../place.ts';
import { observedJournal } from './event-bus.ts';
import type { LiveParts } from './live-parts.ts';
import { resumeMain } from './main/main-agent.ts';
import type { TypedParts } from './main/main-type.ts';
import { readSurroundings, surroundingsFor } from './main/surroundings.ts';
import { shareParts } from './session-runtime.ts';
import { openGround, type SessionOrder, watchFor } from './setup/session-ground.ts';
import { recordedRights } from './setup/session-record.ts';
import { openRules, recallRules } from './setup/session-rules.ts';
import { settingsPlace } from './setup/session-settings.ts';
import { noticesAgain, openSessionTools } from './tools/session-tools.ts';

/** `wanted` is a session's id, a unique beginning of one, or `latest`. */
export async function reopen(
  order: SessionOrder,
  wanted: string,
  forks = false,
): Promise<Omit<LiveParts, 'open' | 'startSource'>> {
  const { settings: asked, provider } = order;
  const here = findPlace(asked);
  const entry = wanted === 'latest' ? latestHere(here) : findSession(here.project, wanted);
  if (entry === null) {
    const reason = 'there is no session of this working tree to continue: start one with -p PROMPT';
    throw new UserMistake('no_session', reason);
  }
  if (forks) {
    // Before it is made: it would be left behind. A team stays with its session.
    refuseOtherTeam(asked, null);
    refuseOtherRole(asked, readStart(here.project, entry.session)?.coordinator === true);
    const { forkSession } = await import('../fork-session.ts');
    return reopen(order, await forkSession(entry, { project: here.project, sessionId: asked.sessionId }));
  }
  // The conversation names the directory it began in, and continues there.
  const place = entry.cwd === '' ? here : findPlace({ ...asked, cwd: entry.cwd });
  await using opened = new AsyncDisposableStack();
  const { plugins, problems } = await findPlugins(place, asked);
  const teams = existsSync(teamFile(here.project)) ? await import('./session-team.ts') : null;
  const { name: teamName = null, problem: noTeams = null } =
    teams?.teamOfSession(here.project, entry.session) ?? {};
  refuseOtherTeam(asked, teamName);
  const isCoordinated = readStart(here.project, entry.session)?.coordinator === true;
  refuseOtherRole(asked, isCoordinated);
  const coordinating = isCoordinated ? await import('./session-coordinator.ts') : null;
  const plain = { ...(await withPlugins(asked, plugins, place)), team: teamName };
  const given = coordinating?.coordinated(plain) ?? plain;
  const prompts = await openPrompts(
    extensionPlace(place, given.env, plugins),
    settingsPlace(place, given.env),
  );
  const extra = opened.use(await openSessionTools({ settings: given, place, prompts, provider }));
  const names = extra.tools.map(({ name }) => name);
  const permissions = openRules(given, here, names);
  // Whatever still runs for the agent would work beside it.
  const [ended, finished, known] = await Promise.all([
    endOrphans(here),
    finishAdoptions(here, entry.session),
    openAgentTypes(place, given.env, typeContext(given, { alsoTools: names, plugins })),
  ]);
  const types = offeringMembers(known, teamName !== null);
  await extra.prepareTypes(types.definitions);
  const warnings: string[] = [];
  const {
    journal: written,
    reader,
    endIsMissing,
  } = await resumeSession({
    ...given,
    onWarning: (message) => warnings.push(message),
    project: here.project,
    session: entry.session,
  });
  const journal = observedJournal(written, given.onRecord);
  try {
    recordEndedOrphans(journal, ended);
    const settings = await asRecorded(given, reader, { session: entry.session, types, extra, prompts });
    recallRules(permissions, reader, place, { ...settings, tools: names, given: recordedRights(reader) });
    const ground = openGround(order, place, permissions);
    const teamSync = TeamSync.of(settings, place);
    teamSync?.start();
    const watch = await watchFor(watchedRun(reader), settings);
    permissions.allow(watch?.allow ?? []);
    const shared = {
      ...shareParts(settings, place, types, { ...ground, journal, extra, prompts, teamSync }, reader),
      watch,
    };
    const agent = await resumeMain(shared, reader, place, settings);
    if (endIsMissing) tellOfLostEnd(agent);
    if (shared.family.parts.lastNumber > 1) {
      const line = await (await import('../../engine/later.ts')).finishAdopting(agent, reader);
      if (line !== null) finished.push(line);
    }
    const begun = agent.conversation.messages.length > 0;
    const { cwd } = agent.directory;
    const surroundings = begun
      ? null
      : await surroundingsFor(
          settings,
          place,
          await readSurroundings(place, ground.childEnvironment, ground.redact, cwd),
          ground.redact,
          teamSync,
        );
    const told = ToldTypes.ofHead(types.definitions, agent.conversation.head.tools);
    const note = thinkingNote(settings.thinking, agent.conversation.head.model, provider);
    const brought = settings.mainType?.tools(extra.tools) ?? extra.tools;
    const toolNotices =
      watch === undefined
        ? [
            ...extra.notices,
            ...extra.typeNotices(types.definitions),
            ...noticesAgain(brought, agent.spec.tools),
          ]
        : [];
    const notices = [
      ...settings.notices,
      ...finished,
      ...warnings,
      ...((begun ? teamSync?.begunBefore() : null) ?? []),
      ...(noTeams === null ? [] : [noTeams]),
      ...(note === null ? [] : [note]),
      ...toolNotices,
      ...problems,
      ...(await prompts.notices(extra.tools.map(({ name }) => name))),
      ...(begun && isOtherPrompt(settings) ? [KEEPS_PROMPT] : []),
    ];
    const team =
      teamName === null
        ? undefined
        : teams?.openTeam({
            ...{ project: here.project, family: shared.family, lead: agent },
            ...{ session: entry.session, name: teamName },
            left: here.repository === null ? undefined : { cwd: here.cwd, env: settings.env },
          });
    const coordinator = await coordinating?.openCoordinator({
      ...{ family: shared.family, lead: agent, permissions, isResumed: true },
    });
    const roles = { ...(team && { team }), ...(coordinator && { coordinator }) };
    const own = { agent, place, surroundings, told, isResumed: true, ...roles };
    opened.move();
    return { ...shared, ...own, settings: { ...settings, notices } };
  } catch (error) {
    await journal.close();
    throw error;
  } finally {
    reader.close();
  }
}

function refuseOtherTeam({ team }: ResolvedOptions, has: string | null): void {
  if (team === null || team === true || team === has) return;
  const why = has === null ? 'this session began without a team' : `this session leads the team "${has}"`;
  throw new UserMistake('not_for_resume', `${why}: leave --team out, or begin a new session`);
}

/** The environment asks for new sessions alone, and so does not get here. */
function refuseOtherRole({ coordinator }: ResolvedOptions, has: boolean): void {
  if (!coordinator || has) return;
  throw new UserMistake(
    'not_for_resume',
    'this session began without a coordinator: leave --coordinator out, or begin a new session',
  );
}

/** Null also for a record that cannot be read: opening it says why. */
function readStart(project: string, session: SessionId): EventOf<'session.started'> | null {
  let reader: JournalReader | null = null;
  try {
    reader = openReader({ project, session, forgiving: true });
    // It is among the first: to look for its kind would read all of a long record.
    for (const { event } of reader.events()) if (event.type === 'session.started') return event;
    return null;
  } catch {
    return null;
  } finally {
    reader?.close();
  }
}

/** With the type that the main agent began as; most are of none. */
async function asRecorded(
  settings: ResolvedOptions,
  reader: JournalReader,
  parts: TypedParts & { readonly session: SessionId },
): Promise<ResolvedOptions> {
  const type = recordedType(reader, parts.session);
  return type === MAIN_TYPE
    ? settings
    : (await import('./main/main-type.ts')).typedAgain(settings, type, parts);
}

function recordedType(reader: JournalReader, session: SessionId): string {
  for (const { event } of reader.events({ agent: agentId(session, 1), type: 'agent.started' }))
    if (event.type === 'agent.started') return event.agentType;
  return MAIN_TYPE;
}

const KEEPS_PROMPT =
  'systemPrompt and appendSystemPrompt are for a new session: a resumed one keeps the system prompt it began with';

function isOtherPrompt({ systemPrompt, appendSystemPrompt }: ResolvedOptions): boolean {
  return systemPrompt !== null || appendSystemPrompt !== null;
}

/** The run that the session has watched from its beginning. */
function watchedRun(reader: JournalReader): string | undefined {
  for (const { event } of reader.events({ types: ['session.started'] }))
    if (event.type === 'session.started') return event.watches;
  return undefined;
}

/** The newest session of this working tree that can be resumed. */
function latestHere({ project, cwd, repository }: Place): SessionEntry | null {
  const root = repository?.root ?? cwd;
  return latestSession(project, (entry) => isInside(entry.cwd, root) && hasPrompt(project, entry.session));
}

function hasPrompt(project: string, session: SessionId): boolean {
  const reader = openReader({ project, session });
  try {
    if (isHousekeeping(reader)) return false;
    return Iterator.from(reader.events()).some(({ event }) => event.type === 'message.appended');
  } finally {
    reader.close();
  }
}

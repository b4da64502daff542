/**
 * Opens a session, new or resumed: finds where it works, reads its rules, opens the journal and makes the main agent.
 * `live-session.ts` runs prompts and releases everything, in order: `await using session = await openSession({...})`.
 *
 * A new session is put together here, one that was there before in `resumed-session.ts`. What both stand on is in
 * `session-ground.ts`, and what their agents share in `session-runtime.ts`.
 */
import {
  type AgentWorkspace,
  type AgentWorkspaces,
  directoryIn,
} from '../../git/worktrees/workspace/agent-workspace.ts';
import { createSession } from '../../journal/sessions.ts';
import { RECIPE_MODEL } from '../../model/catalog.ts';
import { newSessionThinking, thinkingNote } from '../../model/thinking.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { StartSource } from '../../schema/status.ts';
import { noteProject } from '../../system/home.ts';
import {
  chosenTools,
  offeringMembers,
  openAgentTypes,
  ToldTypes,
  typeContext,
} from '../agent-types/agent-types.ts';
import { checkSessionOptions } from '../check-session-options.ts';
import { extensionPlace, findPlugins, withPlugins } from '../extensions/plugins.ts';
import { openPrompts } from '../extensions/session-prompts.ts';
import { endOrphans, finishAdoptions, recordEndedOrphans } from '../leftovers.ts';
import { TeamSync } from '../memory/team-sync.ts';
import type { RunWatch } from '../operator/control/watch-run.ts';
import {
  newSessionModel,
  type ResolvedOptions,
  refuseUnenforceableBudget,
  resolveOptions,
  type SessionOptions,
} from '../options.ts';
import { findPlace, type Place } from '../place.ts';
import { observedJournal } from './event-bus.ts';
import type { LiveParts } from './live-parts.ts';
import { liveSession } from './live-session.ts';
import { moveMain, startAgent } from './main/main-agent.ts';
import { readSurroundings, surroundingsFor } from './main/surroundings.ts';
import { titleOf } from './prompts/begin-prompt.ts';
import { shareParts } from './session-runtime.ts';
import type { PromptSchema, Session } from './session-type.ts';
import { openGround, ownProvider, type SessionOrder, watchFor } from './setup/session-ground.ts';
import { openRules } from './setup/session-rules.ts';
import { sessionSettings, settingsPlace } from './setup/session-settings.ts';
import { openSessionTools } from './tools/session-tools.ts';

export type { SessionEvent } from './event-bus.ts';
export type { CompactRequest, PromptOptions, RunResult, Session } from './session-type.ts';

export async function openSession(options: SessionOptions = {}): Promise<Session> {
  checkSessionOptions(options);
  const resolved = resolveOptions(options, await sessionSettings(options));
  const { builtInTools } = resolved;
  const settings = builtInTools ? { ...resolved, builtInTools: chosenTools(builtInTools) } : resolved;
  const order = { settings, provider: options.provider ?? (await ownProvider(settings)) };
  const startSource = startSourceOf(options);
  const parts = { ...(await openParts(options, order)), open: openSession, startSource };
  offerTeam(parts);
  return liveSession(parts);
}

function startSourceOf({ resume, forkSession, startSource = 'startup' }: SessionOptions): StartSource {
  if (resume === undefined) return startSource;
  return forkSession === true ? 'fork' : 'resume';
}

/** The first member makes a team of a session that began without one. */
function offerTeam(parts: LiveParts): void {
  const { family, team, coordinator, watch } = parts;
  if (team !== undefined || coordinator !== undefined || watch !== undefined) return;
  family.startTeam = async () => (await import('./session-team.ts')).beginTeam(parts);
}

/** For callers that want to know before they open one; `whose` names it for them. */
export async function refuseBadSchema(schema: PromptSchema, whose: string): Promise<void> {
  await (await import('./prompts/prompt-input.ts')).typedAnswer(schema, whose);
}

async function openParts(
  { resume, operatorTools, forkSession = false }: SessionOptions,
  order: SessionOrder,
): Promise<Omit<LiveParts, 'open' | 'startSource'>> {
  const { settings } = order;
  const { ownTools, builtInTools, agent } = settings;
  if (
    operatorTools !== undefined &&
    (ownTools.length > 0 || builtInTools !== undefined || agent !== undefined)
  )
    throw new UserMistake(
      'bad_argument',
      'openSession: a session that watches a run has its own tools and type: leave tools, builtInTools and agent out',
    );
  if (resume === undefined)
    return openNew(order, findPlace(settings), await watchFor(operatorTools, settings));
  if (operatorTools !== undefined)
    throw new UserMistake(
      'not_for_resume',
      'operatorTools is for a new session: one that is resumed keeps the tools it began with',
    );
  const { reopen } = await import('./resumed-session.ts');
  return reopen(order, resume, forkSession);
}

function noWatcher(): UserMistake {
  return new UserMistake(
    'no_watcher',
    'the recipe model cannot watch a run: set ANTHROPIC_API_KEY or --model, or look yourself: ramet operate status',
  );
}

/** The journal is made last: a process killed before has left nothing, one killed after has left its prompt. */
async function openNew(
  order: SessionOrder,
  place: Place,
  watch: RunWatch | undefined,
): Promise<Omit<LiveParts, 'open' | 'startSource'>> {
  const { provider, settings: asked } = order;
  const teams = asked.team === null ? null : await import('./session-team.ts');
  teams?.refuseTeamName(place.project, asked.team ?? true);
  refuseUnenforceableBudget(newSessionModel(asked, provider), asked);
  if (watch !== undefined && newSessionModel(asked, provider) === RECIPE_MODEL) throw noWatcher();
  await using opened = new AsyncDisposableStack();
  const coordinating = asked.coordinator ? await import('./session-coordinator.ts') : null;
  coordinating?.refuseOtherRoles(asked, watch !== undefined);
  const { plugins, problems } = await findPlugins(place, asked);
  const plain = await withPlugins(asked, plugins, place);
  const given = coordinating?.coordinated(plain) ?? plain;
  const prompts = await openPrompts(
    extensionPlace(place, given.env, plugins),
    settingsPlace(place, given.env),
  );
  const extra = opened.use(
    await openSessionTools({ settings: given, place, prompts, provider }, watch && []),
  );
  const tools = extra.tools.map(({ name }) => name);
  const permissions = openRules(given, place, tools);
  permissions.allow(watch?.allow ?? []);
  const orphans = endOrphans(place);
  const finished = await finishAdoptions(place);
  const teamSync = TeamSync.of(given, place);
  teamSync?.start();
  opened.defer(async () => teamSync?.close({ isHurried: true }));
  const ground = openGround(order, place, permissions);
  const { workspaces, redact } = ground;
  opened.use(workspaces);
  const workspace = await ownWorkspace(workspaces, given, place);
  if (workspace !== null) opened.defer(async () => void (await workspace.release()));
  const cwd = workspace === null ? place.cwd : directoryIn(workspace.worktree, place.cwd);
  const reading = Promise.all([
    readSurroundings(place, ground.childEnvironment, redact, cwd),
    openAgentTypes(place, given.env, typeContext(given, { alsoTools: tools, plugins })),
  ]);
  void workspaces.expect(place.project);
  const [found, known] = await reading;
  const types = offeringMembers(known, teams !== null);
  const settings =
    given.agent === undefined
      ? given
      : await (await import('./main/main-type.ts')).typedOptions(given, { provider, types, extra, prompts });
  let surroundings = await surroundingsFor(settings, place, found, redact, teamSync);
  const note = thinkingNote(newSessionThinking(settings), newSessionModel(settings, provider), provider);
  const ended = await orphans;
  const journal = observedJournal(
    await createSession({ ...settings, ...place, title: titleOf(settings.title ?? '', redact) }),
    settings.onRecord,
  );
  noteProject(place.project, place.repository?.commonDirectory ?? place.cwd);
  recordEndedOrphans(journal, ended);
  const shared = {
    ...shareParts(settings, place, types, { ...ground, journal, extra, prompts, teamSync }, null),
    watch,
  };
  if (surroundings.git !== null) void shared.git.note(cwd, Promise.resolve(surroundings.git));
  const agent = startAgent(shared, place, settings, found.git);
  const housed = workspace === null ? null : await moveMain(agent, workspace);
  if (housed !== null && housed !== workspace) {
    // A hook made another directory, with instructions and a state of its own.
    const there = directoryIn(housed.worktree, place.cwd);
    const read = await readSurroundings(place, ground.childEnvironment, redact, there);
    surroundings = await surroundingsFor(settings, place, read, redact, teamSync);
  }
  const told = ToldTypes.ofAll(types.definitions);
  const notices = [
    ...settings.notices,
    ...finished,
    ...(housed?.warnings ?? []),
    ...(note === null ? [] : [note]),
    ...extra.notices,
    ...extra.typeNotices(types.definitions),
    ...problems,
    ...(await prompts.notices(tools)),
    ...surroundings.problems,
  ];
  const team = teams?.openTeam({
    ...{ project: place.project, family: shared.family, lead: agent },
    ...{ session: journal.session, name: settings.team ?? true },
  });
  const coordinator = await coordinating?.openCoordinator({
    ...{ family: shared.family, lead: agent, permissions, isResumed: false },
  });
  const roles = { ...(team && { team }), ...(coordinator && { coordinator }) };
  const own = { agent, place, surroundings, told, isResumed: false, ...roles };
  // From here on the session releases them.
  opened.move();
  return { ...shared, ...own, settings: { ...settings, notices } };
}

/** The worktree that the session itself works in; null for none. */
async function ownWorkspace(
  workspaces: AgentWorkspaces,
  { worktree: name, worktreeBase: base }: ResolvedOptions,
  { cwd }: Place,
): Promise<AgentWorkspace | null> {
  if (name === null) return null;
  if (name !== true) refusePath(name);
  const request = { owner: null, cwd, base };
  return name === true
    ? workspaces.create({ ...request, name: 'work' })
    : workspaces.enter({ ...request, name });
}

/** Names of worktrees leave out what a branch cannot have: a path would silently become another name. */
function refusePath(name: string): void {
  if (!/^[/\\~]|(?:^|[/\\])\.{1,2}(?:[/\\]|$)/.test(name)) return;
  const reason = `${JSON.stringify(name)} is a path, and a worktree has a name: give one such as "fix-parser"`;
  throw new UserMistake('worktree_name', `${reason}; Ramet chooses the directory`);
}

/**
 * Opens a session, new or resumed: finds where it works, reads its rules, opens the journal and makes the main agent.
 * `live-session.ts` runs prompts and releases everything, in order: `await using session = await openSession({...})`.
 */
import { tellOfLostEnd } from '../../engine/opening.ts';
import {
  type AgentWorkspace,
  type AgentWorkspaces,
  directoryIn,
} from '../../git/worktrees/workspace/agent-workspace.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { findSession, latestSession, type SessionEntry } from '../../journal/session-list.ts';
import { createSession, openReader, resumeSession } from '../../journal/sessions.ts';
import { RECIPE_MODEL } from '../../model/catalog.ts';
import type { ModelProvider } from '../../model/provider.ts';
import { withRecipe } from '../../model/recipe/recipe.ts';
import { selectProvider } from '../../model/select-provider.ts';
import { newSessionThinking, thinkingNote } from '../../model/thinking.ts';
import {
  describeProblem,
  joinRules,
  parseRules,
  type RuleOrigin,
  type RuleSet,
  type RuleTexts,
  type SessionRules,
  sessionRules,
} from '../../permission/policy.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { SessionId } from '../../schema/ids.ts';
import { noteProject } from '../../system/home.ts';
import { isInside } from '../../system/landing-path.ts';
import { createRedactor } from '../../tools/redaction/redact.ts';
import { openAgentTypes, ToldTypes } from '../agent-types/agent-types.ts';
import { endOrphans, recordEndedOrphans } from '../leftovers.ts';
import type { RunWatch } from '../operator/control/watch-run.ts';
import {
  newSessionModel,
  type ResolvedOptions,
  refuseUnenforceableBudget,
  resolveOptions,
  type SessionOptions,
} from '../options.ts';
import { findPlace, type Place } from '../place.ts';
import { checkSessionOptions } from '../session-options.ts';
import { observedJournal } from './event-bus.ts';
import type { LiveParts } from './live-parts.ts';
import { liveSession } from './live-session.ts';
import { moveMain, readSurroundings, resumeMain, startAgent } from './main-agent.ts';
import {
  environmentOfChildren,
  openWorkspaces,
  type SharedParts,
  shareParts,
  watchLimits,
} from './session-runtime.ts';
import { sessionSettings } from './session-settings.ts';
import type { Session } from './session-type.ts';

export type { SessionEvent } from './event-bus.ts';
export type { CompactRequest, Session } from './session-type.ts';

export async function openSession(options: SessionOptions = {}): Promise<Session> {
  checkSessionOptions(options);
  const settings = resolveOptions(options, await sessionSettings(options));
  const provider =
    options.provider ??
    withRecipe(
      await selectProvider(settings.env, settings.settings.provider, watchLimits(settings.settings.limits)),
    );
  if (options.resume === undefined) {
    const watch = await watchFor(options.operatorTools, settings);
    return openNew(settings, findPlace(settings), provider, watch);
  }
  if (options.operatorTools !== undefined)
    throw new UserMistake(
      'not_for_resume',
      'operatorTools is for a new session: one that is resumed keeps the tools it began with',
    );
  return reopen(settings, options.resume, provider);
}

function noWatcher(): UserMistake {
  return new UserMistake(
    'no_watcher',
    'the recipe model cannot watch a run: set ANTHROPIC_API_KEY or --model, or look yourself: ramet operate status',
  );
}

/** Loaded late: few sessions watch a run. */
async function watchFor(
  run: string | true | undefined,
  { cwd, env }: ResolvedOptions,
): Promise<RunWatch | undefined> {
  if (run === undefined) return undefined;
  const { watchRun } = await import('../operator/control/watch-run.ts');
  return watchRun({ cwd, env, session: run === true ? undefined : run });
}

/** The journal is made last: a process killed before has left nothing, one killed after has left its prompt. */
async function openNew(
  settings: ResolvedOptions,
  place: Place,
  provider: ModelProvider,
  watch: RunWatch | undefined,
): Promise<Session> {
  const model = newSessionModel(settings, provider);
  refuseUnenforceableBudget(model, settings);
  if (watch !== undefined && model === RECIPE_MODEL) throw noWatcher();
  const note = thinkingNote(newSessionThinking(settings), model, provider);
  const permissions = openRules(settings, place);
  permissions.allow(watch?.allow ?? []);
  const redact = createRedactor(settings.env);
  const orphans = endOrphans(place);
  const childEnvironment = environmentOfChildren(settings);
  const workspaces = openWorkspaces(settings, place, childEnvironment);
  const workspace = await ownWorkspace(workspaces, settings, place);
  try {
    const cwd = workspace === null ? place.cwd : directoryIn(workspace.worktree, place.cwd);
    const reading = Promise.all([
      readSurroundings(place, childEnvironment, redact, cwd),
      openAgentTypes(place, settings.env),
    ]);
    void workspaces.expect(place.project);
    const [surroundings, types] = await reading;
    const ended = await orphans;
    const journal = observedJournal(
      await createSession({ ...settings, ...place, title: titleOf(settings, redact) }),
      settings.onRecord,
    );
    noteProject(place.project, place.repository?.commonDirectory ?? place.cwd);
    recordEndedOrphans(journal, ended);
    const parts = { journal, provider, redact, permissions, workspaces, childEnvironment };
    const shared = { ...shareParts(settings, place, types, parts, null), watch };
    if (surroundings.git !== null) void shared.git.note(cwd, Promise.resolve(surroundings.git));
    const agent = startAgent(shared, place, settings, surroundings.git);
    if (workspace !== null) await moveMain(agent, workspace);
    const told = ToldTypes.ofAll(types.definitions);
    const notices = [...settings.notices, ...(workspace?.warnings ?? []), ...(note === null ? [] : [note])];
    const own = { agent, place, surroundings, told };
    return live(shared, settings, notices, { ...own, isResumed: false });
  } catch (error) {
    await workspace?.release();
    await workspaces[Symbol.asyncDispose]();
    throw error;
  }
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

async function reopen(settings: ResolvedOptions, wanted: string, provider: ModelProvider): Promise<Session> {
  const here = findPlace(settings);
  const entry = wanted === 'latest' ? latestHere(here) : findSession(here.project, wanted);
  if (entry === null) {
    const reason = 'there is no session of this working tree to continue: start one with -p PROMPT';
    throw new UserMistake('no_session', reason);
  }
  const permissions = openRules(settings, here);
  // The conversation names the directory it began in, and continues there.
  const place = entry.cwd === '' ? here : findPlace({ ...settings, cwd: entry.cwd });
  // Whatever still runs for the agent would work beside it.
  const [ended, types] = await Promise.all([endOrphans(here), openAgentTypes(place, settings.env)]);
  const warnings: string[] = [];
  const {
    journal: written,
    reader,
    endIsMissing,
  } = await resumeSession({
    ...settings,
    onWarning: (message) => warnings.push(message),
    project: here.project,
    session: entry.session,
  });
  const journal = observedJournal(written, settings.onRecord);
  try {
    recordEndedOrphans(journal, ended);
    recallRules(permissions, reader, place, settings);
    const redact = createRedactor(settings.env);
    const childEnvironment = environmentOfChildren(settings);
    const workspaces = openWorkspaces(settings, place, childEnvironment);
    const parts = { journal, provider, redact, permissions, workspaces, childEnvironment };
    const watch = await watchFor(watchedRun(reader), settings);
    permissions.allow(watch?.allow ?? []);
    const shared = { ...shareParts(settings, place, types, parts, reader), watch };
    const agent = await resumeMain(shared, reader, place, settings);
    if (endIsMissing) tellOfLostEnd(agent);
    const begun = agent.conversation.messages.length > 0;
    const { cwd } = agent.directory;
    const surroundings = begun ? null : await readSurroundings(place, childEnvironment, redact, cwd);
    const told = ToldTypes.ofHead(types.definitions, agent.conversation.head.tools);
    const note = thinkingNote(settings.thinking, agent.conversation.head.model, provider);
    const notices = [...settings.notices, ...warnings, ...(note === null ? [] : [note])];
    const own = { agent, place, surroundings, told };
    return live(shared, settings, notices, { ...own, isResumed: true });
  } catch (error) {
    await journal.close();
    throw error;
  } finally {
    reader.close();
  }
}

/** The run that the session has watched from its beginning. */
function watchedRun(reader: JournalReader): string | undefined {
  for (const { event } of reader.events({ types: ['session.started'] }))
    if (event.type === 'session.started') return event.watches;
  return undefined;
}

function live(
  shared: SharedParts,
  settings: ResolvedOptions,
  notices: string[],
  own: Pick<LiveParts, 'agent' | 'place' | 'surroundings' | 'told' | 'isResumed'>,
): Session {
  return liveSession({ ...shared, ...own, settings: { ...settings, notices }, open: openSession });
}

/** The newest session of this working tree that can be resumed. */
function latestHere({ project, cwd, repository }: Place): SessionEntry | null {
  const root = repository?.root ?? cwd;
  return latestSession(project, (entry) => isInside(entry.cwd, root) && hasPrompt(project, entry.session));
}

function hasPrompt(project: string, session: SessionId): boolean {
  const reader = openReader({ project, session });
  try {
    return Iterator.from(reader.events()).some(({ event }) => event.type === 'message.appended');
  } finally {
    reader.close();
  }
}

const LONGEST_TITLE = 200;

/** One line without secrets. */
function titleOf({ title }: ResolvedOptions, redact: (text: string) => string): string | null {
  return title === null ? null : redact(title).trim().replace(/\s+/g, ' ').slice(0, LONGEST_TITLE) || null;
}

/** The rules a session starts with. A rule that protects nothing is refused, not ignored. */
function openRules(
  { permissions, env, others = [] }: ResolvedOptions,
  { cwd, repository }: Place,
): SessionRules {
  const origin = { base: repository?.root ?? cwd, home: env.HOME || null };
  const rules = readRules(permissions, { ...origin, place: 'the options' });
  const narrowing = others.map(
    ({ place, base, texts }) => parseRules(texts, { ...origin, base, place }).rules,
  );
  return sessionRules(joinRules(rules, ...narrowing), origin);
}

function readRules(texts: RuleTexts, origin: RuleOrigin): RuleSet {
  const { rules, problems } = parseRules(texts, origin);
  const [problem] = problems;
  if (problem !== undefined) throw new UserMistake('bad_rule', describeProblem(problem));
  return rules;
}

/**
 * An answer "always" holds for the rest of the session, so also after it was resumed, and so do the rules of a run of tasks.
 * An answer that can no longer be read as a rule is dropped: then the question is asked again.
 */
function recallRules(
  permissions: SessionRules,
  reader: JournalReader,
  { cwd, repository }: Place,
  { env }: Pick<ResolvedOptions, 'env'>,
): void {
  let run: RuleTexts = {};
  const types = ['permission.answered', 'operator.started', 'operator.resumed'] as const;
  for (const { event } of reader.events({ types })) {
    if (event.type === 'permission.answered') permissions.allow(event.rules);
    if (event.type === 'operator.started') run = event.run.rules ?? {};
    if (event.type === 'operator.resumed') run = event.change?.rules ?? run;
  }
  const origin = { base: repository?.root ?? cwd, home: env.HOME || null };
  permissions.add(readRules(run, { ...origin, place: 'the run' }));
}

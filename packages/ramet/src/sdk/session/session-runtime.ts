/** What the agents of a session share, made of options and earlier rooms. */
import { join } from 'node:path';
import {
  HostHooks,
  hosted,
  LaunchGate,
  lazyCalledAgents,
  lazyDesk,
  localHost,
  PrefixGuard,
  prepareDesks,
} from '../../engine/opening.ts';
import type { Agent, AgentFamily, SessionRuntime } from '../../engine/shapes.ts';
import type { SessionLedger } from '../../files/file-ledger.ts';
import { createFileLedger } from '../../files/file-ledger.ts';
import { gitState, RecentGitState } from '../../git/git-state.ts';
import { lazyCheckouts } from '../../git/shared-git/lazy-checkouts.ts';
import type { Journal, JournalReader } from '../../journal/journal.ts';
import { openReader } from '../../journal/sessions.ts';
import { CacheMap } from '../../model/cache/cache-map.ts';
import type { ModelProvider } from '../../model/provider.ts';
import { AnsweredEndpoint, EndpointHealth } from '../../model/rate/endpoint-health.ts';
import { MachineRates } from '../../model/rate/machine-rates.ts';
import { createRateWindow } from '../../model/rate/rate-window.ts';
import { createCommandSandbox } from '../../sandbox/command-sandbox.ts';
import { type Clock, steadyClock } from '../../schema/clock.ts';
import type { NotedGuard } from '../../schema/events.ts';
import {
  createProcessRegister,
  type ProcessRegister,
  processDirectory,
} from '../../system/processes/process-register.ts';
import { loginFolder } from '../../system/stored-logins.ts';
import type { AgentTypes } from '../agent-types/agent-types.ts';
import type { SessionPrompts } from '../extensions/session-prompts.ts';
import { memoryRights } from '../memory/memory-rights.ts';
import type { TeamSync } from '../memory/team-sync.ts';
import type { RunWatch } from '../operator/control/watch-run.ts';
import { DEFAULT_SANDBOX, type ResolvedOptions } from '../options.ts';
import { heavySlots, type Place } from '../place.ts';
import { StopWatch } from '../stop-requests.ts';
import { type FamilyOptions, openFamily } from './children.ts';
import { attributed, EventBus, type SessionEvent } from './event-bus.ts';
import { hasMemory } from './main/surroundings.ts';
import { RunEnd } from './prompts/interruption.ts';
import type { SessionGround } from './setup/session-ground.ts';
import type { SessionTools } from './tools/session-tools.ts';

export interface SharedParts {
  /** Null where no server of team memory is configured. */
  readonly teamSync: TeamSync | null;
  readonly hooks: HostHooks;
  readonly runtime: SessionRuntime;
  readonly family: AgentFamily;
  readonly stops: StopWatch;
  /** What children do, while a caller listens. */
  readonly bus: EventBus<SessionEvent>;
  readonly git: RecentGitState;
  readonly types: AgentTypes;
  /** Where the main agent watches a run of tasks: what it has instead of the usual tools. */
  readonly watch?: RunWatch | undefined;
  /** Its tools besides the built-in ones. */
  readonly extra: SessionTools;
  /** Skills and commands. */
  readonly prompts: SessionPrompts;
  /** What children of a session without a prompt share: project instructions. */
  readonly unprompted: FamilyOptions['unprompted'];
  /** Told when a usage limit or an outage lasts longer than the session is to wait. */
  readonly runEnd: RunEnd;
  /** Makes the main agent known; before that nobody can ask for children. */
  admitMain(agent: Agent): void;
}

/** What a session has before it has a runtime. */
interface GivenParts extends SessionGround {
  readonly journal: Journal;
  readonly extra: SessionTools;
  readonly prompts: SessionPrompts;
  /** Null where no server of team memory is configured. */
  readonly teamSync: TeamSync | null;
}

export function shareParts(
  settings: ResolvedOptions,
  place: Place,
  types: AgentTypes,
  { extra, prompts, teamSync, ...parts }: GivenParts,
  earlier: JournalReader | null,
): SharedParts {
  const { session } = parts.journal;
  const bus = new EventBus<SessionEvent>();
  const { childEnvironment: environment } = parts;
  const git = new RecentGitState((directory) => gitState({ directory, env: environment }));
  const runEnd = new RunEnd();
  const stops = new StopWatch({ project: place.project, session }, () => family);
  const unprompted: FamilyOptions['unprompted'] = { blocks: [] };
  let main: Agent | null = null;
  const family = openFamily(
    {
      session,
      settings,
      place,
      provider: parts.provider,
      childEnvironment: environment,
      git,
      types,
      extra,
      prompts,
      earlier,
      unprompted,
      emit: (spec, event) => {
        if (event.type === 'agent_started') stops.begin();
        if (bus.isHeard) bus.publish(attributed(event, spec));
      },
    },
    () => main,
  );
  prompts.family = family;
  const { prices, launch: mode } = settings;
  const clock = steadyClock(settings.clock);
  const cacheMap = new CacheMap();
  const warn = (message: string): void =>
    parts.journal.append(null, { type: 'warning.raised', code: 'rates_not_shared', message });
  const processes = watchedProcesses(
    createProcessRegister(processDirectory(place.project), (message) =>
      parts.journal.append(null, { type: 'warning.raised', code: 'process_not_noted', message }),
    ),
    git,
  );
  const projectDirectory = place.repository?.root ?? place.cwd;
  const noted =
    earlier === null ? undefined : () => notedGuards({ project: place.project, session, live: true });
  const ground = { clock, processes, environment, projectDirectory, noted };
  const hooks = new HostHooks(settings.hooks, ground, () => main);
  const runtime: SessionRuntime = {
    ...parts,
    hooks,
    host: localHost,
    rate: createRateWindow({
      provider: parts.provider,
      clock,
      policy: settings.retry,
      outageMs: settings.outageSeconds * 1_000,
      concurrentRequests: settings.settings.limits?.concurrentRequests,
      store: new MachineRates({ home: place.home, clock, warn }),
      longestWaitMs: limitWait(settings),
      onTooLong: (model, until) => runEnd.limited(model, until),
    }),
    health: new EndpointHealth({
      memory: new AnsweredEndpoint({ home: place.home, clock, endpoint: endpointOf(parts.provider) }),
      hadAnswer: () => main !== null && hasAnswer(main),
      patienceMs: settings.outageSeconds * 1_000,
      limitMs: limitWait(settings),
      onTooLong: (away) => runEnd.away(away),
    }),
    cacheMap,
    launch: new LaunchGate({ mode, cacheMap, clock, prices }),
    prefixGuard: new PrefixGuard({ strict: settings.strictPrefix }),
    prices,
    clock,
    retry: settings.retry,
    files: watchedFiles(openLedger(place, parts.journal, settings.clock), git),
    checkouts: lazyCheckouts({ home: place.home, environment }),
    slots: heavySlots(place.home, settings.env, settings.settings.limits?.heavyCommands),
    alsoHeavy: settings.settings.limits?.countAsHeavy,
    processes,
    sandbox: createCommandSandbox(
      settings.settings.sandbox?.readOnly ?? DEFAULT_SANDBOX,
      environment,
      settings.settings.sandbox?.worktree ?? DEFAULT_SANDBOX,
      {
        onSlow: (message) => main?.warn('sandbox_slow', message),
        sockets: settings.settings.sandbox?.sockets,
        logins: loginFolder(place.home),
      },
    ),
    outputDirectory: join(place.project, session),
    broker: settings.broker,
    memory: memoryRights(settings, place, types, { session, teamSync }),
    agents: {
      deskFor: (id, call, signal) => lazyDesk(family, id, call, signal),
      calledBy: (id, calls) => lazyCalledAgents(family, runtime, id, calls),
      root: async () => {
        if (main === null) throw new Error('the main agent is not there yet');
        const { viewRoot } = await import('../../engine/later.ts');
        return viewRoot(hosted(main));
      },
      phaseRules: () => family.coordinator,
      isMember: (agent) => family.team?.has(agent) === true,
      prepare: prepareDesks(),
    },
  };
  if (teamSync !== null)
    teamSync.warn = (message) => {
      if (main !== null) main.warn('team_memory', message);
      else parts.journal.append(null, { type: 'warning.raised', code: 'team_memory', message });
    };
  return {
    runtime,
    teamSync,
    hooks,
    family,
    stops,
    bus,
    git,
    types,
    extra,
    prompts,
    unprompted,
    runEnd,
    admitMain(agent) {
      main = agent;
      agent.here.memoryNow = async () => {
        if (!hasMemory(settings, place)) return null;
        const { memoryOfMain } = await import('../memory/session-memory.ts');
        const { text } = await memoryOfMain(settings, place, session);
        return text === null ? null : parts.redact(text);
      };
      family.admit(agent, null);
    },
  };
}

function endpointOf({ name, origin = '' }: ModelProvider): string {
  return `${name} ${origin}`;
}

/** Once hooks are about to run: most sessions have none. */
function notedGuards(of: Parameters<typeof openReader>[0]): readonly NotedGuard[] {
  const reader = openReader(of);
  try {
    return Array.from(reader.events({ type: 'guards.noted' }), ({ event }) =>
      event.type === 'guards.noted' ? event.guards : [],
    ).flat();
  } finally {
    reader.close();
  }
}

/** Also of an earlier process. */
function hasAnswer({ conversation }: Agent): boolean {
  return conversation.messages.some(({ role }) => role === 'assistant');
}

function limitWait({ settings }: ResolvedOptions): number | undefined {
  const { waitSeconds } = settings.limits ?? {};
  return waitSeconds === undefined ? undefined : waitSeconds * 1_000;
}

function openLedger({ project }: Place, journal: Journal, clock: Clock): SessionLedger {
  return createFileLedger({
    clock,
    openShared: async () => (await import('../../files/shared-writes.ts')).SharedWrites.open(project),
    warn: (message) => journal.append(null, { type: 'warning.raised', code: 'files_not_shared', message }),
  });
}

/** A write through the session may change what git says. */
function watchedFiles(files: SessionLedger, git: RecentGitState): SessionLedger {
  return {
    ...files,
    recordWrite(write) {
      git.forget();
      files.recordWrite(write);
    },
  };
}

/** So may a program, as long as it runs. */
function watchedProcesses(processes: ProcessRegister, git: RecentGitState): ProcessRegister {
  return {
    expect: (agent) => processes.expect(agent),
    enter(group, agent) {
      git.forget();
      const leave = processes.enter(group, agent);
      return () => {
        git.forget();
        leave();
      };
    },
  };
}

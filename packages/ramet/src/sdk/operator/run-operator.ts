/** Runs task files in a session: the ports of the operator, made of agents, git and the journal. */
import { findDefinition } from '../../agents/prompts/built-in.ts';
import { firstMessage } from '../../agents/prompts/first-message.ts';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import { undoHalfMade } from '../../git/managed-worktrees.ts';
import { isBareDirectory } from '../../git/repository.ts';
import {
  applyOperatorEvent,
  foldOperator,
  OPERATOR_EVENTS,
} from '../../operator/run/apply-operator-event.ts';
import { isolationText } from '../../operator/run/isolation.ts';
import { Operator } from '../../operator/run/operator.ts';
import { NO_RUN, type OperatorState } from '../../operator/run/operator-state.ts';
import type { OperatorPorts } from '../../operator/run/ports.ts';
import { effectiveMode, type PermissionPolicy } from '../../permission/policy.ts';
import { systemClock } from '../../schema/clock.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { OperatorEvent, OperatorRun } from '../../schema/operator-events.ts';
import { firstOf, giveWay } from '../../system/give-way.ts';
import { startProgramsElsewhere } from '../../system/processes/starter.ts';
import { callerOf } from '../calls/caller.ts';
import { type OpenTarget, openTarget } from '../merge/open-target.ts';
import type { LiveParts } from '../session/live-parts.ts';
import type { Session } from '../session/session-type.ts';
import { openPlace } from '../worktrees/open-place.ts';
import { beginAttempt } from './attempts/attempt-agents.ts';
import { LeadingStart } from './attempts/leading-start.ts';
import type { AttemptPattern } from './attempts/patterns/attempt-pattern.ts';
import { type RunPatterns, runPatterns } from './attempts/patterns/patterns.ts';
import { WorktreeStock } from './attempts/patterns/stock.ts';
import { RecordedAgents } from './attempts/recorded-agents.ts';
import { withEarlierBill } from './attempts/resumed-bill.ts';
import { beginReview } from './attempts/review-agents.ts';
import { runRules } from './attempts/task-prompt.ts';
import { MOST_MEMBERS, teamRun, usesTeam } from './attempts/team/team-pattern.ts';
import { makeRequestDirectory, watchRequests } from './control/operator-requests.ts';
import { watchWaits } from './control/watch-waits.ts';
import { landOnTarget, targetAhead } from './landing/land-on-target.ts';
import { lostWork } from './landing/lost-work.ts';
import { markDone } from './landing/mark-done.ts';
import { resolvedWork } from './landing/resolved-work.ts';
import { OperatorMerges } from './merge-port.ts';
import { newRun } from './new-run.ts';
import { withOpenCosts } from './open-costs.ts';
import type { OperateOrder, OperateOutcome } from './operate-order.ts';
import { changeOf, earlyAnswers, widthOf } from './resumed-run.ts';
import { WorktreeReturns } from './return-worktrees.ts';

export interface OperatorParts extends LiveParts {
  /** Continues the agents that an earlier process left. */
  resumeAgents(signal: AbortSignal): Promise<number>;
}

export async function runOperator(
  session: Session,
  parts: OperatorParts,
  order: OperateOrder,
): Promise<OperateOutcome> {
  const { runtime, settings, place } = parts;
  const { cwd, repository } = place;
  if (repository === null) throw noCheckout(cwd);
  using __ = startProgramsElsewhere();
  // It tries a command, while the task file is read.
  const trial = runtime.sandbox.isolationNotice();
  trial.catch(() => {}); // told below, unless something else is told first
  const past = parts.isResumed ? pastRun(parts) : NO_RUN;
  const into = order.file === undefined ? past.run?.target : order.into;
  const caller = callerOf({ cwd, env: settings.env, ...(order.note !== undefined && { note: order.note }) });
  const target = await openTarget({ ...caller, ...(into !== undefined && { into }) });
  const state =
    order.file === undefined
      ? resumed(past, order, parts)
      : await newRun(order, { session, parts, target, past });
  const { run } = state.state;
  if (run === null) throw new Error('a run without settings');
  const width = usesTeam(state.state) ? Math.min(widthOf(run), MOST_MEMBERS) : widthOf(run);
  order.note?.(`isolation: ${isolationText(run)}`);
  const merges = new OperatorMerges(target, {
    ...{ session: session.id, open: parts.open },
    ...{ resolveModel: run.models?.resolver, resolveBudgetUsd: run.resolveBudgetUsd },
  });
  shareInstructions(parts, run);
  // Each agent of a task has a name; none of them is a member for that.
  parts.family.startTeam = null;
  const notice = await trial;
  if (notice !== null) order.note?.(notice);
  using worktrees = await openPlace({ cwd, env: settings.env });
  await using stock = new WorktreeStock(worktrees.place);
  const now = begun(state, parts);
  // Another terminal finds the run as soon as its directory is there.
  await runtime.journal.commit('synced');
  makeRequestDirectory({ project: place.project, session: session.id });
  // What a kill leaves of it from here on belongs to a run that is resumed.
  await merges.open(run, now.integrated ?? run.base);
  const resolved = await resolvedWork(now, {
    ...{ repository: target.repository, reset: (...wanted) => merges.reset(...wanted) },
  });
  const recorded = new RecordedAgents(() => parts.family.parts.openReader());
  const team = usesTeam(now) ? teamRun(parts, { state: now, worktrees: worktrees.place, recorded }) : null;
  using _____ = team;
  await team?.addMembers(width, order.note);
  if (order.file === undefined) {
    // A checkout that agents share has one name in all processes of a run: a killed one may have left it half-made.
    await undoHalfMade(worktrees.place);
    await team?.restore();
    await parts.resumeAgents(new AbortController().signal);
    parts.team?.look();
  }
  for (const { question, answer } of earlyAnswers(now)) order.questions?.expect(question, answer);
  const patterns = runPatterns(run, {
    ...{ workspaces: runtime.workspaces, worktrees: worktrees.place, cwd, session: session.id },
    repository: target.repository,
    ...{ witness: recorded, refusedWrite: (agent) => recorded.refusedWrite(agent) },
    lastText: (agent) => recorded.lastText(agent),
    rules: { policy: () => policyOf(parts), root: repository.root },
  });
  await using returns = new WorktreeReturns({
    ...{ worktrees: worktrees.place, note: order.note ?? (() => {}), signal: order.signal },
    settled: (id) => runtime.workspaces.settled(id),
    record: (event) => runtime.journal.append(null, event),
    recorded: () => runtime.journal.commit('written'),
  });
  const operator: Operator = new Operator(
    now,
    portsFor(session, parts, order, {
      merges,
      resolved,
      target,
      patterns,
      recorded,
      worktrees: worktrees.place,
      stock,
      onLanded: () => returns.landed(() => operator.state),
      ...{ team: team?.pattern ?? null, width },
    }),
  );
  order.onBegin?.({
    session: session.id,
    get state() {
      return operator.state;
    },
    act: (action, by) => operator.act(action, by),
    allowed: (task) => operator.allowed(task),
    stopAll: (reason) => operator.stopAll(reason),
  });
  using _ = watchRequests({ project: place.project, session: session.id }, (action, by) =>
    operator.act(action, by),
  );
  using ___ = watchWaits(session, operator);
  merges.watchResolvers((agent, wait) => operator.agentWaits(agent, wait));
  using ____ = firstOf(operator.isStarting);
  const end = await operator.run(order.signal ?? new AbortController().signal);
  await patterns.close(end);
  await team?.close();
  merges.close();
  const returned = await returns.finish(end);
  if (returned !== end) await runtime.journal.commit('written');
  return { session: session.id, state: withOpenCosts(returned, () => recorded.all()) };
}

/** What holds for agents of the run: the mode that they inherit, and the rules as they are now. */
function policyOf({ agent, runtime }: OperatorParts): PermissionPolicy {
  const mode = effectiveMode(agent.state.permissionMode ?? agent.spec.permissionMode, null);
  return { mode, rules: runtime.permissions.rules };
}

function noCheckout(cwd: string): UserMistake {
  return isBareDirectory(cwd)
    ? new UserMistake(
        'bare_repository',
        `${cwd} is a bare repository, and agents need a checkout to begin from: make one with git worktree add ../checkout, and run it there`,
      )
    : new UserMistake(
        'no_repository',
        `${cwd} is not in a git repository: go to one, or make one with git init`,
      );
}

interface BegunRun {
  state: OperatorState;
  /** What is recorded first. */
  event: OperatorEvent;
}

function pastRun({ family }: OperatorParts): OperatorState {
  const reader = family.parts.openReader();
  try {
    return foldOperator(reader.events({ types: OPERATOR_EVENTS }));
  } finally {
    reader.close();
  }
}

function resumed(state: OperatorState, order: OperateOrder, { settings, place }: OperatorParts): BegunRun {
  const { run } = state;
  if (run === null)
    throw new UserMistake('no_run', 'this session has no run of tasks to resume: give a task file');
  const change = changeOf(order, run, { rules: settings.givenRules, cwd: place.cwd });
  const isChanged = Object.keys(change).length > 0;
  return {
    state: { ...state, run: { ...run, ...change } },
    event: { type: 'operator.resumed', ...(isChanged && { change }) },
  };
}

function begun({ state, event }: BegunRun, { runtime }: OperatorParts): OperatorState {
  runtime.journal.append(null, event);
  const recorded = { event, time: runtime.clock.now() };
  return event.type === 'operator.resumed' ? applyOperatorEvent(state, recorded) : foldOperator([recorded]);
}

/** The main agent has no prompt; its children share the project's instructions and the rules of the run. */
function shareInstructions({ unprompted, surroundings, agent }: OperatorParts, run: OperatorRun): void {
  if (agent.conversation.messages.length > 0) return;
  const { blocks, shared } = firstMessage({
    ...{ instructions: surroundings?.instructions ?? null, environment: '', news: null, prompt: '' },
  });
  const rules = { type: 'text', text: runRules(run) } as const;
  unprompted.blocks = [...blocks.slice(0, shared), rules].map(freezeBlock);
}

interface OperatorPlaces {
  merges: OperatorMerges;
  resolved: NonNullable<OperatorPorts['resolved']>;
  target: OpenTarget;
  patterns: RunPatterns;
  recorded: RecordedAgents;
  worktrees: Parameters<typeof beginAttempt>[2]['worktrees'];
  stock: WorktreeStock;
  /** The target has moved. */
  onLanded(): void;
  team: AttemptPattern | null;
  width: number;
}

function portsFor(
  session: Session,
  parts: OperatorParts,
  { questions }: OperateOrder,
  { merges, resolved, target, patterns, recorded, worktrees, stock, onLanded, team, width }: OperatorPlaces,
): OperatorPorts {
  const { runtime, family, agent, types } = parts;
  const { journal } = runtime;
  const lead = new LeadingStart();
  const place = {
    spawn: (wanted: Parameters<Parameters<typeof beginAttempt>[2]['spawn']>[0]) =>
      lead.run(async () => {
        const { spawnAgent } = await import('../../engine/later.ts');
        return spawnAgent(family, agent, { ...wanted, call: null });
      }),
    tell: (id: string, text: string) => session.tell(id, text),
    // Also those that have ended and whose worktrees are being given back: nothing can be committed there before.
    running: () => agent.children.running,
    recorded: (name: string) => recorded.named(name),
    worktreeOf: (id: string) => recorded.worktreeOf(id),
    sharesRules: (type: string) =>
      agent.conversation.messages.length === 0 &&
      findDefinition(types.definitions, type)?.instructions === true,
    hasModel: (type: string) => (findDefinition(types.definitions, type)?.model ?? 'inherit') !== 'inherit',
    readsOnly: (type: string) => findDefinition(types.definitions, type)?.readOnly === true,
    textOf: (id: string) => recorded.lastText(id),
    ...{ worktrees, witness: recorded, patterns: patterns.patterns, team },
    ...{ questions: questions ?? null, redact: runtime.redact },
  };
  return {
    clock: systemClock,
    resolved,
    record: (event) => {
      journal.append(null, event);
      if (event.type === 'operator.landed' && event.state === 'moved') onLanded();
    },
    recorded: () => journal.commit('written'),
    begin: (order, watch) =>
      withEarlierBill({ name: order.attempt.name, isResumed: order.isResumed }, place, () =>
        beginAttempt(order, watch, place),
      ),
    expect: (run, count, base) => stock.expect(run, count, base),
    review: (order) => withEarlierBill(order, place, () => beginReview(order, place)),
    checkBase: (run, signal) => merges.checkBase(run, signal),
    integrate: async (batch) => {
      await giveWay();
      return merges.integrate(batch);
    },
    land: (run, wanted) =>
      landOnTarget(run, wanted, {
        repository: target.repository,
        land: (...whole) => merges.land(...whole),
        rebase: (...moved) => merges.rebase(...moved),
      }),
    lost: (run, landed) => lostWork(run, landed, target.repository),
    ahead: (run, head) => targetAhead(run, head, target.repository),
    reset: (run, commit) => merges.reset(run, commit),
    mark: (run, tasks) => markDone(run, tasks, parts.place),
    width: () => width,
    isAttended: false,
    ...(questions !== undefined && { answer: (id, answer) => questions.answerLater(id, answer) }),
  };
}

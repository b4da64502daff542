/**
 * The coordinator of a session, in the process that hosts it (COORD-1, COORD-2): what its phase allows is decided here, and
 * not by its prompt. What it knows of workers is read from the record, so a resumed session decides as the killed one did.
 *
 * Invariants
 * 1. A change of phase is on record before it counts.
 * 2. The same refusal is said twice. The third time a delegation or an answer passes, with a note: a rule that judges words
 *    may be wrong. What is judged by facts (phases, open workers, rights) never passes.
 */

import type { KnownFiles } from '../../git/shapes.ts';
import {
  COORDINATION_EVENTS,
  type Coordination,
  CoordinationFold,
  type RecordedWorker,
  unverified,
} from '../../journal/projections/coordination.ts';
import { describeError } from '../../schema/errors.ts';
import type { JournalEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { CoordinatorPhase } from '../../schema/status.ts';
import type { CoordinationDesk, SpawnRequest } from '../../tools/agent-desk.ts';
import { failure, type ToolOutcome } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import type { PhaseRights } from '../agent/runtime.ts';
import type { AgentFamily } from '../children/family.ts';
import { claimedResult } from './claimed-results.ts';
import * as words from './coordinator-words.ts';
import { type DelegationJudgement, FINE, judgeDelegation, namedFiles } from './judge-delegation.ts';
import { nextPhases, phaseObstacle } from './phase-machine.ts';
import type { FamilyCoordinator } from './phase-rules.ts';
import { writeScratchpad } from './scratchpad.ts';
import { WorkerKnowledge } from './worker-knowledge.ts';
import { continueAdvice, spawnAdvice } from './worker-overlap.ts';

/** How often a judgement of words comes back. */
const MOST_REFUSALS = 2;
/** Of an ended worker: those that began last. */
const MOST_COMPARED = 50;

interface CoordinatorParts {
  readonly family: AgentFamily;
  readonly lead: Agent;
  readonly scratchpad: string;
  /** Of the checkout that the session works in. */
  readonly files: KnownFiles;
}

export class CoordinatorHost implements FamilyCoordinator {
  readonly scratchpad: string;
  readonly #family: AgentFamily;
  readonly #lead: Agent;
  readonly #record: CoordinationFold;
  readonly #known: WorkerKnowledge;
  readonly #files: KnownFiles;
  #phase: CoordinatorPhase;

  constructor({ family, lead, scratchpad, files }: CoordinatorParts) {
    this.#family = family;
    this.#lead = lead;
    this.scratchpad = scratchpad;
    this.#record = new CoordinationFold(lead.spec.id);
    this.#known = new WorkerKnowledge(() => family.parts.openReader());
    this.#files = files;
    this.#phase = this.#read(COORDINATION_EVENTS).phase;
    lead.here.duty = {
      objection: (text) => this.#objection(text),
      mark: async (text) => this.#answerProblem(text, await this.#now())?.mark ?? null,
      openWork: () => this.#openWork(),
    };
    lead.here.teamNow = () => this.now();
  }

  get phase(): CoordinatorPhase {
    return this.#phase;
  }

  rightsOf({ spec }: Pick<Agent, 'spec'>): PhaseRights {
    if (spec.id === this.#lead.spec.id) return 'coordinates';
    if (spec.origin?.phase === undefined) return 'all';
    return this.#phase === 'research' ? 'reads' : this.#phase === 'verification' ? 'proves' : 'all';
  }

  isOwnProof(path: string): boolean {
    return this.#read().proofs.has(path);
  }

  notesFor(phase: CoordinatorPhase | undefined): string | null {
    return phase === undefined ? null : words.workerNotes(phase, this.scratchpad);
  }

  async delegate(
    from: Agent,
    request: SpawnRequest,
    start: (request: SpawnRequest, phase: CoordinatorPhase) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    if (from !== this.#lead) return failure(words.NOT_COORDINATOR);
    const phase = this.#phase;
    if (phase === 'synthesis') return this.#refused('delegation', 'synthesis', words.ALONE);
    if (request.subagent_type === 'fork') return this.#refused('delegation', 'fork', words.NO_FORKS);
    const expected = [...(request.expect?.files ?? []), request.expect?.check ?? []].flat();
    const judged = judgeDelegation({ prompt: request.prompt, expected }, phase === 'implementation');
    const passed = await this.#passes('delegation', words.keyOf(request.name ?? request.description), judged);
    if (passed.refusal !== null) return passed.refusal;
    const advice = await this.#spawnAdvice(request.prompt);
    await this.#beginVerification(phase);
    // A worker never holds up the coordinator: its report is a notification.
    const started = await start({ ...request, run_in_background: true }, phase);
    return words.withLines(started, [passed.note, advice]);
  }

  async send(
    from: Agent,
    to: string,
    message: string,
    send: (message: string) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    if (from !== this.#lead) return failure(words.NOT_COORDINATOR);
    const phase = this.#phase;
    const worker = (await this.#now()).workers.findLast(({ id, name }) => id === to || name === to);
    if (worker === undefined) return send(message);
    if (phase === 'synthesis') return this.#refused('delegation', 'synthesis', words.ALONE);
    if (phase === 'verification' && worker.implemented !== null)
      return this.#refused('delegation', 'verification', words.ownWork(worker));
    if (this.#family.find(worker.id) !== undefined) return send(message);
    const judged =
      phase === 'research' ? FINE : judgeDelegation({ prompt: message }, phase === 'implementation');
    const passed = await this.#passes('delegation', words.keyOf(worker.name ?? worker.id), judged);
    if (passed.refusal !== null) return passed.refusal;
    await this.#beginVerification(phase);
    this.#lead.record({ type: 'worker.continued', worker: worker.id, phase });
    const notes = worker.phase === phase ? message : `${words.nowIn(phase)}\n${message}`;
    const sent = await send(notes);
    const advice = continueAdvice(namedFiles(message), this.#known.of(worker));
    return words.withLines(sent, [passed.note, advice]);
  }

  deskFor(agent: AgentId): CoordinationDesk {
    return {
      change: (to, note) =>
        agent === this.#lead.spec.id
          ? this.#change(to, note)
          : Promise.resolve(failure(words.NOT_COORDINATOR)),
      write: (file, text, append) => writeScratchpad(this.scratchpad, { file, text, append }),
    };
  }

  async #change(to: CoordinatorPhase, note: string): Promise<ToolOutcome> {
    const from = this.#phase;
    const coordination = await this.#now();
    const open = this.#openOf(coordination);
    const { missing } = to === 'implementation' ? judgeDelegation({ prompt: note }, true) : FINE;
    if (open.length === 0) await this.#compare(coordination);
    const context = { open: open.length, implemented: unverified(coordination).length, isPlanned: true };
    const obstacle = phaseObstacle(from, to, context);
    if (obstacle !== null) {
      const why = words.whyPhaseStays(obstacle, { from, to, next: nextPhases(from), open });
      return this.#refused('phase', to, why);
    }
    // The machine has the last word, also about what is judged by words.
    const passed = await this.#passes('phase', 'plan', { missing, note: null });
    const isPlanned = passed.refusal === null;
    if (passed.refusal !== null || phaseObstacle(from, to, { ...context, isPlanned }) !== null)
      return passed.refusal ?? failure(words.NOTHING_CHANGED);
    this.#lead.record({ type: 'phase.changed', from, to, note });
    await this.#lead.runtime.journal.commit('written');
    this.#phase = to;
    return words.withLines({ content: words.phaseBegins(to) }, [passed.note]);
  }

  /** What is to be verified is what is there now, whatever changes it. */
  async #beginVerification(phase: CoordinatorPhase): Promise<void> {
    if (phase !== 'verification') return;
    try {
      const list = await this.#files.list();
      if (list !== null) this.#lead.record({ type: 'verification.begins', list });
    } catch (error) {
      this.#lead.warn('coordinator_changed', words.notNoted(describeError(error)));
    }
  }

  /** Looks once, when the workers of a verification have ended, whether what they verified is still there. */
  async #compare(coordination: Coordination): Promise<Coordination> {
    const { toCompare } = coordination;
    if (toCompare === null) return coordination;
    const changed = await this.#files.changedSince(toCompare);
    this.#lead.record({ type: 'verification.compared', changed });
    return this.#now();
  }

  /** What a judgement of words comes to: a refusal, or a note that goes with what passes. */
  async #passes(
    what: 'delegation' | 'phase' | 'answer',
    key: string,
    { missing, note }: DelegationJudgement,
  ): Promise<{ refusal: ToolOutcome | null; note: string | null }> {
    if (missing === null) return { refusal: null, note };
    const { refusals, since } = await this.#now();
    const before = refusals.filter((one) => one.what === what && one.key === key && one.seq > since);
    if (before.length >= MOST_REFUSALS) return { refusal: null, note: words.passedAnyway(missing) };
    return { refusal: this.#refused(what, key, words.comesBack(what, missing)), note: null };
  }

  #refused(what: 'delegation' | 'phase' | 'answer', key: string, reason: string): ToolOutcome {
    this.#lead.record({ type: 'coordination.refused', what, phase: this.#phase, key, reason });
    return failure(reason);
  }

  /** What keeps the coordinator from ending its turn with this answer; null when nothing does. */
  async #objection(text: string): Promise<string | null> {
    const known = await this.#now();
    const coordination = this.#openOf(known).length > 0 ? known : await this.#compare(known);
    const problem = this.#answerProblem(text, coordination);
    if (problem === null) return null;
    const { refusals, workers } = coordination;
    // Whatever it has done since is a new attempt.
    const last = Math.max(coordination.since, ...workers.map(({ given }) => given));
    const before = refusals.filter(
      ({ what, key, seq }) => what === 'answer' && key === problem.key && seq > last,
    );
    // What only the user can decide is asked.
    const isQuestion = problem.key === 'unverified' && /\?\W*$/.test(text);
    const isTold = problem.key === 'changed' && words.namesAll(text, coordination.changed);
    if (isQuestion || isTold || before.length >= MOST_REFUSALS) {
      this.#lead.warn(`coordinator_${problem.key}`, problem.warning);
      return null;
    }
    this.#refused('answer', problem.key, problem.reason);
    return problem.reason;
  }

  #answerProblem(text: string, coordination: Coordination): words.AnswerProblem | null {
    const open = this.#openOf(coordination);
    if (open.length > 0) {
      const anyReported = coordination.workers.some(({ id, ended }) => ended !== null && !hasId(open, id));
      const claim = claimedResult(text, open, anyReported);
      return claim === null
        ? null
        : words.claimed(claim.sentence, claim.worker === null ? open : [claim.worker]);
    }
    const made = unverified(coordination);
    if (made.length > 0) return words.notVerified(made, this.#phase);
    return coordination.changed.length > 0 ? words.changedMeanwhile(coordination.changed) : null;
  }

  /** For the message with which a result arrives: whose results are still missing. */
  #openWork(): string | null {
    const running = this.#lead.children.running.filter(({ inBackground }) => inBackground);
    return running.length === 0 ? null : words.stillOpen(running);
  }

  /** Phase, workers and scratchpad: what a coordinator might no longer know after a restart or a compaction. */
  now(): string {
    const coordination = this.#read();
    const open = this.#openOf(coordination);
    return words.coordinatorNow({
      ...coordination,
      scratchpad: this.scratchpad,
      isOpen: (id) => hasId(open, id),
    });
  }

  /** Those whose results the coordinator does not have: they work, or their notification has not been told. */
  #openOf({ workers }: Coordination): RecordedWorker[] {
    const { children, inbox } = this.#lead;
    const waiting = new Set(inbox.items.flatMap(({ kind, from }) => (kind === 'notification' ? [from] : [])));
    return workers.filter(({ id }) => children.find(id) !== undefined || waiting.has(id));
  }

  async #spawnAdvice(prompt: string): Promise<string | null> {
    const files = namedFiles(prompt);
    if (files.length === 0) return null;
    const { workers } = await this.#now();
    const ended = workers.filter(({ id, ended }) => ended !== null && this.#family.find(id) === undefined);
    const knowing = ended.slice(-MOST_COMPARED).map((worker) => this.#known.of(worker));
    return spawnAdvice(files, knowing, this.#phase);
  }

  async #now(): Promise<Coordination> {
    await this.#lead.runtime.journal.commit('written');
    return this.#read();
  }

  /** From where it was read last. `types` spares a long record that was there before. */
  #read(types?: readonly JournalEvent['type'][]): Coordination {
    const reader = this.#family.parts.openReader();
    try {
      const after = this.#record.seq;
      for (const recorded of reader.events({ after, ...(types && { types }) })) this.#record.take(recorded);
    } finally {
      reader.close();
    }
    return this.#record.value;
  }
}

function hasId(workers: readonly RecordedWorker[], wanted: AgentId): boolean {
  return workers.some(({ id }) => id === wanted);
}

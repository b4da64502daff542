/**
 * What a host does for the agent in a process of its own (EXEC-2): it asks models, decides on permissions, holds the
 * children, the file locks and the journal. All of it are duties of the agent's host (`engine/host-duties.ts`).
 *
 * Invariants
 * 1. What is recorded there is recorded here, in the same order, before anything that comes after it is answered.
 * 2. Nothing is held for a process that is gone: `Symbol.dispose` gives it all back.
 */
import { isDeepStrictEqual } from 'node:util';
import type { FrozenBlock } from '../../conversation/frozen-block.ts';
import type { HostDuties } from '../../engine/host-duties.ts';
import type { AgentSnapshot, CalledAgent, ModelExchange, SpendingRecord } from '../../engine/shapes.ts';
import type { EventOf, JournalEvent } from '../../schema/events.ts';
import { onAbort } from '../../system/on-abort.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import { AgentFollower } from './agent-follower.ts';
import { AnswerSignal, type OutlivingSignals, outlivingCall } from './answer-signal.ts';
import { type Answers, LINE_LOST } from './channel.ts';
import { FileTurns } from './file-turns.ts';
import type { AgentNotice, DeskCall, ExchangeAnswer, ExchangeCall, HostCalls } from './messages.ts';

export interface ServiceObserver {
  onSpent(records: SpendingRecord[]): void;
  /** The host itself has recorded something that changes the agent's state. */
  onRecorded(event: JournalEvent, blocks: readonly FrozenBlock[]): void;
  /** A response of the conversation is recorded; with its text. */
  onTurn(text: string): void;
  /** The loop has asked what was asked before it. */
  onCaughtUp(): void;
}

/** The loop's first question, asked before the loop is there. */
interface EarlyQuestion {
  readonly call: ExchangeCall;
  readonly abort: AbortController;
  readonly answer: Promise<ExchangeAnswer>;
}

/** Why a question is called off that the loop does not ask. */
const NOT_ASKED = 'not_asked';
/** Far above what the calls of one response can give rise to. */
const MOST_NOTICES = 100_000;

export class HostServices implements Disposable {
  readonly #duties: HostDuties;
  readonly #follower: AgentFollower;
  /** Of the run that the process makes. */
  runSignal: AbortSignal;
  readonly #observer: ServiceObserver;
  readonly #turns: FileTurns;
  readonly #groups = new Map<number, () => void>();
  /** Since the model was last asked. */
  #notices = 0;
  #unrecorded: ModelExchange | null = null;
  #early: EarlyQuestion | null = null;
  #called: ReadonlyMap<string, CalledAgent> = new Map();
  /** How the agent said that this run ended; null while it has not. */
  ended: EventOf<'agent.ended'> | null = null;

  constructor(duties: HostDuties, value: AgentSnapshot, signal: AbortSignal, observer: ServiceObserver) {
    this.#observer = observer;
    this.runSignal = signal;
    this.#turns = new FileTurns(duties.runtime.files);
    this.#duties = duties;
    this.#follower = new AgentFollower(duties, value, (event, blocks) => observer.onRecorded(event, blocks));
  }

  /**
   * Asks the model what the loop is going to ask first, while its process starts. Until the loop asks, nothing that
   * could change the question may reach it: see `isAhead`.
   */
  askEarly(turns: number): void {
    const signal = this.runSignal;
    const { asksFirst, spec } = this.#duties;
    if (!asksFirst || signal.aborted) return;
    const abort = new AbortController();
    const call = { turn: turns + 1, maxTokens: spec.maxTokens, partial: false };
    const stopListening = onAbort(signal, () => abort.abort(signal.reason));
    const answer = this.#ask(call, abort.signal).finally(stopListening);
    // The caller is told; without a caller the process is gone.
    answer.catch(() => {});
    this.#early = { call, abort, answer };
  }

  /** Whether the model was asked what the loop has not asked yet. */
  get isAhead(): boolean {
    return this.#early !== null;
  }

  /** Process groups that run for it. */
  get groups(): number[] {
    return [...this.#groups.keys()];
  }

  /** Throws for what is no notice of ours. */
  heed(notice: AgentNotice): void {
    if (++this.#notices > MOST_NOTICES) throw new Error('it says too much between two requests');
    const { runtime, spec } = this.#duties;
    switch (notice.type) {
      case 'record':
        this.#record(notice.event);
        break;
      case 'block':
        this.#follower.store(notice.digest, notice.bytes);
        break;
      case 'wrote':
        runtime.files.recordWrite({
          path: notice.path,
          agent: spec.id,
          version: notice.version,
          task: spec.origin?.description ?? null,
          command: null,
        });
        break;
      case 'unlock':
        this.#turns.giveBack(notice.lock);
        break;
      case 'group':
        this.#noteGroup(notice.group, notice.runs);
        break;
      default:
        throw new Error(`it sent a notice that there is not: ${JSON.stringify(notice)?.slice(0, 80)}`);
    }
  }

  /** Of everything that it may ask. */
  readonly answers: Answers<HostCalls> = {
    exchange: (call, signal) => this.#budgeted(this.#exchange(call, signal)),
    permit: (request, signal) => this.#duties.permit(request, signal),
    tool: (call, signal) => this.#duties.callTool(call, signal),
    hook: ({ event, fields }, signal) => this.#duties.hook(event, fields, signal),
    desk: (call, signal) =>
      this.#budgeted(outlivingCall(this.#signals(signal), (own) => this.#desk(call, own))),
    called: async (calls) => {
      const { runtime, spec } = this.#duties;
      this.#called = await runtime.agents.calledBy(spec.id, calls);
      return [...this.#called.keys()];
    },
    report: ({ call, wait }, signal) =>
      this.#budgeted(outlivingCall(this.#signals(signal), (own) => this.#report(call, wait ? own : null))),
    lock: (path) => this.#turns.take(path),
    root: () => this.#duties.runtime.agents.root(),
    commit: (durability) => this.#budgeted(this.#commit(durability)),
    news: (_, signal) => this.#budgeted(this.#news(signal)),
  };

  /** What a process that is gone had been answered and not recorded: a complete response is never asked for again. */
  recordOpenResponse(): void {
    const done = this.#unrecorded;
    if (done === null) return;
    this.#duties.recordLost(done);
    if (done.source === undefined) this.#observer.onTurn(textOf(done));
    this.#unrecorded = null;
  }

  #record(event: JournalEvent): void {
    if (typeof event?.type !== 'string') throw new Error('it recorded no event');
    if (event.type === 'response.completed') this.#takeResponse(event);
    this.#follower.record(event);
    if (event.type === 'agent.ended') this.ended = event;
  }

  #takeResponse({ request, source }: EventOf<'response.completed'>): void {
    const done = request === this.#unrecorded?.request ? this.#unrecorded : null;
    if (source === undefined) this.#observer.onTurn(done === null ? '' : textOf(done));
    if (done !== null) this.#unrecorded = null;
  }

  /** What has been spent meanwhile, also by the agent's children, is known there before the answer. */
  async #budgeted<Value>(answer: Promise<Value>): Promise<Value> {
    try {
      return await answer;
    } finally {
      this.#observer.onSpent(this.#duties.spent());
    }
  }

  async #commit(durability: 'written' | 'synced'): Promise<null> {
    await this.#duties.runtime.journal.commit(durability);
    return null;
  }

  async #exchange(call: ExchangeCall, signal: AbortSignal): Promise<ExchangeAnswer> {
    const early = this.#early;
    this.#early = null;
    this.#observer.onCaughtUp();
    if (early === null) return this.#ask(call, signal);
    if (!isDeepStrictEqual(early.call, call)) {
      early.abort.abort(NOT_ASKED);
      await early.answer.catch(() => {});
      return this.#ask(call, signal);
    }
    const stopListening = onAbort(signal, () => early.abort.abort(signal.reason));
    return early.answer.finally(stopListening);
  }

  async #ask(call: ExchangeCall, signal: AbortSignal): Promise<ExchangeAnswer> {
    this.#notices = 0;
    const spent: ExchangeAnswer['spent'][number][] = [];
    using calledOff = new AnswerSignal(signal, () => this.runSignal);
    const done = await this.#duties.exchange({
      ...call,
      signal: calledOff.signal,
      onComing: (isComing) => calledOff.note(isComing),
      onSpent: (usage, costUsd) => void spent.push({ usage, costUsd }),
    });
    this.#unrecorded = done;
    this.#follower.knowResponse(done.response);
    return { done, spent, totals: this.#duties.spent() };
  }

  #signals(call: AbortSignal): OutlivingSignals {
    return { call, run: this.runSignal };
  }

  async #report(call: string, signal: AbortSignal | null): Promise<ToolOutcome> {
    const called = this.#called.get(call);
    if (called === undefined) throw new Error(`no agent was started by ${call}`);
    return signal === null ? called.now() : called.report(signal);
  }

  async #desk(call: DeskCall, signal: AbortSignal): Promise<ToolOutcome | null> {
    const { runtime, spec } = this.#duties;
    const desk = runtime.agents.deskFor(spec.id, call.call, signal);
    switch (call.method) {
      case 'spawn':
        return desk.spawn(call.request);
      case 'send':
        return desk.send(call.to, call.message);
      case 'look':
        return desk.look(call.id, call.wait);
      case 'stop':
        return desk.stop(call.id);
    }
  }

  async #news(signal: AbortSignal): Promise<null> {
    await this.#duties.news(signal);
    return null;
  }

  #noteGroup(group: number, runs: boolean): void {
    const { runtime, spec } = this.#duties;
    this.#groups.get(group)?.();
    this.#groups.delete(group);
    if (runs) this.#groups.set(group, runtime.processes.enter(group, spec.id));
  }

  /** Resolves when nothing is asked on its own account. */
  async settled(): Promise<void> {
    await this.#early?.answer.catch(() => {});
  }

  [Symbol.dispose](): void {
    this.#follower[Symbol.dispose]();
    this.#early?.abort.abort(LINE_LOST);
    this.#turns[Symbol.dispose]();
    for (const group of this.groups) this.#noteGroup(group, false);
  }
}

function textOf({ response }: ModelExchange): string {
  return response.blocks.map(({ value }) => ('text' in value ? String(value.text) : '')).join('');
}

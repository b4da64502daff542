/**
 * The model server of one round, in the campaign's own process: it answers as the plan's agents would, and notes every
 * request. Each answer has a number, which travels as its count of output tokens: so an answer in the journal is known
 * again in the server's log, and the bill can be compared.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Answer,
  type Emulator,
  type Fault,
  type RequestRecord,
  type RequestView,
  startEmulator,
} from 'ramet/emulator';
import { answerOf, type CarefulAnswer } from './careful-agents.ts';
import { ownPart } from './own-part.ts';
import type { RoundPlan } from './plan.ts';

export interface Asked {
  /** From 1, in the order of arrival. */
  number: number;
  task: string;
  /** Equal for equal prompts, wherever they are marked. */
  prompt: string;
  moment: CarefulAnswer['moment'];
  /** Which of the round's processes asked. */
  run: number;
  state: 'asked' | 'answered' | 'broken';
  record: Pick<RequestRecord, 'outcome' | 'usage' | 'body'> | null;
}

type Listener = (what: 'asked' | 'answered', asked: Asked) => void;

export class Stage implements AsyncDisposable {
  readonly asked: Asked[];
  /** Counted where processes are started. */
  run = 0;
  /** What goes wrong with a request, for the aim. */
  fault: ((asked: Asked) => Fault | undefined) | null = null;
  /** Milliseconds that an answer is held back. */
  delay: ((asked: Asked) => number) | null = null;
  readonly #closing = new AbortController();
  readonly #plan: RoundPlan;
  readonly #byRequest = new WeakMap<object, Asked>();
  readonly #listeners = new Set<Listener>();
  #emulator: Emulator | null = null;

  /** `before` was asked of an earlier server of the same round. */
  static async open(plan: RoundPlan, before: readonly Asked[] = []): Promise<Stage> {
    const stage = new Stage(plan, before);
    stage.#emulator = await startEmulator({
      fault: (view) => stage.#arrive(view),
      respond: (view) => stage.#answer(view),
      onRequest: (record) => stage.#depart(record),
      latency: { baseMs: 6, tokensPerSecond: 4_000 },
    });
    return stage;
  }

  constructor(plan: RoundPlan, before: readonly Asked[]) {
    this.#plan = plan;
    this.asked = [...before];
  }

  get emulator(): Emulator {
    if (this.#emulator === null) throw new Error('the stage is not open');
    return this.#emulator;
  }

  listen(listener: Listener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#emulator?.close();
  }

  #arrive(view: RequestView): Fault | undefined {
    const asked: Asked = {
      number: this.asked.length + 1,
      task: ownPart(view).task,
      prompt: promptDigest(view),
      moment: answerOf(this.#plan.root, view).moment,
      run: this.run,
      state: 'asked',
      record: null,
    };
    this.asked.push(asked);
    this.#byRequest.set(view.request, asked);
    const fault = this.fault?.(asked);
    this.#tell('asked', asked);
    return fault;
  }

  async #answer(view: RequestView): Promise<Answer> {
    const { moment: _, ...answer } = answerOf(this.#plan.root, view);
    const asked = this.#byRequest.get(view.request);
    const wait = asked === undefined ? 0 : (this.delay?.(asked) ?? 0);
    if (wait > 0) await sleep(wait, undefined, { signal: this.#closing.signal }).catch(() => {}); // the round is over
    return { ...answer, output_tokens: asked?.number ?? 0 };
  }

  #depart(record: RequestRecord): void {
    const asked = record.request === undefined ? undefined : this.#byRequest.get(record.request);
    if (asked === undefined) return;
    asked.record = record;
    asked.state = record.outcome === 'answered' ? 'answered' : 'broken';
    if (asked.state === 'answered') this.#tell('answered', asked);
  }

  #tell(what: 'asked' | 'answered', asked: Asked): void {
    for (const listener of [...this.#listeners]) listener(what, asked);
  }
}

/** Everything but the marks, which move, and the room for the answer. */
function promptDigest({ request }: RequestView): string {
  const { model, system, tools, messages } = request;
  const text = JSON.stringify({ model, system, tools, messages }, (key, value) =>
    key === 'cache_control' ? undefined : value,
  );
  return createHash('sha256').update(text).digest('hex');
}

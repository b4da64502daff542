/**
 * A running agent as its starter sees it: one handle, however the agent is hosted. Nothing it is told does anything
 * once it has ended; SendMessage continues it. It keeps only the result then: ten thousand handles keep no conversation
 * in memory.
 */
import type { AgentState } from '../../journal/projections/agent-state.ts';
import type { AgentId } from '../../schema/ids.ts';
import { onAbort } from '../../system/on-abort.ts';
import type { Inbox } from '../agent/agent-content.ts';
import type { AgentResult } from '../agent/agent-event.ts';
import { agentMessageText, CANCELLED, STOPPED } from '../agent/notices.ts';
import type { AgentSpec } from '../agent/runtime.ts';

export interface ChildOptions {
  /** Ends the child while a caller waits for it. */
  signal?: AbortSignal | undefined;
  run_in_background?: boolean | undefined;
  overrides?: { readonly abortController?: AbortController | undefined };
}

/** As everybody but the agent's own life has it. */
export type AgentHandle = Omit<ChildHandle, 'ended' | 'rests'>;

export class ChildHandle {
  readonly id: AgentId;
  readonly parent: AgentId;
  readonly type: string;
  readonly name: string | null;
  readonly description: string;
  /** Never rejects: the result says how it ended. */
  readonly result: Promise<AgentResult>;
  /** Resolves when it has nothing more to do: before the result, which has to wait for a look at its worktree. */
  readonly idle: Promise<void>;
  readonly #rest: () => void;
  #inBackground: boolean;
  #detached: PromiseWithResolvers<void> | null = null;
  #living: LivingChild | null;

  /** `live` is called once the handle is complete, and told when the child is to end. */
  constructor(
    child: HandledAgent,
    parent: AgentId,
    options: ChildOptions,
    live: (handle: ChildHandle, signal: AbortSignal) => Promise<AgentResult>,
  ) {
    const { spec } = child;
    this.id = spec.id;
    this.parent = parent;
    this.type = spec.type;
    this.name = spec.name;
    this.description = spec.origin?.description ?? '';
    this.#inBackground = options.run_in_background === true;
    const abort = new AbortController();
    this.#living = { child, abort, ...linkAbort(abort, options) };
    const idle = Promise.withResolvers<void>();
    [this.idle, this.#rest] = [idle.promise, idle.resolve];
    this.result = Promise.resolve().then(() => live(this, abort.signal));
    Object.freeze(this);
  }

  get inBackground(): boolean {
    return this.#inBackground;
  }

  /** Settles when nobody waits for the result any more: it comes as a notification. */
  get detached(): Promise<void> {
    this.#detached ??= Promise.withResolvers();
    return this.#detached.promise;
  }

  /** Says something to the agent. It reads the message after its current tool call; what this returns says whether it has. */
  steer(text: string): () => boolean {
    const said = agentMessageText({ kind: 'user', from: null, name: null }, text);
    if (this.#living === null) return () => false;
    const { child } = this.#living;
    const item = child.receive('message', null, said);
    return () => !child.inbox.has(item);
  }

  /** Ends the agent with a summary of what it has done, at its next tool boundary. */
  cancel(): void {
    if (this.#living === null) return;
    const { child, abort } = this.#living;
    // One that has done nothing has nothing to sum up.
    if (child.state.requests === 0) abort.abort(STOPPED);
    child.receive('cancel', null, CANCELLED);
    child.children.cancelAll();
  }

  /** Ends it at once. */
  stop(reason: string): void {
    this.#living?.abort.abort(reason);
  }

  /** Sends it to the background. */
  detach(): void {
    // A caller that waits for one that has ended is about to be answered.
    if (this.#inBackground || this.#living === null) return;
    this.#inBackground = true;
    this.#living.cutWaited();
    this.#living.child.record({ type: 'agent.detached' });
    this.#detached ??= Promise.withResolvers();
    this.#detached.resolve();
  }

  /** What is left is to judge its worktree and to tell its parent. */
  rests(): void {
    this.#rest();
  }

  /** The child has ended: nobody reaches it through here any more, and it follows nobody. */
  ended(): void {
    this.#living?.cutWaited();
    this.#living?.cutOwn();
    this.#living = null;
    this.#rest();
  }
}

/** What a handle needs of its agent. */
interface HandledAgent {
  readonly inbox: Pick<Inbox, 'has'>;
  readonly spec: Pick<AgentSpec, 'id' | 'type' | 'name' | 'origin'>;
  readonly state: Pick<AgentState, 'requests'>;
  readonly children: { cancelAll(): void };
  receive(kind: 'message' | 'cancel', from: null, text: string): string;
  record(event: { type: 'agent.detached' }): void;
}

interface LivingChild extends AbortLinks {
  readonly child: HandledAgent;
  readonly abort: AbortController;
}

interface AbortLinks {
  /** The child no longer ends with the call that asked for it. */
  readonly cutWaited: () => void;
  readonly cutOwn: () => void;
}

/** Removed when the child ends: a session of ten thousand children keeps none. */
function linkAbort(
  abort: AbortController,
  { signal, overrides, run_in_background }: ChildOptions,
): AbortLinks {
  const follow = (source: AbortSignal | undefined): (() => void) =>
    source === undefined ? UNLINKED : onAbort(source, () => abort.abort(source.reason));
  return {
    cutWaited: follow(run_in_background === true ? undefined : signal),
    cutOwn: follow(overrides?.abortController?.signal),
  };
}

const UNLINKED = (): void => {};

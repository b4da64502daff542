/**
 * A child as its starter sees it. Once it has ended the handle keeps only its result: ten thousand handles keep no
 * conversation in memory.
 */
import type { AgentId } from '../../schema/ids.ts';
import { onAbort } from '../../system/on-abort.ts';
import type { Agent } from '../agent/agent.ts';
import type { AgentHandle, AgentResult } from '../agent/agent-event.ts';
import { agentMessageText, CANCELLED, STOPPED } from '../agent/notices.ts';
import type { ForkOverrides } from './child-terms.ts';

export interface ChildOptions {
  /** Ends the child while a caller waits for it. */
  signal?: AbortSignal | undefined;
  run_in_background?: boolean | undefined;
  overrides?: ForkOverrides;
}

export class ChildHandle implements AgentHandle {
  readonly id: AgentId;
  readonly parent: AgentId;
  readonly type: string;
  readonly name: string | null;
  readonly description: string;
  readonly result: Promise<AgentResult>;
  #inBackground: boolean;
  #detached: PromiseWithResolvers<void> | null = null;
  #living: LivingChild | null;

  /** `live` is called once the handle is complete, and told when the child is to end. */
  constructor(
    child: Agent,
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
    this.result = Promise.resolve().then(() => live(this, abort.signal));
    Object.freeze(this);
  }

  get inBackground(): boolean {
    return this.#inBackground;
  }

  get detached(): Promise<void> {
    this.#detached ??= Promise.withResolvers();
    return this.#detached.promise;
  }

  steer(text: string): void {
    const said = agentMessageText({ kind: 'user', from: null, name: null }, text);
    this.#living?.child.receive('message', null, said);
  }

  cancel(): void {
    if (this.#living === null) return;
    const { child, abort } = this.#living;
    // One that has done nothing has nothing to sum up.
    if (child.state.requests === 0) abort.abort(STOPPED);
    child.receive('cancel', null, CANCELLED);
    child.children.cancelAll();
  }

  stop(reason: string): void {
    this.#living?.abort.abort(reason);
  }

  detach(): void {
    // A caller that waits for one that has ended is about to be answered.
    if (this.#inBackground || this.#living === null) return;
    this.#inBackground = true;
    this.#living.cutWaited();
    this.#living.child.record({ type: 'agent.detached' });
    this.#detached ??= Promise.withResolvers();
    this.#detached.resolve();
  }

  /** The child has ended: nobody reaches it through here any more, and it follows nobody. */
  ended(): void {
    this.#living?.cutWaited();
    this.#living?.cutOwn();
    this.#living = null;
  }
}

interface LivingChild extends AbortLinks {
  readonly child: Agent;
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

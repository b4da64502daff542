/**
 * Compares a child's prompt, before its first request, with what it is meant to share (FORK-8): a fork with its
 * parent's conversation, a fresh agent with the first one of its type. A difference costs a cache write that nobody
 * planned. In use it is a warning that names the block and the field; a strict session, as tests have it, fails.
 */

import type { Conversation } from '../../conversation/conversation.ts';
import { findDivergence } from '../../conversation/divergence.ts';
import { sharedPrefixEnd } from '../../conversation/request.ts';
import { RametError } from '../../schema/errors.ts';
import type { Digest } from '../../schema/events.ts';

/** What a fork took over: a number of message blocks, up to this link of its parent's chain. */
export interface InheritedPrefix {
  readonly blocks: number;
  readonly digest: Digest;
  /** To name the difference; released once the fork has started. */
  readonly parent?: Conversation | undefined;
}

export interface GuardedChild {
  readonly spec: {
    readonly type: string;
    readonly cwd: string;
    readonly tools: readonly { readonly name: string }[];
  };
  readonly conversation: Conversation;
  readonly here: { readonly inherited: InheritedPrefix | null };
  warn(code: string, message: string): void;
}

interface FirstOfType {
  readonly cwd: string;
  /** Its head and first message: no more is shared between fresh agents. */
  readonly opening: Conversation;
}

export class PrefixGuard {
  readonly #strict: boolean;
  readonly #firsts = new Map<string, FirstOfType>();
  readonly #definitions = new Map<string, object>();

  constructor({ strict }: { strict: boolean }) {
    this.#strict = strict;
  }

  /** Agents of a type share a prefix as long as its definition is the same object: a file may be edited. */
  noteDefinition(type: string, definition: object): void {
    const before = this.#definitions.get(type);
    this.#definitions.set(type, definition);
    if (before === undefined || before === definition) return;
    for (const key of this.#firsts.keys()) if (key.startsWith(`${type}\n`)) this.#firsts.delete(key);
  }

  check(child: GuardedChild): void {
    const found = child.here.inherited === null ? this.#siblingDivergence(child) : forkDivergence(child);
    if (found === null) return;
    const message = `${found}: what stands there and after it is written to the cache again`;
    if (this.#strict) throw new RametError('prefix_diverged', 'terminal', message);
    child.warn('prefix_diverged', message);
  }

  /** Shared texts are read from files of the working directory, so they are compared within one only. */
  #siblingDivergence({ spec, conversation }: GuardedChild): string | null {
    const opening = conversation.fork(1);
    const { model, thinking } = conversation.head;
    // Chosen for one agent, as its model may be.
    const chosen = JSON.stringify(thinking);
    const key = [spec.type, model, chosen, ...spec.tools.map(({ name }) => name).sort()].join('\n');
    const first = this.#firsts.get(key);
    if (first === undefined) {
      this.#firsts.set(key, { cwd: spec.cwd, opening });
      return null;
    }
    const meant = first.cwd === spec.cwd ? sharedDigest : headDigest;
    if (meant(first.opening) === meant(opening)) return null;
    const where = describe(findDivergence(first.opening, opening));
    return `this agent of the type ${spec.type} differs from the first one in ${where}`;
  }
}

function forkDivergence({ here, conversation }: GuardedChild): string | null {
  const { inherited } = here;
  if (inherited === null) return null;
  const { blocks, digest, parent } = inherited;
  const system = conversation.head.system.length;
  const link = blocks === 0 ? conversation.head.digest : conversation.linkAt(system + blocks - 1);
  if (link === digest) return null;
  const where = parent === undefined ? null : findDivergence(firstBlocks(parent, blocks), conversation);
  return `this fork differs from its parent in ${describe(where)}`;
}

function describe(divergence: ReturnType<typeof findDivergence>): string {
  if (divergence === null) return 'its first blocks';
  const { where, field } = divergence;
  return field === null ? where : `${where}, field ${field}`;
}

function headDigest({ head }: Conversation): Digest {
  return head.digest;
}

function sharedDigest(conversation: Conversation): Digest {
  const end = sharedPrefixEnd(conversation);
  return end === null ? conversation.head.digest : conversation.digestAt(end);
}

/** Whole messages: a fork begins between two. */
function firstBlocks(conversation: Conversation, blocks: number): Conversation {
  let messages = 0;
  for (let left = blocks; left > 0 && messages < conversation.messages.length; messages++) {
    left -= conversation.messages[messages]?.blocks.length ?? 0;
  }
  return conversation.fork(messages);
}

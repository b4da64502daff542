/** Where two conversations part: the first block that differs, and which of its fields (FORK-1, FORK-8). */
import type { PromptHead } from './conversation.ts';
import { contentOfBytes } from './frozen-block.ts';

export interface Divergence {
  /** `model`, `thinking`, `tools[3]`, `system[0]` or `messages[2].content[1]`. */
  where: string;
  /** The first differing field of that block; null when one side has no such block. */
  field: string | null;
}

export interface ComparedBlock {
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** A `Conversation`, or what is known of one. */
export interface ComparedPrompt {
  readonly head: Pick<PromptHead, 'model' | 'thinking'> & {
    readonly tools: readonly ComparedBlock[];
    readonly system: readonly ComparedBlock[];
    readonly digest: string | number;
  };
  readonly messages: readonly { readonly role: string; readonly blocks: readonly ComparedBlock[] }[];
  /** Of all of it: equal for equal prompts. */
  readonly digest: string | number;
}

/** Null when `prefix` is a prefix of `whole`: every block of it stands there, in place. */
export function findDivergence(prefix: ComparedPrompt, whole: ComparedPrompt): Divergence | null {
  if (prefix.digest === whole.digest) return null;
  return headDivergence(prefix, whole) ?? messageDivergence(prefix, whole);
}

function headDivergence(prefix: ComparedPrompt, whole: ComparedPrompt): Divergence | null {
  const [a, b] = [prefix.head, whole.head];
  if (a.digest === b.digest) return null;
  if (a.model !== b.model) return { where: 'model', field: null };
  if (JSON.stringify(a.thinking) !== JSON.stringify(b.thinking)) return { where: 'thinking', field: null };
  return (
    blockDivergence('tools', a.tools, b.tools, true) ?? blockDivergence('system', a.system, b.system, true)
  );
}

function messageDivergence(prefix: ComparedPrompt, whole: ComparedPrompt): Divergence | null {
  const last = prefix.messages.length - 1;
  for (const [index, message] of prefix.messages.entries()) {
    const other = whole.messages[index];
    const where = `messages[${index}]`;
    if (other === undefined) return { where, field: null };
    if (other.role !== message.role) return { where, field: 'role' };
    const found = blockDivergence(`${where}.content`, message.blocks, other.blocks, index < last);
    if (found !== null) return found;
  }
  return null;
}

function blockDivergence(
  where: string,
  a: readonly ComparedBlock[],
  b: readonly ComparedBlock[],
  sameLength: boolean,
): Divergence | null {
  const length = sameLength ? Math.max(a.length, b.length) : a.length;
  for (let index = 0; index < length; index++) {
    const [left, right] = [a[index], b[index]];
    if (left?.digest === right?.digest) continue;
    return { where: `${where}[${index}]`, field: left && right ? differingField(left, right) : null };
  }
  return null;
}

function differingField(a: ComparedBlock, b: ComparedBlock): string | null {
  const [left, right] = [contentOfBytes(a.bytes), contentOfBytes(b.bytes)];
  const fields = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return fields.find((field) => JSON.stringify(left[field]) !== JSON.stringify(right[field])) ?? null;
}

/** The messages that a fork took over from its parent, read back from the block that lists them (FORK-2). */
import type { Role } from '../../schema/content.ts';
import { JournalError } from '../../schema/errors.ts';
import type { Digest } from '../../schema/events.ts';
import type { JournalReader } from '../journal.ts';

export interface InheritedMessage {
  role: Role;
  blocks: Digest[];
  shared: number;
}

/** Nothing for a conversation that begins by itself. */
export function inheritedMessages(reader: JournalReader, list: Digest | null): InheritedMessage[] {
  if (list === null) return [];
  try {
    const messages: unknown = JSON.parse(Buffer.from(reader.block(list)).toString());
    if (Array.isArray(messages) && messages.every(isMessage)) return messages;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const reason = `block ${list} of the journal is no list of messages: it is damaged; start a new session`;
  throw new JournalError('journal_damaged', 'terminal', reason);
}

function isMessage(value: unknown): value is InheritedMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { role, blocks, shared }: { role?: unknown; blocks?: unknown; shared?: unknown } = value;
  return (
    (role === 'user' || role === 'assistant') &&
    typeof shared === 'number' &&
    Array.isArray(blocks) &&
    blocks.every((digest) => typeof digest === 'string')
  );
}

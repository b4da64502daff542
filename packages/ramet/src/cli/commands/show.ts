/** `ramet show`: one session, its conversation and its bill. */
import { contentOf, thawBytes } from '../../conversation/frozen-block.ts';
import {
  replacedConversations,
  type TranscriptMessage,
  transcriptOf,
} from '../../journal/projections/transcript.ts';
import type { OtherBlock } from '../../schema/content.ts';
import { excerpt, printable } from '../format.ts';
import type { CommandIo } from '../io.ts';
import { type SessionView, viewSession } from '../session-view.ts';
import { costTable } from './cost.ts';

const RESULT_LINES = 8;
const LINE_LENGTH = 160;

interface ShowOptions {
  json?: boolean;
  /** Also what compactions have replaced. */
  full?: boolean;
}

interface ShownMessage {
  role: string;
  content: OtherBlock[];
}

export function show(wanted: string | undefined, options: ShowOptions, io: CommandIo): void {
  using view = viewSession(wanted, io);
  if (options.json) io.out(`${JSON.stringify(sessionObject(view, options))}\n`);
  else showText(view, options, io);
}

function showText(view: SessionView, options: ShowOptions, io: CommandIo): void {
  const { entry, agents } = view;
  io.out(`session ${entry.session} in ${entry.cwd}, started ${new Date(entry.created).toISOString()}\n`);
  for (const agent of agents) {
    const because = [agent.cause, agent.message].filter(Boolean).join(': ');
    io.out(
      `\nagent ${agent.id} (${agent.type}, ${agent.model}): ${agent.status}${because && `, ${because}`}\n`,
    );
    showReplaced(replacedOf(view, agent.id), options, io);
    showMessages(messagesOf(view, agent.id), io);
  }
  io.out(`\n${costTable(view)}`);
}

function showReplaced(
  replaced: readonly (readonly ShownMessage[])[],
  { full }: ShowOptions,
  io: CommandIo,
): void {
  if (replaced.length === 0) return;
  if (full !== true) {
    io.out(`\n(compacted ${times(replaced.length)}: --full shows what was replaced)\n`);
    return;
  }
  for (const [index, messages] of replaced.entries()) {
    showMessages(messages, io);
    io.out(
      `\n--- compaction ${index + 1} replaced the ${messages.length} messages above by what follows ---\n`,
    );
  }
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function showMessages(messages: readonly ShownMessage[], io: CommandIo): void {
  for (const { role, content } of messages) {
    for (const block of content) io.out(`\n${printable(blockText(role, block))}\n`);
  }
}

function sessionObject(view: SessionView, { full }: ShowOptions): Record<string, unknown> {
  return {
    session_id: view.entry.session,
    cwd: view.entry.cwd,
    created: new Date(view.entry.created).toISOString(),
    agents: view.agents.map((agent) => ({
      ...agent,
      ...(full === true && { replaced: replacedOf(view, agent.id) }),
      messages: messagesOf(view, agent.id),
    })),
  };
}

function messagesOf(view: SessionView, agent: string): ShownMessage[] {
  return contentsOf(view, transcriptOf(view.reader.events({ agent }), agent).messages);
}

function replacedOf(view: SessionView, agent: string): ShownMessage[][] {
  return replacedConversations(view.reader.events({ agent }), agent).map((messages) =>
    contentsOf(view, messages),
  );
}

function contentsOf({ reader }: SessionView, messages: readonly TranscriptMessage[]): ShownMessage[] {
  return messages.map(({ role, blocks }) => ({
    role,
    content: blocks.map((digest) => contentOf(thawBytes(reader.block(digest)))),
  }));
}

function blockText(role: string, block: OtherBlock): string {
  switch (block.type) {
    case 'text':
      return `[${role}] ${String(block.text)}`;
    case 'thinking':
      return `[thinking] ${excerpt(String(block.thinking), LINE_LENGTH)}`;
    case 'tool_use':
      return `[call] ${String(block.name)} ${excerpt(JSON.stringify(block.input), LINE_LENGTH)}`;
    case 'tool_result':
      return `[${block.is_error ? 'error' : 'result'}] ${resultText(block.content)}`;
    default:
      return `[${block.type}]`;
  }
}

function resultText(content: unknown): string {
  if (typeof content !== 'string') return excerpt(JSON.stringify(content) ?? '', LINE_LENGTH);
  const lines = content.split('\n');
  const shown = lines.slice(0, RESULT_LINES).map((line) => excerpt(line, LINE_LENGTH));
  const rest = lines.length - shown.length;
  return shown.join('\n  ') + (rest > 0 ? `\n  (${rest} more lines)` : '');
}

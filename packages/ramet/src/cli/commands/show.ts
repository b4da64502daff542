/** `ramet show`: one session or one agent of it, with its conversation and its bill. */
import { contentOf, thawBytes } from '../../conversation/frozen-block.ts';
import { agentTree } from '../../journal/projections/agent-tree.ts';
import { inheritedMessages } from '../../journal/projections/inherited-messages.ts';
import type { AgentOverview } from '../../journal/projections/status.ts';
import {
  replacedConversations,
  type TranscriptMessage,
  transcriptOf,
} from '../../journal/projections/transcript.ts';
import type { OtherBlock } from '../../schema/content.ts';
import { openTodos, type TodoItem } from '../../schema/todo-item.ts';
import { untilText } from '../../schema/until-text.ts';
import { purposeOf } from '../agent-label.ts';
import { costTable, forkTable, sessionSections } from '../cost/cost-table.ts';
import { excerpt, printable } from '../format.ts';
import type { CommandIo } from '../io.ts';
import { type TargetView, viewAgents } from '../session-target.ts';
import type { SessionView } from '../session-view.ts';
import { ledgerText } from './cost.ts';

const RESULT_LINES = 8;
const LINE_LENGTH = 160;

interface ShowOptions {
  json?: boolean;
  /** Also what compactions have replaced and what forks took over. */
  full?: boolean;
}

interface ShownMessage {
  role: string;
  content: OtherBlock[];
}

export function show(wanted: string | undefined, options: ShowOptions, io: CommandIo): void {
  using view = viewAgents(wanted, io);
  if (options.json) io.out(`${JSON.stringify(sessionObject(view, options))}\n`);
  else showText(view, options, io);
}

function showText(view: TargetView, options: ShowOptions, io: CommandIo): void {
  const { entry, ledger, agent } = view;
  io.out(`session ${entry.session} in ${entry.cwd}, started ${new Date(entry.created).toISOString()}\n`);
  for (const shown of agentsOf(view)) showAgent(view, shown, options, io);
  if (agent === null) io.out(`\n${ledgerText(ledger)}`);
  else io.out(`\n${costTable(sessionSections(ledger, agent), null)}${forkTable(ledger, agent)}`);
}

function agentsOf({ agents, agent }: TargetView): AgentOverview[] {
  return agentTree(agents)
    .map((place) => place.agent)
    .filter(({ id }) => agent === null || id === agent);
}

function showAgent(view: TargetView, agent: AgentOverview, options: ShowOptions, io: CommandIo): void {
  io.out(`\n${printable(agentLine(agent))}\n`);
  const inherited = inheritedOf(view, agent.id);
  if (inherited.length > 0) showInherited(agent, inherited, options, io);
  showReplaced(replacedOf(view, agent.id), options, io);
  showMessages(messagesOf(view, agent.id), io);
  const open = openTodos(agent.todos);
  if (open.length > 0) io.out(`\nopen todos:\n${open.map(todoLine).join('')}`);
}

function agentLine(agent: AgentOverview): string {
  const because = [agent.cause, agent.message].filter(Boolean).join(': ');
  const purpose = purposeOf(agent);
  const parent = agent.parent === null ? '' : `, child of ${agent.parent}`;
  const kind = `${agent.type}${parent}, ${agent.model}`;
  const { until, resumed } = agent;
  const time = until === null ? '' : ` until ${untilText(until, Date.now())}`;
  const { worktree } = agent;
  const place =
    worktree === null
      ? ''
      : `; in ${printable(worktree.path)} on ${printable(worktree.branch ?? 'no branch')}`;
  const again = resumed === 0 ? '' : `; went on ${times(resumed)} after it was interrupted`;
  return `agent ${agent.id}${purpose && ` ${purpose}`} (${kind}): ${agent.status}${because && `, ${because}`}${time}${again}${place}`;
}

function showInherited(
  { parent }: AgentOverview,
  inherited: readonly ShownMessage[],
  { full }: ShowOptions,
  io: CommandIo,
): void {
  const messages = `${inherited.length} message${inherited.length === 1 ? '' : 's'}`;
  if (full !== true) {
    io.out(`\n(begins with ${messages} of ${parent}: --full shows them)\n`);
    return;
  }
  showMessages(inherited, io);
  io.out(`\n--- forked from ${parent}: the ${messages} above are its parent's ---\n`);
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

function sessionObject(view: TargetView, { full }: ShowOptions): Record<string, unknown> {
  return {
    session_id: view.entry.session,
    cwd: view.entry.cwd,
    created: new Date(view.entry.created).toISOString(),
    agents: agentsOf(view).map((agent) => ({
      ...agent,
      ...(full === true && {
        inherited: inheritedOf(view, agent.id),
        replaced: replacedOf(view, agent.id),
      }),
      messages: messagesOf(view, agent.id),
    })),
  };
}

function messagesOf(view: SessionView, agent: string): ShownMessage[] {
  return contentsOf(view, transcriptOf(view.reader.events({ agent }), agent).messages);
}

function inheritedOf(view: SessionView, agent: string): ShownMessage[] {
  const { inherited } = transcriptOf(view.reader.events({ agent }), agent);
  return contentsOf(view, inheritedMessages(view.reader, inherited));
}

function replacedOf(view: SessionView, agent: string): ShownMessage[][] {
  return replacedConversations(view.reader.events({ agent }), agent).map((messages) =>
    contentsOf(view, messages),
  );
}

function contentsOf(
  { reader }: SessionView,
  messages: readonly Pick<TranscriptMessage, 'role' | 'blocks'>[],
): ShownMessage[] {
  return messages.map(({ role, blocks }) => ({
    role,
    content: blocks.map((digest) => contentOf(thawBytes(reader.block(digest)))),
  }));
}

function todoLine({ status, content }: TodoItem): string {
  return `  ${status === 'in_progress' ? '>' : '-'} ${excerpt(content, LINE_LENGTH)}\n`;
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

/** One session or one agent of it, with its conversation and its bill. */
import { contentOfBytes } from '../conversation/frozen-block.ts';
import type { StateMessage } from '../journal/projections/agent-state.ts';
import { type InheritedMessage, inheritedMessages } from '../journal/projections/inherited-messages.ts';
import type { AgentOverview } from '../journal/projections/status.ts';
import type { OtherBlock } from '../schema/content.ts';
import { JournalError } from '../schema/errors.ts';
import type { Digest } from '../schema/events.ts';
import type { SessionId } from '../schema/ids.ts';
import { localMoment } from '../schema/local-time.ts';
import { openTodos, type TodoItem } from '../schema/status.ts';
import { untilText } from '../schema/until-text.ts';
import { agentTree, purposeOf, thinkingText } from './agent-label.ts';
import { snakeCased } from './json-spelling.ts';
import { costTable, forkTable, ledgerText, sessionSections } from './ledger/cost-table.ts';
import { type RecordedConversation, RecordedConversations } from './recorded-conversations.ts';
import { type TargetView, viewAgents } from './session-target.ts';
import type { SessionView } from './session-view.ts';
import { codeLine, excerpt, printable } from './text/format.ts';

const RESULT_LINES = 8;
const LINE_LENGTH = 160;

export interface TranscriptOptions {
  /** Also what compactions have replaced and what forks took over. */
  full?: boolean;
}

export interface ShownMessage {
  role: string;
  content: OtherBlock[];
}

export interface TranscriptView extends TargetView {
  readonly conversations: RecordedConversations;
}

export function viewTranscript(wanted: string | undefined, project: string): TranscriptView {
  const conversations = new RecordedConversations();
  const target = viewAgents(wanted, project, (recorded) => conversations.take(recorded));
  return { ...target, conversations };
}

/** Agent by agent: a reader of the first does not wait for the last. `columns` is the width of the screen. */
export function* transcriptTexts(
  view: TranscriptView,
  { columns, ...options }: TranscriptOptions & { columns: number | null },
): Iterable<string> {
  const { entry, ledger, agent } = view;
  yield `session ${entry.session} in ${entry.cwd}, started ${localMoment(entry.created).slice(0, -4)}\n`;
  for (const shown of agentsOf(view)) yield view.reader.together(() => agentText(view, shown, options));
  if (agent === null) yield `\n${ledgerText(ledger)}`;
  else yield `\n${costTable(sessionSections(ledger, agent), null, columns)}${forkTable(ledger, agent)}`;
}

function agentsOf({ agents, agent }: TargetView): AgentOverview[] {
  return agentTree(agents)
    .map((place) => place.agent)
    .filter(({ id }) => agent === null || id === agent);
}

/** In one piece: a write for every block is what a large session would wait for. */
function agentText(view: TranscriptView, agent: AgentOverview, options: TranscriptOptions): string {
  const { inherited, replaced, messages } = view.conversations.of(agent.id);
  const open = openTodos(agent.todos);
  return [
    `\n${printable(agentLine(agent))}\n`,
    agent.phase === null ? '' : `phase: ${agent.phase}\n`,
    progressText(agent),
    inherited === null ? '' : inheritedText(view, agent, inherited, options),
    replacedText(view, replaced, options),
    messagesText(contentsOf(view, messages)),
    open.length > 0 ? `\nopen todos:\n${open.map(todoLine).join('')}` : '',
  ].join('');
}

function agentLine(agent: AgentOverview): string {
  const because = [agent.cause, agent.message].filter(Boolean).join(': ');
  const purpose = purposeOf(agent);
  const parent = agent.parent === null ? '' : `, child of ${agent.parent}`;
  const thinking = thinkingText(agent.thinking);
  const kind = `${agent.type}${parent}, ${agent.model}${thinking && `, ${thinking}`}`;
  const { until, resumed } = agent;
  const time = until === null ? '' : ` until ${untilText(until, Date.now())}`;
  const { worktree } = agent;
  const place =
    worktree === null
      ? ''
      : `; in ${printable(worktree.path)} on ${printable(worktree.branch ?? 'no branch')}`;
  const again = resumed === 0 ? '' : `; resumed ${times(resumed)} after an interruption`;
  return `agent ${agent.id}${purpose && ` ${purpose}`} (${kind}): ${agent.status}${because && `, ${because}`}${time}${again}${place}`;
}

/** Of one that has ended its report says more. */
function progressText({ progress, status }: AgentOverview): string {
  return progress === null || status === 'done' ? '' : `progress: ${excerpt(progress, LINE_LENGTH)}\n`;
}

function inheritedText(
  view: TranscriptView,
  { parent }: AgentOverview,
  list: Digest,
  { full }: TranscriptOptions,
): string {
  const inherited = takenOver(view, list);
  if (inherited === null) return `\n(what it took over from ${parent} is damaged and cannot be shown)\n`;
  if (inherited.length === 0) return '';
  const messages = `${inherited.length} message${inherited.length === 1 ? '' : 's'}`;
  if (full !== true) return `\n(begins with ${messages} of ${parent}: --full shows them)\n`;
  const end = `\n--- forked from ${parent}: the ${messages} above are its parent's ---\n`;
  return messagesText(contentsOf(view, inherited)) + end;
}

/** Null where the list of them is damaged: the rest of the session is still shown. */
function takenOver({ reader }: SessionView, list: Digest | null): InheritedMessage[] | null {
  try {
    return inheritedMessages(reader, list);
  } catch (error) {
    if (error instanceof JournalError) return null;
    throw error;
  }
}

function replacedText(
  view: TranscriptView,
  replaced: RecordedConversation['replaced'],
  { full }: TranscriptOptions,
): string {
  if (replaced.length === 0) return '';
  if (full !== true) return `\n(compacted ${times(replaced.length)}: --full shows what was replaced)\n`;
  const parts = replaced.map((messages, index) => {
    const end = `\n--- compaction ${index + 1} replaced the ${messages.length} messages above by what follows ---\n`;
    return messagesText(contentsOf(view, messages)) + end;
  });
  return parts.join('');
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function messagesText(messages: readonly ShownMessage[]): string {
  const blocks = messages.flatMap(({ role, content }) => content.map((block) => blockText(role, block)));
  return blocks.map((text) => `\n${printable(text)}\n`).join('');
}

/** A session, or one agent of it, with what was said. */
export interface SessionTranscript {
  session: SessionId;
  cwd: string;
  /** Milliseconds since the epoch. */
  created: number;
  agents: AgentTranscript[];
}

export interface AgentTranscript {
  agent: AgentOverview;
  messages: ShownMessage[];
  /** With `full`: what a fork took over from its parent. */
  inherited?: ShownMessage[];
  /** With `full`: what compactions have replaced. */
  replaced?: ShownMessage[][];
}

export function transcriptOf(view: TranscriptView, { full }: TranscriptOptions): SessionTranscript {
  const { session, cwd, created } = view.entry;
  const agents = agentsOf(view).map((agent): AgentTranscript => {
    const { inherited, replaced, messages } = view.conversations.of(agent.id);
    return {
      agent,
      ...(full === true && {
        inherited: contentsOf(view, takenOver(view, inherited) ?? []),
        replaced: replaced.map((one) => contentsOf(view, one)),
      }),
      messages: contentsOf(view, messages),
    };
  });
  return { session, cwd, created, agents };
}

export function transcriptObject(view: TranscriptView, options: TranscriptOptions): Record<string, unknown> {
  const { session, cwd, created, agents } = transcriptOf(view, options);
  return {
    session_id: session,
    cwd,
    created: new Date(created).toISOString(),
    agents: agents.map(({ agent, ...said }) => ({ ...agentFields(agent), ...said })),
  };
}

/** Contents of messages keep their names; those of the agent are ours. */
function agentFields(agent: AgentOverview): object {
  return Object(snakeCased(agent));
}

function contentsOf(
  { reader }: SessionView,
  messages: readonly Pick<StateMessage, 'role' | 'blocks'>[],
): ShownMessage[] {
  return messages.map(({ role, blocks }) => ({
    role,
    content: blocks.map((digest) => contentOfBytes(reader.block(digest))),
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
    case 'server_tool_use':
      return `[call] ${String(block.name)} ${excerpt(JSON.stringify(block.input), LINE_LENGTH)}`;
    case 'web_search_tool_result':
      return `[result] ${excerpt(addressesIn(block.content), LINE_LENGTH)}`;
    default:
      return `[${block.type}]`;
  }
}

/** What a search found, by its addresses; or why it found nothing. */
function addressesIn(content: unknown): string {
  if (!Array.isArray(content)) return String(Object(content).error_code ?? 'nothing was found');
  return content.map((one) => String(Object(one).url)).join(' ') || 'nothing was found';
}

function resultText(content: unknown): string {
  if (typeof content !== 'string') return excerpt(JSON.stringify(content) ?? '', LINE_LENGTH);
  const lines = content.split('\n');
  const shown = lines.slice(0, RESULT_LINES).map((line) => codeLine(line, LINE_LENGTH));
  const rest = lines.length - shown.length;
  return shown.join('\n  ') + (rest > 0 ? `\n  (${rest} more lines)` : '');
}

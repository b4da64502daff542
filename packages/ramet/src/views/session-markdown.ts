/** A session as a Markdown page, to read or to send: prompts, answers, calls with their results, the bill. */
import { contentOfBytes } from '../conversation/frozen-block.ts';
import type { StateMessage } from '../journal/projections/agent-state.ts';
import type { OtherBlock } from '../schema/content.ts';
import { localMoment } from '../schema/local-time.ts';
import { agentLabel, agentTree } from './agent-label.ts';
import { titleText } from './session-rows.ts';
import { codeLine, dollars, safeText, usageTokens } from './text/format.ts';
import type { TranscriptView } from './transcript.ts';

const RESULT_LINES = 40;
const LINE_LENGTH = 400;

/** Piece by piece: a large session is not held twice. */
export function* sessionMarkdown(view: TranscriptView): Iterable<string> {
  const { entry, ledger, agents, reader } = view;
  const { usage, costUsd } = ledger.total;
  yield `# ${titleText(entry.title)}\n\n`;
  yield `- session: ${entry.session}\n- directory: ${safeText(entry.cwd)}\n- started: ${localMoment(entry.created).slice(0, 16)}\n`;
  yield `- used: ${usageTokens(usage)} tokens, ${dollars(costUsd)}\n`;
  for (const { agent, level } of agentTree(agents)) {
    yield `\n## ${agentLabel(agent, 0).trim()}${level === 0 ? '' : ` (child of ${agent.parent})`}\n`;
    const { messages } = view.conversations.of(agent.id);
    yield reader.together(() => messages.map((message) => messageText(view, message)).join(''));
  }
}

function messageText({ reader }: TranscriptView, { role, blocks }: StateMessage): string {
  const contents = blocks.map((digest) => contentOfBytes(reader.block(digest)));
  // What Ramet says before a person's words is not part of what was said.
  const isPrompt = role === 'user' && contents.every(({ type }) => type === 'text');
  const shown = isPrompt ? contents.slice(-1) : contents;
  return shown.map((block) => blockText(role, block)).join('');
}

function blockText(role: string, block: OtherBlock): string {
  switch (block.type) {
    case 'text':
      return role === 'user' ? `\n${quoted(String(block.text))}\n` : `\n${safeText(String(block.text))}\n`;
    case 'tool_use':
      return `\n**${safeText(String(block.name))}**\n${fenced(JSON.stringify(block.input, null, 2), 'json')}`;
    case 'tool_result':
      return fenced(resultText(block.content), block.is_error === true ? 'error' : '');
    default:
      return '';
  }
}

function quoted(text: string): string {
  return safeText(text)
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

function resultText(content: unknown): string {
  const text = typeof content === 'string' ? content : (JSON.stringify(content) ?? '');
  const lines = text.split('\n');
  const shown = lines.slice(0, RESULT_LINES).map((line) => codeLine(line, LINE_LENGTH));
  const rest = lines.length - shown.length;
  return shown.join('\n') + (rest > 0 ? `\n(${rest} more line${rest === 1 ? '' : 's'})` : '');
}

/** The fence is longer than any in the text, which cannot close it. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `\n${fence}${language}\n${safeText(text)}\n${fence}\n`;
}

/** Makes a tool's outcome fit for the conversation: without secrets, of bounded length, never empty, and with a word about repeated refusals. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { countRefusal, tellsBy } from '../../journal/projections/agent-state.ts';
import { GO_ON } from '../../permission/assessment.ts';
import type { TextBlock, ToolResultBlock, ToolUseBlock } from '../../schema/content.ts';
import { describeError } from '../../schema/errors.ts';
import { accessOfCall, findTool } from '../../tools/registry.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import { REFUSED_OFTEN } from '../agent/notices.ts';
import type { SessionRuntime } from '../agent/runtime.ts';

/** Tools bound their own output below this; it is the last line for those that do not. */
const MOST_CHARACTERS = 120_000;

type ResultKeeper = Pick<SessionRuntime, 'redact' | 'outputDirectory'>;

export async function finishResult(
  keeper: ResultKeeper,
  call: ToolUseBlock,
  outcome: ToolOutcome,
): Promise<ToolResultBlock> {
  return {
    type: 'tool_result',
    tool_use_id: call.id,
    content: await finishContent(keeper, call, outcome.content),
    ...(outcome.isError ? { is_error: true } : {}),
  };
}

async function finishContent(
  keeper: ResultKeeper,
  call: ToolUseBlock,
  content: ToolOutcome['content'],
): Promise<ToolResultBlock['content']> {
  if (typeof content === 'string') return finishText(keeper, call, content);
  if (content.length === 0) return finishText(keeper, call, '');
  return Promise.all(
    content.map(async (block) =>
      block.type === 'text'
        ? ({ type: 'text', text: await finishText(keeper, call, block.text) } satisfies TextBlock)
        : block,
    ),
  );
}

async function finishText(keeper: ResultKeeper, call: ToolUseBlock, raw: string): Promise<string> {
  const text = keeper.redact(raw.toWellFormed());
  if (text === '') return '(no output)';
  if (text.length <= MOST_CHARACTERS) return text;
  const place = await keepWhole(keeper.outputDirectory, call, text);
  return `${text.slice(0, MOST_CHARACTERS).toWellFormed()}\n[cut: ${text.length} characters in all; ${place}]`;
}

async function keepWhole(directory: string, call: ToolUseBlock, text: string): Promise<string> {
  const path = join(directory, `${call.id.replace(/[^\w-]/g, '_')}.txt`);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(path, text, { mode: 0o600 });
    return `the whole is in ${path}`;
  } catch (error) {
    return `the rest could not be kept: ${describeError(error)}`;
  }
}

const LONGEST_KIND = 200;
/** What one command does, in a reason. The command's text follows, and can contain anything. */
const OF_A_COMMAND = /\bit (?:runs|writes|reads|sets)\b|the read-only sandbox stopped it:/;

/**
 * The result as the agent gets it, and the refusal as `tool.completed` records it, which counts it. After the third
 * equal refusal the agent is told to do what needs no such call (FORK-4).
 */
export function withRefusal(
  agent: Pick<Agent, 'state' | 'runtime' | 'spec'>,
  call: ToolUseBlock,
  result: ToolResultBlock,
  { refusal }: ToolOutcome,
): { result: ToolResultBlock; refused: { refused?: string } } {
  if (refusal === undefined) return { result, refused: {} };
  const tool = findTool(agent.spec.tools, call.name);
  const isCommand = tool !== undefined && accessOfCall(tool, call.input).command !== undefined;
  const refused = refusalKind({ name: call.name, isCommand }, agent.runtime.redact(refusal));
  const tells = tellsBy(countRefusal(agent.state.refusals, refused, call.id), call.id);
  return { result: tells ? told(result) : result, refused: { refused } };
}

function told(result: ToolResultBlock): ToolResultBlock {
  const { content } = result;
  if (typeof content === 'string') return { ...result, content: `${content}\n${REFUSED_OFTEN}` };
  return { ...result, content: [...content, { type: 'text', text: REFUSED_OFTEN }] };
}

/**
 * What two refusals must have in common to be equal: the tool, and the rule or cause without what names one call alone.
 * Those are the command and what it names, absolute paths, the hint for the user and what to do next.
 */
export function refusalKind(
  { name, isCommand }: { name: string; isCommand: boolean },
  reason: string,
): string {
  const ended = reason.replace(/ \(For the user: .*$/s, '').replace(` ${GO_ON}`, '');
  const why = (isCommand ? withoutCommand(ended) : ended)
    .replace(/(?<=^|[\s"'(])\/[^\s"',;)]+/g, '/...')
    .replace(/\s+/g, ' ');
  return `${name}: ${why}`.slice(0, LONGEST_KIND).toWellFormed();
}

/** The reason with the command's text left out: the answer follows the last "and". */
function withoutCommand(reason: string): string {
  const match = OF_A_COMMAND.exec(reason);
  if (match === null) return reason;
  const begin = match.index + match[0].length;
  const end = reason.lastIndexOf(', and ');
  return `${reason.slice(0, begin)} ...${end >= begin ? reason.slice(end) : ''}`;
}

/** Makes a tool's outcome fit to enter the conversation: secrets out, length bounded, never empty. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TextBlock, ToolResultBlock, ToolUseBlock } from '../../schema/content.ts';
import { describeError } from '../../schema/errors.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
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

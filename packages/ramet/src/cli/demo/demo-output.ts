/** How `ramet demo` looks: headings, the agent's steps as they happen, and the bill, within 80 columns. */

import { styleText } from 'node:util';
import type { AgentResult } from '../../engine/agent-event.ts';
import { costOf } from '../../model/prices.ts';
import type { ToolResultBlock, ToolUseBlock } from '../../schema/content.ts';
import { hitRate } from '../../schema/usage.ts';
import type { SessionEvent } from '../../sdk/session.ts';
import { dollars, duration, excerpt, percent, table } from '../format.ts';
import type { CommandIo } from '../io.ts';

const SHOWN = 48;

export interface DemoOutput {
  say(text: string): void;
  heading(text: string): void;
  /** Text that is not ours: the task, a report, a diff. */
  quote(text: string): void;
  event(event: SessionEvent): void;
}

export function demoOutput({ out }: CommandIo): DemoOutput {
  const say = (text: string): void => out(`${text}\n`);
  return {
    say,
    // Plain where standard output is no terminal, or NO_COLOR is set.
    heading: (text) => say(`\n${styleText('bold', text)}`),
    quote: (text) => say(text.trimEnd().replace(/^(?=.)/gm, '  ')),
    event(event) {
      if (event.type === 'tool_completed') say(callLine(event));
    },
  };
}

function callLine({ call, result, durationMs }: SessionEvent & { type: 'tool_completed' }): string {
  const what = `${call.name.padEnd(5)} ${subjectOf(call)}`.padEnd(SHOWN);
  return `  ${what} ${result.is_error ? refusalOf(result) : duration(durationMs)}`;
}

function subjectOf({ input }: ToolUseBlock): string {
  const values = typeof input === 'object' && input !== null ? Object.values(input) : [];
  return excerpt(values.find((value) => typeof value === 'string') ?? '', SHOWN - 6);
}

/** A whole file is never replaced unread: the first Write of the demo runs into that, and the Read follows. */
function refusalOf({ content }: ToolResultBlock): string {
  const unread = typeof content === 'string' && content.includes('you have not read it');
  return unread ? 'refused: not read yet' : 'failed';
}

export function billOf({ usage, costUsd }: AgentResult, model: string): string {
  const { parts } = costOf(model, usage);
  const written = usage.cache_creation_input_tokens;
  const line = (name: string, tokens: number, usd: number | null): string[] => [
    `  ${name.padEnd(24)}`,
    tokens.toLocaleString('en').padStart(7),
    dollars(usd).padStart(9),
  ];
  return table([
    line('prompt, not cached', usage.input_tokens, parts?.input ?? null),
    line('prompt, put in the cache', written, parts === null ? null : parts.write5m + parts.write1h),
    line('prompt, from the cache', usage.cache_read_input_tokens, parts?.read ?? null),
    line('answers', usage.output_tokens, parts?.output ?? null),
    [`  ${'in all'.padEnd(24)}`, ''.padStart(7), dollars(costUsd).padStart(9)],
  ]).concat(`  ${percent(hitRate(usage))} of the prompts came from the cache.\n`);
}

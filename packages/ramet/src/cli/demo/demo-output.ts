/** How `ramet demo` looks: headings, the agents' steps as they happen, within 80 columns. */
import { styleText } from 'node:util';
import type { ToolResultBlock, ToolUseBlock } from '../../schema/content.ts';
import { RametError } from '../../schema/errors.ts';
import type { SessionEvent } from '../../sdk/session/session.ts';
import { duration, excerpt } from '../../views/text/format.ts';
import type { CommandIo } from '../io.ts';

const SHOWN = 44;
const LONGEST_NAME = 6;
const LONGEST_LINE = 78;

export interface DemoOutput {
  say(text: string): void;
  heading(text: string): void;
  /** Text that is not ours: the task, a report, a list of changes. Long lines are cut. */
  quote(text: string): void;
  event(event: SessionEvent): void;
}

export function demoOutput({ out }: CommandIo): DemoOutput {
  const say = (text: string): void => out(`${text}\n`);
  return {
    say,
    // Plain where standard output is no terminal, or NO_COLOR is set.
    heading: (text) => say(`\n${styleText('bold', text)}`),
    quote: (text) => say(text.trimEnd().split('\n').map(quoted).join('\n')),
    event(event) {
      if (event.type === 'tool_completed') say(callLine(event));
    },
  };
}

function quoted(line: string): string {
  if (line === '') return line;
  return `  ${line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 1)}…` : line}`;
}

function callLine(event: SessionEvent & { type: 'tool_completed' }): string {
  const { call, result, durationMs } = event;
  const what = `${call.name.padEnd(5)} ${subjectOf(call)}`.padEnd(SHOWN);
  return `  ${nameOf(event).padEnd(LONGEST_NAME)}  ${what} ${result.is_error ? refusalOf(result) : duration(durationMs)}`;
}

/** Numbered by birth: `fork 2` is the second agent of the session. */
function nameOf({ agentId, parentAgentId }: SessionEvent): string {
  return parentAgentId === null ? 'main' : `fork ${agentId.slice(agentId.lastIndexOf('.') + 1)}`;
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

/** A demo checks what it shows. */
export function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new RametError('demo_failed', 'terminal', `the demo failed: ${otherwise}`);
}

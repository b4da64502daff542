/**
 * What a child says of its progress (RES-4): the first line of a text that comes with its calls, or the item of its list
 * that it works on. It needs no tool and no word in any prompt, so every child can. At most one line for an answer and
 * one for a list is recorded, and none twice in a row.
 */
import type { TodoItem } from '../../schema/status.ts';
import { stripAnsi } from '../../system/text/visible-text.ts';
import type { Agent } from '../agent/agent.ts';
import type { AgentEvent } from '../agent/agent-event.ts';
import type { NextStep } from './stop-reason.ts';

const LONGEST_LINE = 120;
/** Of a line that never ends; far more than is shown, so that no half of a secret is. */
const LOOKED_AT = 4_000;

/** Nothing for the main agent, whose words are shown anyway, and for an answer that is the report. */
export function* progressOfAnswer(agent: Agent, step: NextStep, text: string): Generator<AgentEvent> {
  if (step.kind === 'run_tools' || step.kind === 'ask_again') yield* report(agent, text);
}

export function* progressOfTodos(agent: Agent, todos: readonly TodoItem[]): Generator<AgentEvent> {
  const current = todos.find(({ status }) => status === 'in_progress');
  if (current !== undefined) yield* report(agent, current.activeForm || current.content);
}

function* report(agent: Agent, text: string): Generator<AgentEvent> {
  if (agent.spec.parent === null) return;
  const line = progressLine(text, agent.runtime.redact);
  if (line === '' || line === agent.state.progress) return;
  agent.record({ type: 'progress.reported', line });
  yield { type: 'progress', line };
}

/** One line without secrets, control characters and the marks of Markdown before it; empty when there is none. */
export function progressLine(text: string, redact: (text: string) => string): string {
  const [first = ''] = text
    .trimStart()
    .slice(0, LOOKED_AT)
    .split(/[\r\n\u2028\u2029]/, 1);
  // Escape sequences go first: one in a secret hides it, and taking it out later would join the halves.
  const line = redact(cleaned(redact(stripAnsi(first.toWellFormed()))));
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 1).toWellFormed()}…` : line;
}

function cleaned(line: string): string {
  return line
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .replace(/^[\s#>*-]+/, '')
    .trim();
}

/** The answer alone on standard output; what went wrong on standard error. */

import type { ToolUseBlock } from '../../schema/content.ts';
import type { Session, SessionEvent } from '../../sdk/session/session.ts';
import { endingOf, purposeOf, shortId } from '../../views/agent-label.ts';
import { compactedLine, retryLine } from '../../views/run-notes.ts';
import { duration, excerpt, printable, tokens } from '../../views/text/format.ts';
import type { CommandIo } from '../io.ts';
import { DenialNotes, endingLine, type ResultOutput, WaitNotes } from './result-output.ts';

export function textOutput(io: CommandIo): ResultOutput {
  const waits = new WaitNotes();
  const denials = new DenialNotes();
  /** Each is said once: a provider may give rise to the same one with every response. */
  const warned = new Set<string>();
  return {
    start() {},
    event(session, event) {
      const warning = event.type === 'warning' ? `${of(event, session)}${event.message}` : null;
      if (warning !== null && !warned.has(warning)) io.note(warning);
      if (warning !== null) warned.add(warning);
      // A call that starts an agent is shown with the agent.
      if (event.type === 'tool_started' && event.details?.startsAgent !== true)
        io.progress(`  ${of(event, session)}${callLine(event.call)}`);
      const denial =
        event.type === 'tool_completed'
          ? denials.line(event, `${of(event, session)}${callLine(event.call)}`)
          : null;
      if (denial !== null) io.note(denial);
      if (event.type === 'conversation_replaced' && event.cause === 'compaction')
        io.progress(`  ${of(event, session)}${compactedLine(event, tokens)}`);
      const agent = agentProgress(event);
      if (agent !== null) io.progress(`  ${shortId(event.agentId)} ${agent}`);
      const line = event.type === 'request_failed' ? retryLine(event) : null;
      if (line !== null) io.note(`${of(event, session)}${line}`);
      const wait = waits.line(event, Date.now());
      if (wait !== null) io.note(wait);
    },
    end(session, result) {
      const text = io.isTerminal ? printable(result.text) : result.text;
      if (text !== '') io.out(`${text}\n`);
      if (denials.rest !== null) io.note(denials.rest);
      if (result.status !== 'done') io.note(endingLine(result, session));
    },
  };
}

/** That a child began, ended, or is silent: what a person who waits for many wants to know of each. */
function agentProgress(event: SessionEvent): string | null {
  if (event.type === 'agent_started') {
    const { agentType, name, origin } = event;
    const purpose = purposeOf({ name, description: origin?.description ?? null });
    return `${excerpt(agentType, 60)} ${purpose}${origin?.background ? ' (in the background)' : ''}`;
  }
  if (event.type === 'stalled') return `silent for ${duration(event.silentMs)}`;
  if (event.type !== 'agent_ended') return null;
  const { ending, figures } = endingOf(event);
  return `${excerpt(ending, 200)} (${figures})`;
}

/** `.2 ` before what a child does or meets. */
function of({ agentId }: SessionEvent, { agent }: Session): string {
  return agentId === agent.id ? '' : `${shortId(agentId)} `;
}

/** `Bash npm test`: the tool and the field of its input that says most. */
function callLine({ name, input }: ToolUseBlock): string {
  const values = typeof input === 'object' && input !== null ? Object.values(input) : [];
  const first = values.find((value) => typeof value === 'string') ?? '';
  return `${name} ${excerpt(first, 100)}`;
}

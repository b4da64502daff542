/** The answer alone on standard output; what went wrong on standard error. */
import type { ToolUseBlock } from '../../schema/content.ts';
import type { Session, SessionEvent } from '../../sdk/session.ts';
import { shortId } from '../agent-label.ts';
import { excerpt, printable } from '../format.ts';
import type { CommandIo } from '../io.ts';
import { endingLine, type ResultOutput, retryLine } from './result-output.ts';

export function textOutput(io: CommandIo): ResultOutput {
  return {
    start() {},
    event(session, event) {
      if (event.type === 'warning') io.note(`${of(event, session)}${event.message}`);
      if (event.type === 'tool_started') io.progress(`  ${of(event, session)}${callLine(event.call)}`);
      if (event.type === 'compacted') {
        io.progress(
          `  ${of(event, session)}compacted: about ${event.tokensBefore} tokens became ${event.tokensAfter}`,
        );
      }
      const line = event.type === 'request_failed' ? retryLine(event) : null;
      if (line !== null) io.note(`${of(event, session)}${line}`);
    },
    end(session, result) {
      const text = io.isTerminal ? printable(result.text) : result.text;
      if (text !== '') io.out(`${text}\n`);
      if (result.status !== 'done') io.note(endingLine(result, session));
    },
  };
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

/** The answer alone on standard output; what went wrong on standard error. */
import { printable } from '../format.ts';
import type { CommandIo } from '../io.ts';
import { endingLine, type ResultOutput, retryLine } from './result-output.ts';

export function textOutput(io: CommandIo): ResultOutput {
  return {
    start() {},
    event(_, event) {
      if (event.type === 'warning') io.note(event.message);
      const line = event.type === 'request_failed' ? retryLine(event) : null;
      if (line !== null) io.note(line);
    },
    end(session, result) {
      const text = io.isTerminal ? printable(result.text) : result.text;
      if (text !== '') io.out(`${text}\n`);
      if (result.status !== 'done') io.note(endingLine(result, session));
    },
  };
}

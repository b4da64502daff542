/** One JSON object on standard output; retries and warnings stay on standard error. */
import type { CommandIo } from '../io.ts';
import { resultObject } from './result-object.ts';
import { endingLine, type ResultOutput } from './result-output.ts';
import { textOutput } from './text.ts';

export function jsonOutput(io: CommandIo): ResultOutput {
  return {
    ...textOutput(io),
    end(session, result) {
      io.out(`${JSON.stringify(resultObject(session, result))}\n`);
      if (result.status !== 'done') io.note(endingLine(result, session));
    },
  };
}

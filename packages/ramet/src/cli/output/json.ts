/** One JSON object on standard output; retries and warnings stay on standard error. */
import type { CommandIo } from '../io.ts';
import { Denials } from './denials.ts';
import { resultObject } from './result-object.ts';
import { endingLine, type ResultOutput } from './result-output.ts';
import { RunAgents } from './run-agents.ts';
import { textOutput } from './text.ts';

export function jsonOutput(io: CommandIo): ResultOutput {
  const agents = new RunAgents();
  const denials = new Denials();
  const text = textOutput(io);
  return {
    ...text,
    record: (agent, event) => agents.recorded(agent, event),
    event(session, event) {
      agents.saw(event);
      denials.saw(event);
      text.event(session, event);
    },
    end(session, result) {
      const seen = { agents: agents.list(session, result), denials: denials.list };
      io.out(`${JSON.stringify(resultObject(session, result, seen))}\n`);
      if (result.status !== 'done') io.note(endingLine(result, session));
    },
  };
}

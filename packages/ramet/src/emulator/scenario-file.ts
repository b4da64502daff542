/** Reads a scenario from YAML or JSON. Whatever is wrong with it is the user's to mend: file, line and field. */
import { readFile } from 'node:fs/promises';
import { isNode, LineCounter, parseDocument } from 'yaml';
import { systemCode, UserMistake } from '../schema/errors.ts';
import { type Scenario, scenarioSchema } from './scenario.ts';

export async function loadScenario(file: string): Promise<Scenario> {
  return parseScenario(await readText(file), file);
}

/** JSON is read as YAML, of which it is a part: so both get line numbers. */
export function parseScenario(text: string, file: string): Scenario {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [broken] = document.errors;
  if (broken !== undefined) {
    throw mistake(file, lines.linePos(broken.pos[0]).line, broken.message.split('\n')[0] ?? 'not YAML');
  }
  const outcome = scenarioSchema.safeParse(document.toJS());
  if (outcome.success) return outcome.data;
  const [issue] = outcome.error.issues;
  const path = (issue?.path ?? []).filter((part) => typeof part !== 'symbol');
  const line = lineOf(path);
  throw mistake(
    file,
    line,
    `${path.length > 0 ? `${path.join('.')}: ` : ''}${issue?.message ?? 'not a scenario'}`,
  );

  /** The line of the field, or of the nearest thing around it that exists. */
  function lineOf(where: (string | number)[]): number {
    for (let length = where.length; length > 0; length -= 1) {
      const node = document.getIn(where.slice(0, length), true);
      if (isNode(node) && node.range != null) return lines.linePos(node.range[0]).line;
    }
    return 1;
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const reason = systemCode(error) === 'ENOENT' ? 'no such file' : (systemCode(error) ?? 'cannot be read');
    throw new UserMistake('scenario_unreadable', `scenario ${file}: ${reason}`, { cause: error });
  }
}

function mistake(file: string, line: number, problem: string): UserMistake {
  return new UserMistake('scenario_invalid', `scenario ${file}:${line}: ${problem}`);
}

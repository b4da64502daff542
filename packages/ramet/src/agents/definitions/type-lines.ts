/** How the agent types of files are told to a model: one line each, short, and no more of them than it can use. */
import type { AgentDefinition } from './definition.ts';
import { nearTypes } from './near-types.ts';

const LINE_LENGTH = 240;
/** Of a description: more cannot matter for its line. */
const LOOKED_AT = 2_000;
const LIST_LENGTH = 6_000;
const NAMES_LENGTH = 2_000;
/** Begins the line of those for whose descriptions there was no room. */
export const NAMES_ONLY = 'Also, without a description here: ';
const FIND_MORE = '. To find a type, give a topic as subagent_type: the answer lists the nearest';
/** So many are named one by one. */
const FEW = 20;

/** Examples are for who writes the file; tags could pass for something else. */
export function fileTypeLine({ name, description }: AgentDefinition): string {
  const [told = ''] = description.slice(0, LOOKED_AT).split(/<example|\bExamples?\s*:/i, 1);
  const text = (told.trim() === '' ? description.slice(0, LOOKED_AT) : told)
    .replace(/<[^>]*>|[<>]/g, ' ')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const line = `- ${name}: ${text}`;
  return line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH - 1).toWellFormed()}…` : line;
}

/** As many lines as there is room for; the rest by name alone. */
export function fileTypeLines(definitions: readonly AgentDefinition[]): string[] {
  const lines: string[] = [];
  let length = 0;
  for (const definition of definitions) {
    const line = fileTypeLine(definition);
    length += line.length + 1;
    if (length > LIST_LENGTH) break;
    lines.push(line);
  }
  const rest = definitions.slice(lines.length).map(({ name }) => name);
  if (rest.length === 0) return lines;
  return [...lines, `${NAMES_ONLY}${nameList(rest)}${FIND_MORE}`];
}

/** For who named a type that is not there: all where there are few, otherwise the nearest with what they are for. */
export function unknownType(wanted: string, definitions: readonly AgentDefinition[]): string {
  const near = nearTypes(wanted, definitions);
  const begin = `there is no agent type "${wanted.slice(0, 100)}"`;
  if (definitions.length > FEW && near.length > 0) {
    const shown = near.map((one) => `${fileTypeLine(one)}\n`).join('');
    return `${begin}; the nearest of ${definitions.length} are:\n${shown}`.trimEnd();
  }
  const meant = near.length === 0 ? '' : `; did you mean ${near.map(({ name }) => name).join(' or ')}?`;
  return `${begin}${meant || ';'} the types are ${nameList(definitions.map(({ name }) => name))}`;
}

export function nameList(names: readonly string[]): string {
  let end = 0;
  for (let length = 0; end < names.length && length <= NAMES_LENGTH; end += 1)
    length += (names[end]?.length ?? 0) + 2;
  const rest = names.length - end;
  return names.slice(0, end).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

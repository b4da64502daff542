/** The skills as the Skill tool lists them for a model. These bytes are in every request, so there is a limit. */
import type { PromptFile } from './prompt-file.ts';

/** With many skills, lines are shorter. */
const LINE_LENGTHS = [400, 160];
const LIST_LENGTH = 8_000;
const NAMES_LENGTH = 2_000;
/** The last name may pass the limit, and the words around them count. */
const ROOM_FOR_NAMES = NAMES_LENGTH + 200;
const LOOKED_AT = 2_000;

const NAMES_ONLY = 'Also, without a description here: ';

export function skillLines(skills: readonly PromptFile[]): string[] {
  for (const length of LINE_LENGTHS) {
    const lines = skills.map((skill) => skillLine(skill, length));
    if (lengthOf(lines) <= LIST_LENGTH) return lines;
  }
  const lines: string[] = [];
  let length = 0;
  for (const skill of skills) {
    const line = skillLine(skill, LINE_LENGTHS.at(-1) ?? 0);
    length += line.length + 1;
    if (length > LIST_LENGTH - ROOM_FOR_NAMES) break;
    lines.push(line);
  }
  return [...lines, NAMES_ONLY + nameList(skills.slice(lines.length).map(({ name }) => name))];
}

/** One line; tags could be mistaken for ours. */
function skillLine({ name, description, argumentHint }: PromptFile, length: number): string {
  const text = description
    .slice(0, LOOKED_AT)
    .replace(/<[^>]*>|[<>]/g, ' ')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const line = `- ${name}${argumentHint === null ? '' : ` ${argumentHint.replace(/[<>]/g, '')}`}: ${text}`;
  return line.length > length ? `${line.slice(0, length - 1).toWellFormed()}…` : line;
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

export function nameList(names: readonly string[]): string {
  let end = 0;
  for (let length = 0; end < names.length && length <= NAMES_LENGTH; end += 1)
    length += (names[end]?.length ?? 0) + 2;
  const rest = names.length - end;
  return names.slice(0, end).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

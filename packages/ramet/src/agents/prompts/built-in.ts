/** The agent types that come with Ramet, how a type is found by name, and how types are listed for a model. */
import { nameList } from '../../extensions/prompts/skill-list.ts';
import { visibleLine } from '../../system/text/visible-text.ts';
import type { AgentDefinition } from '../definitions/definition.ts';
import { nearTypes } from '../definitions/near-types.ts';
import { codeReview } from './code-review.ts';
import { explore } from './explore.ts';
import { MAIN_PROMPT } from './main-prompt.ts';
import { plan } from './plan.ts';
import { simplicityEngineer } from './simplicity-engineer.ts';
import { teammate } from './teammate.ts';

/**
 * The main agent's prompt and tools, byte for byte: its agents read what the main agent has written to the cache, up to
 * and including the project's instructions. What is different about them is said with their task.
 */
export const generalPurpose: AgentDefinition = {
  name: 'general-purpose',
  aliases: ['subagent'],
  description: 'all tools, for work of several steps',
  system: [MAIN_PROMPT],
  notes: `<sub-agent>
Another agent gave you the task below. You cannot ask it anything. It sees only your last message, so that message is your report: what it asked for, complete and checked. Name files by absolute path. Do not end a sentence with a colon before a tool call.
</sub-agent>`,
  tools: 'all',
  model: 'inherit',
  permissionMode: 'bubble',
  instructions: true,
  git: true,
};

/** The cheapest first: who chooses reads from the top. */
export const builtInDefinitions: readonly AgentDefinition[] = [
  explore,
  plan,
  codeReview,
  simplicityEngineer,
  generalPurpose,
  teammate,
];

/** Models write names as they remember them, so case does not count. */
export function findDefinition(
  definitions: readonly AgentDefinition[],
  name: string,
): AgentDefinition | undefined {
  const wanted = name.trim().toLowerCase();
  const isWanted = (known: string): boolean => known.toLowerCase() === wanted;
  // A name comes before an alias.
  return (
    definitions.find(({ name: own }) => isWanted(own)) ??
    definitions.find(({ aliases = [] }) => aliases.some(isWanted))
  );
}

/** Those of which agents can be asked for. */
export function offeredDefinitions(definitions: readonly AgentDefinition[]): AgentDefinition[] {
  return definitions.filter(({ offered }) => offered !== false);
}

/** The types as the Agent tool lists them, a line each: these bytes are in every request, so they are kept short. */
export function typeLines(definitions: readonly AgentDefinition[]): string[] {
  return offeredDefinitions(definitions).map(
    ({ name, description, readOnly }) => `- ${name}: ${description}${readOnly ? ' (reads only)' : ''}`,
  );
}

const LINE_LENGTH = 240;

/** Of a description: more cannot matter for its line. */
const LOOKED_AT = 2_000;

const LIST_LENGTH = 6_000;

/** Begins the line of those for whose descriptions there was no room. */
export const NAMES_ONLY = 'Also, without a description here: ';

const FIND_MORE = '. To find a type, give a topic as subagent_type: the answer lists the nearest';

/** At most this many are named one by one. */
const FEW = 20;

/** One short line for a model. Examples in a description are for people, and tags could be mistaken for ours. */
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

/** Why a type makes no members of a team. */
export function unknownMemberType(wanted: string, definitions: readonly AgentDefinition[]): string {
  const types = definitions.flatMap(({ name, teammate }) => (teammate === true ? [name] : []));
  const shown = visibleLine(wanted.slice(0, 100));
  return `"${shown}" is no type of members; there are ${nameList(types)} (teammate: true in its file makes one)`;
}

/** The answer to an unknown type: all types if there are few, otherwise the nearest with what they are for. */
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

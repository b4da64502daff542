/** The agent types of a place as people and programs read them. */
import {
  type AgentDefinition,
  DEFINITION_SOURCES,
  type DefinitionProblem,
} from '../agents/definitions/definition.ts';
import type { CatalogEntry, DefinitionCatalog } from '../agents/definitions/definition-catalog.ts';
import { fileProblemText, isMistake } from '../extensions/front-matter/field-problem.ts';
import { snakeCased } from './json-spelling.ts';
import { excerpt, printable } from './text/format.ts';
import { fittedTable, wrapLines } from './text/narrow-table.ts';

const DESCRIPTION_LENGTH = 72;
const TOOLS_LENGTH = 40;

/** `columns` is the width of the screen, null without one. */
export function typeListText(
  { entries, problems }: DefinitionCatalog,
  columns: number | null = null,
): string {
  const sections = DEFINITION_SOURCES.toReversed().flatMap((source) => {
    const own = entries.filter((entry) => entry.source === source);
    if (own.length === 0) return [];
    const rows = own.map((entry) => [`  ${excerpt(entry.definition.name, 40)}`, ...cells(entry)]);
    return [`${source}\n${fittedTable(rows, columns)}`];
  });
  const serious = problems.filter(isMistake);
  if (serious.length > 0) sections.push(`problems\n${wrapLines(problemLines(serious).join(''), columns)}`);
  const notes = problems.length - serious.length;
  if (notes > 0) sections.push(`${notes} note${notes === 1 ? '' : 's'}: ramet agents validate shows them\n`);
  return sections.join('\n');
}

function cells({ definition, state, by, file }: CatalogEntry): string[] {
  const { model, description } = definition;
  const why = {
    active: '',
    shadowed: `shadowed by ${by}: `,
    duplicate: `the name is taken by ${by}: `,
    untrusted: 'not active, this repository is not trusted (ramet trust): ',
  }[state];
  const when = definition.offered === false ? 'only in a session with --team: ' : why;
  const where = file === null ? '' : `  ${printable(file.path)}`;
  return [
    excerpt(model, 24),
    excerpt(toolsText(definition), TOOLS_LENGTH),
    `${printable(when)}${excerpt(description, DESCRIPTION_LENGTH)}${where}`,
  ];
}

function toolsText({ tools, disallowedTools = [] }: AgentDefinition): string {
  const given = tools === 'all' ? 'all tools' : tools.join(', ') || 'no tools';
  return disallowedTools.length === 0 ? given : `${given}, without ${disallowedTools.join(', ')}`;
}

/** A remark that holds for many files is printed once, with the first of them. */
export function problemLines(problems: readonly DefinitionProblem[]): string[] {
  const alike = Map.groupBy(problems, ({ level, field, message }) => JSON.stringify([level, field, message]));
  return [...alike.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || group.length < 3) return group.map(problemLine);
    return [problemLine(first).replace(/\n$/, ` (and in ${group.length - 1} more files)\n`)];
  });
}

function problemLine(problem: DefinitionProblem): string {
  return `  ${problem.level}: ${printable(fileProblemText(problem)).replaceAll('\n', ' ')}\n`;
}

/** An agent type that is here, in use or not. */
export interface ListedAgentType {
  name: string;
  source: CatalogEntry['source'];
  /** Null for one that is built in. */
  path: string | null;
  state: CatalogEntry['state'];
  shadowedBy: string | null;
  description: string;
  model: string;
  effort: string | null;
  tools: AgentDefinition['tools'];
  disallowedTools: readonly string[];
  permissionMode: AgentDefinition['permissionMode'];
  readOnly: boolean;
  maxTurns: number | null;
  budget: AgentDefinition['budget'] | null;
  background: boolean;
  executor: string | null;
  projectInstructions: boolean;
  gitStatus: boolean;
  /** Models can ask for it. */
  offered: boolean;
  aliases: readonly string[];
  /** Fields of its file as they stand there. */
  declared: Readonly<Record<string, unknown>>;
}

export function typeListObject({ entries, problems }: DefinitionCatalog): Record<string, unknown> {
  return { agents: entries.map((entry) => snakeCased(listedType(entry), ['declared', 'budget'])), problems };
}

export function listedType({ definition, source, state, by, file }: CatalogEntry): ListedAgentType {
  const { name, description, model, tools, disallowedTools = [], permissionMode } = definition;
  return {
    name,
    source,
    path: file?.path ?? null,
    state,
    shadowedBy: by,
    description,
    model,
    effort: definition.effort ?? null,
    tools,
    disallowedTools,
    permissionMode,
    readOnly: definition.readOnly ?? false,
    maxTurns: definition.maxTurns ?? null,
    budget: definition.budget ?? null,
    background: definition.background ?? false,
    executor: definition.executor ?? null,
    projectInstructions: definition.instructions,
    gitStatus: definition.git,
    offered: definition.offered ?? true,
    aliases: definition.aliases ?? [],
    declared: file?.declared ?? {},
  };
}

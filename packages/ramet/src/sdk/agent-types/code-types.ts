/** Agent types that a program gives to a session: read as definition files are, with the same fields and problems. */
import type { AgentDefinition, DefinitionProblem } from '../../agents/definitions/definition.ts';
import { identityOf } from '../../agents/definitions/definition-catalog.ts';
import { definitionOf, KNOWN_FIELDS } from '../../agents/definitions/definition-file.ts';
import { fileProblemText } from '../../extensions/front-matter/field-problem.ts';
import { readHooks } from '../../extensions/hooks/hook-config.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { BudgetLimits, Effort, ExecutorKind, PermissionMode } from '../../schema/status.ts';
import { nearName } from '../../system/text/close-names.ts';
import type { Tool } from '../../tools/tool.ts';
import {
  type ArgumentKind,
  COUNT,
  checkArgument,
  FLAG,
  isPlain,
  NAME,
  OBJECT,
  TEXT,
} from '../calls/argument-kinds.ts';

/** The fields of a definition file; its name is the key, its body `prompt`. */
export interface AgentTypeOptions {
  /** When to use it, for the agent that chooses. */
  readonly description: string;
  /** The system prompt. */
  readonly prompt: string;
  /** Names of tools; all of its parent's when absent. */
  readonly tools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  /** A tier, a model id, or `inherit`. */
  readonly model?: string;
  readonly effort?: Effort;
  readonly permissionMode?: PermissionMode;
  readonly readOnly?: boolean;
  readonly maxTurns?: number;
  readonly budget?: BudgetLimits;
  readonly background?: boolean;
  /** Its agents with a name are members of the session's team. */
  readonly teammate?: boolean;
  /** Its agents have a memory of their own: docs/memory.md. */
  readonly memory?: 'user' | 'project' | 'local';
  readonly executor?: ExecutorKind;
  readonly isolation?: 'worktree';
  /** Skills whose texts its agents have from the beginning. */
  readonly skills?: readonly string[];
  /** What a main agent of it is told with its first prompt. */
  readonly initialPrompt?: string;
  /** Names of servers that are set up, and servers of its own by name: docs/mcp.md. */
  readonly mcpServers?: readonly (string | Readonly<Record<string, unknown>>)[];
  /** As in settings: docs/hooks.md. They run for agents of this type. */
  readonly hooks?: Readonly<Record<string, unknown>>;
  /** Its agents are not given the project's instructions, or the state of git. */
  readonly omitClaudeMd?: boolean;
  readonly omitGitStatus?: boolean;
}

/** The type that a main agent is of. */
export interface MainType {
  readonly definition: AgentDefinition;
  /** Of those that an agent of no type would have. */
  tools(all: readonly Tool[]): readonly Tool[];
  /** Texts of its skills; null for none. */
  readonly skills: string | null;
}

/** What a main agent has that coordinates workers. */
export interface LeadRole {
  readonly system: string;
  split(tools: readonly Tool[]): { lead: readonly Tool[]; workers: readonly Tool[] };
}

export interface TypesInCode {
  /** With them: they come before others of the same name, except those that are managed. */
  over(definitions: readonly AgentDefinition[]): readonly AgentDefinition[];
  /** What is wrong with them and does not keep them from being used. */
  readonly notices: readonly string[];
}

/** Throws for a type that cannot be used: its author is there to mend it. */
export function readTypes(
  types: Readonly<Record<string, AgentTypeOptions>>,
  toolNames: readonly string[],
): TypesInCode {
  const notices: string[] = [];
  const definitions = Object.entries(types).map(([name, fields]) => {
    const place = `agentTypes.${name}`;
    if (!/^\S{1,100}$/.test(name))
      throw new UserMistake(
        'bad_type',
        `${JSON.stringify(place)} is no name for a type: models call it by one word, such as code-reviewer`,
      );
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
      throw new UserMistake('bad_type', `${place} is no object: give { description, prompt, ... }`);
    refuseUnknownFields(place, fields);
    // In a file a number is as good as a text.
    for (const field of ['description', 'prompt', 'model'] as const)
      if (fields[field] !== undefined) checkArgument('openSession', `${place}.${field}`, fields[field], TEXT);
    const { definition, problems } = definitionOf({ ...fields, name }, { path: place, toolNames });
    const fatal = problems.find(({ level }) => level === 'error');
    const wrong = problems.find(({ level, field }) => level === 'warning' && VALUES.includes(field ?? ''));
    if (wrong !== undefined) throw wrongValue(wrong);
    if (definition === null)
      throw new UserMistake('bad_type', fatal ? fileProblemText(fatal) : `${place} cannot be used`);
    refuseOtherKinds(place, fields);
    for (const problem of problems) if (problem.level === 'warning') notices.push(fileProblemText(problem));
    return definition;
  });
  return { over: (others) => withOwn(others, definitions), notices };
}

/** Their values depend on nothing here: what is wrong with one is wrong anywhere. A file is read without it. */
const VALUES: readonly string[] = [
  ...['maxTurns', 'permissionMode', 'effort', 'executor', 'memory', 'background', 'teammate'],
  ...['omitClaudeMd', 'omitGitStatus', 'initialPrompt'],
];

const NAMES: ArgumentKind = {
  text: 'a list of names',
  accepts: (value) => typeof value === 'string' || (Array.isArray(value) && value.every(isText)),
};
const SERVERS: ArgumentKind = {
  text: 'a list of names of servers, and of servers by their names: [{ own: { command } }]',
  accepts: (value) => (Array.isArray(value) ? value : [value]).every((one) => isText(one) || isServers(one)),
};

/** A file has texts for what is read out of it, and a field without a value is none: a program can say what it means. */
const KINDS: Readonly<Record<string, ArgumentKind>> = {
  ...{ tools: NAMES, disallowedTools: NAMES, skills: NAMES, mcpServers: SERVERS },
  ...{ model: NAME, effort: NAME, permissionMode: NAME, executor: NAME, isolation: NAME, memory: NAME },
  ...{ color: NAME, initialPrompt: NAME, maxTurns: COUNT, budget: OBJECT, hooks: OBJECT },
  ...{ readOnly: FLAG, background: FLAG, teammate: FLAG, omitClaudeMd: FLAG, omitGitStatus: FLAG },
};

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isServers(value: unknown): boolean {
  return isPlain(value) && Object.values(value).every(isPlain);
}

function refuseOtherKinds(place: string, given: object): void {
  for (const [field, value] of Object.entries(given)) {
    const kind = KINDS[field];
    if (kind !== undefined && value !== undefined)
      checkArgument('openSession', `${place}.${field}`, value, kind);
    if (field !== 'hooks') continue;
    // As those of a session: a guard that guards nothing is a mistake of the program.
    const [problem] = readHooks(value, { label: place, isCode: true }).unused;
    if (problem !== undefined) throw new UserMistake('bad_type', `${place}: hooks: ${problem}`);
  }
}

function wrongValue(problem: DefinitionProblem): UserMistake {
  const message = problem.message.replace(/: (?:it was )?left out$|; its agents ask \(default\)$/, '');
  return new UserMistake('bad_type', fileProblemText({ ...problem, message }));
}

/** A field that is misspelt may be one that was to forbid something. */
function refuseUnknownFields(place: string, fields: object): void {
  const unknown = Object.keys(fields).find((field) => field !== 'prompt' && !KNOWN_FIELDS.has(field));
  if (unknown === undefined) return;
  const known = [...new Set(['prompt', ...KNOWN_FIELDS])];
  const near = nearName(unknown, known);
  const hint = near === null ? `a type has ${known.join(', ')}` : `did you mean ${near}?`;
  throw new UserMistake('bad_type', `${place} has no field ${JSON.stringify(unknown.slice(0, 60))}: ${hint}`);
}

function withOwn(
  definitions: readonly AgentDefinition[],
  own: readonly AgentDefinition[],
): readonly AgentDefinition[] {
  const namesOf = (some: readonly AgentDefinition[]): Set<string> =>
    new Set(some.map(({ name }) => identityOf(name)));
  const managed = namesOf(definitions.filter(({ source }) => source === 'managed'));
  const taken = own.filter(({ name }) => !managed.has(identityOf(name)));
  const names = namesOf(taken);
  return [...definitions.filter(({ name }) => !names.has(identityOf(name))), ...taken];
}

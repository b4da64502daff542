/**
 * The fields of a definition file and what they mean here. A field that is to take rights away and cannot be read makes
 * the file unusable: what it was to forbid is not known. Any other is left out, with a warning.
 */

import type { FieldProblem, ProblemLevel } from '../../extensions/front-matter/field-problem.ts';
import type { FieldMap } from '../../extensions/front-matter/plain-fields.ts';
import { isObject, readHooks } from '../../extensions/hooks/hook-config.ts';
import { MODEL_TIERS } from '../../model/catalog.ts';
import { EFFORTS, PERMISSION_MODES, type PermissionMode } from '../../schema/status.ts';
import { readBudget } from '../../schema/usage.ts';
import type { AgentDefinition } from './definition.ts';
import { isRule, readSkillNames, readToolLimits } from './definition-limits.ts';
import { readServers, readToolList } from './definition-tools.ts';
import { INACTIVE_FIELDS, noteOthers, quoted } from './fields-without-effect.ts';

/** What a file says about its agents besides name, description and prompt. */
export type DefinitionTraits = Pick<
  AgentDefinition,
  | 'tools'
  | 'disallowedTools'
  | 'toolLimits'
  | 'skills'
  | 'model'
  | 'effort'
  | 'permissionMode'
  | 'readOnly'
  | 'hooks'
  | 'instructions'
  | 'git'
  | 'maxTurns'
  | 'budget'
  | 'background'
  | 'teammate'
  | 'executor'
  | 'isolation'
  | 'mcpServers'
  | 'memory'
  | 'initialPrompt'
>;

type Say = (field: string, level: ProblemLevel, message: string) => void;

const OWN_FIELDS = [
  ...['name', 'description', 'prompt', 'tools', 'disallowedTools', 'memory'],
  ...['model', 'effort', 'permissionMode', 'maxTurns', 'budget', 'background', 'executor', 'isolation'],
  ...[
    'mcpServers',
    'omitClaudeMd',
    'omitGitStatus',
    'readOnly',
    'hooks',
    'skills',
    'color',
    'teammate',
    'initialPrompt',
  ],
];

const SHOWN = 12;
const COLORS = ['red', 'blue', 'green', 'yellow', 'purple', 'orange', 'pink', 'cyan'];

export const KNOWN_FIELDS: ReadonlySet<string> = new Set([...OWN_FIELDS, ...INACTIVE_FIELDS]);

export function readTraits(
  fields: FieldMap,
  toolNames: readonly string[],
): { traits: DefinitionTraits; problems: FieldProblem[] } {
  const problems: FieldProblem[] = [];
  const say: Say = (field, level, message) =>
    problems.push({ line: fields.get(field.split('.', 1)[0] ?? field)?.line ?? null, field, level, message });
  const value = (field: string): unknown => fields.get(field)?.value ?? undefined;
  const flag = (field: string, level: ProblemLevel): boolean | undefined =>
    readFlag(value(field), () => say(field, level, 'it is neither true nor false'));
  const tools = toolsOf(value('tools'), toolNames, say);
  const disallowedTools = disallowedOf(value('disallowedTools'), toolNames, say);
  const readOnly = flag('readOnly', 'error');
  const background = flag('background', 'warning');
  const teammate = flag('teammate', 'warning');
  const maxTurns = turnsOf(value('maxTurns'), say);
  const executor = oneOf(value('executor'), ['in-process', 'process'] as const, () =>
    say('executor', 'warning', 'there are in-process and process: it was left out'),
  );
  const traits: DefinitionTraits = {
    tools,
    ...(disallowedTools.length > 0 && { disallowedTools }),
    ...readToolLimits(value('tools'), value('disallowedTools'), toolNames, say),
    ...readSkillNames(value('skills'), say),
    model: readModel(value('model'), (message) => say('model', 'warning', message)),
    ...effortOf(value('effort'), say),
    permissionMode: modeOf(value('permissionMode'), say),
    instructions: flag('omitClaudeMd', 'warning') !== true,
    git: flag('omitGitStatus', 'warning') !== true,
    ...(readOnly !== undefined && { readOnly }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...budgetOf(value('budget'), say),
    ...(background !== undefined && { background }),
    ...(teammate !== undefined && { teammate }),
    ...(executor !== undefined && { executor }),
    ...isolationOf(value('isolation'), say),
    ...memoryOf(value('memory'), say),
    ...initialPromptOf(value('initialPrompt'), say),
    ...hooksOf(value('hooks'), say),
    ...readServers(value('mcpServers'), (message) => say('mcpServers', 'warning', message)),
  };
  const color = value('color');
  if (color !== undefined && !COLORS.includes(String(color)))
    say('color', 'note', `it is not one of ${COLORS.join(', ')}`);
  noteOthers(fields, KNOWN_FIELDS, say);
  return { traits, problems };
}

function initialPromptOf(value: unknown, say: Say): Pick<AgentDefinition, 'initialPrompt'> {
  if (value === undefined) return {};
  if (typeof value === 'string' && value.trim() !== '') return { initialPrompt: value.trim() };
  say('initialPrompt', 'warning', 'it is no text: left out');
  return {};
}

function memoryOf(value: unknown, say: Say): Pick<AgentDefinition, 'memory'> {
  const wrong = (): void => say('memory', 'warning', 'there are user, project and local: it was left out');
  const memory = oneOf(value === 'none' ? undefined : value, ['user', 'project', 'local'] as const, wrong);
  return memory === undefined ? {} : { memory };
}

/** Other harnesses know `xhigh`, between high and max; it is never more than was asked for. */
function effortOf(value: unknown, say: Say): Pick<AgentDefinition, 'effort'> {
  if (value === undefined || value === 'inherit') return {};
  if (value === 'xhigh') {
    say('effort', 'note', 'xhigh is taken as high');
    return { effort: 'high' };
  }
  const effort = oneOf(value, EFFORTS, () =>
    say('effort', 'warning', `${quoted(value)} is not one of ${EFFORTS.join(', ')}: it was left out`),
  );
  return effort === undefined ? {} : { effort };
}

/** What cannot be understood is an error: an agent that was to be isolated must not work in the checkout instead. */
function isolationOf(value: unknown, say: Say): Pick<AgentDefinition, 'isolation'> {
  if (value === 'worktree') return { isolation: value };
  if (value === 'remote') say('isolation', 'inactive', 'remote is without effect in Ramet');
  else if (value !== undefined) say('isolation', 'error', 'there are worktree and remote');
  return {};
}

/** They may be there to refuse something: without them the agent must not run. */
function hooksOf(value: unknown, say: Say): Pick<AgentDefinition, 'hooks'> {
  if (value === undefined) return {};
  const level = isObject(value) ? 'warning' : 'error';
  for (const what of readHooks(value, { label: 'hooks' }).unused) say('hooks', level, what);
  for (const [event, why] of Object.entries(NOT_THEIRS))
    if (isObject(value) && Object.hasOwn(value, event)) say(`hooks.${event}`, 'inactive', why);
  return isObject(value) ? { hooks: value } : {};
}

const OF_SESSION =
  'without effect for agents that others start, since a server asks the session: set it up in settings';
/** Events that another one causes. */
const NOT_THEIRS: Readonly<Record<string, string>> = {
  WorktreeCreate:
    'without effect for the worktrees of its own agents, which do not run yet: set it up in settings',
  Elicitation: OF_SESSION,
  ElicitationResult: OF_SESSION,
};

function toolsOf(value: unknown, known: readonly string[], say: Say): AgentDefinition['tools'] {
  const list = readToolList(value, known);
  if (list === null) {
    say('tools', 'error', 'it is neither a list of names nor names with commas between them');
    return [];
  }
  const { names, unknown } = list;
  if (unknown.length > 0) say('tools', 'warning', `there is no tool ${some(unknown)} here: left out`);
  if (names !== 'all' && names.length > 0 && names.length === unknown.length)
    say('tools', 'warning', 'no tool is left: its agents cannot be started');
  return names;
}

function disallowedOf(value: unknown, known: readonly string[], say: Say): readonly string[] {
  if (value === undefined || value === '') return [];
  const list = readToolList(value, known);
  if (list === null) {
    say('disallowedTools', 'error', 'it is neither a list of names nor names with commas between them');
    return [];
  }
  const { names, unknown } = list;
  if (unknown.length > 0) say('disallowedTools', 'note', `there is no tool ${some(unknown)} here`);
  // Single calls are refused one by one; what is no rule takes the whole tool away.
  const partly = new Set(list.limited.filter(({ rule }) => isRule(rule)).map(({ name }) => name));
  return names === 'all' ? known : names.filter((name) => !partly.has(name) || list.whole.includes(name));
}

/** `auto` asks a classifier elsewhere; here its agents have their parent's mode, as without the field. */
function modeOf(value: unknown, say: Say): PermissionMode {
  if (value === undefined) return 'bubble';
  if (value === 'manual') return 'default';
  if (value === 'auto') {
    say(
      'permissionMode',
      'inactive',
      'auto is without effect in Ramet: its agents have the mode of their parent',
    );
    return 'bubble';
  }
  const known = PERMISSION_MODES.find((mode) => mode === value);
  if (known !== undefined) return known;
  say('permissionMode', 'warning', `there is no mode ${quoted(value)}; its agents ask (default)`);
  return 'default';
}

function turnsOf(value: unknown, say: Say): number | undefined {
  if (value === undefined) return undefined;
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0) return count;
  say('maxTurns', 'warning', `${quoted(value)} is not a whole number above 0: it was left out`);
  return undefined;
}

/** What cannot be understood is an error: an agent with a limit must not run without it. */
function budgetOf(value: unknown, say: Say): Pick<AgentDefinition, 'budget'> {
  if (value === undefined) return {};
  const budget = readBudget(value);
  if (typeof budget !== 'string') return { budget };
  say('budget', 'error', budget);
  return {};
}

function readFlag(value: unknown, wrong: () => void): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  const word = String(value).toLowerCase();
  if (word === 'true' || word === 'yes') return true;
  if (word === 'false' || word === 'no') return false;
  wrong();
  return undefined;
}

function oneOf<Choice extends string>(
  value: unknown,
  choices: readonly Choice[],
  wrong: () => void,
): Choice | undefined {
  const found = choices.find((choice) => choice === value);
  if (found === undefined && value !== undefined) wrong();
  return found;
}

/** The first of them: a list may be as long as a file. */
function some(names: readonly string[]): string {
  const rest = names.length - SHOWN;
  const shown = names.slice(0, SHOWN).map((name) => (name.length > 60 ? `${name.slice(0, 59)}…` : name));
  return shown.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/**
 * Which model a definition file asks for.
 *
 * A tier, an id, or `inherit`, which also stands for what cannot be read.
 */
function readModel(value: unknown, warn: (message: string) => void): string {
  if (value === undefined || value === null || value === '') return 'inherit';
  if (typeof value !== 'string') {
    warn('it is not a text; its agents run on the model of their parent');
    return 'inherit';
  }
  // A suffix that asks for a larger window elsewhere.
  const name = value.trim().replace(/\[\w+\]$/, '');
  const word = name.toLowerCase();
  if (word === 'inherit' || word === 'default') return 'inherit';
  const tier = MODEL_TIERS.find((known) => known === word);
  if (tier !== undefined) return tier;
  // Ids have a version or a maker in them; a bare word is a tier of another tool's models.
  if (/^[\w.:/@-]*[\d:/-][\w.:/@-]*$/.test(name)) return name;
  warn(`no model of the tier "${name}" is known; its agents run on the model of their parent`);
  return 'inherit';
}

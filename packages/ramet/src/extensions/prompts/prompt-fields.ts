/** The fields of skills and commands, and what they mean here. What cannot be read is left out, with a warning. */
import { EFFORTS, type Effort } from '../../schema/status.ts';
import type { FieldProblem, ProblemLevel } from '../front-matter/field-problem.ts';
import type { FieldMap } from '../front-matter/plain-fields.ts';

export type PromptKind = 'skill' | 'command';

/** What a file says about itself besides name and description. */
export interface PromptTraits {
  /** What follows the name, for people. */
  readonly argumentHint: string | null;
  /** Names of arguments by position, for `$name`. */
  readonly argumentNames: readonly string[];
  /** Rules for what may run without a question while it is carried out. */
  readonly allowedTools: readonly string[];
  /** Rules for what is refused while it is carried out. */
  readonly disallowedTools: readonly string[];
  /** A tier or an id; for a prompt that a person begins with it. */
  readonly model: string | null;
  readonly effort: Effort | null;
  /** The model may ask for it, and a person. */
  readonly forModel: boolean;
  readonly forUser: boolean;
  /** Another agent carries it out, of this type; null for the agent that asks. */
  readonly agent: string | null;
}

const OWN_FIELDS = [
  'name',
  'description',
  'when_to_use',
  'argument-hint',
  'arguments',
  'allowed-tools',
  'disallowed-tools',
  'model',
  'effort',
  'disable-model-invocation',
  'user-invocable',
  'context',
  'agent',
];

/** For people, and for collections. */
const ABOUT = ['license', 'compatibility', 'metadata', 'version', 'author', 'tags', 'category', 'homepage'];

/** Known elsewhere, and without effect here. */
const INACTIVE = ['background', 'hooks', 'paths', 'shell'];

export const PROMPT_FIELDS: ReadonlySet<string> = new Set([...OWN_FIELDS, ...ABOUT, ...INACTIVE]);

const ARGUMENT_NAME = /^[A-Za-z_]\w*$/;
const LONGEST_LIST = 20_000;

/** Tools that have another name here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  Task: 'Agent',
  MultiEdit: 'Edit',
  NotebookEdit: 'Edit',
  NotebookRead: 'Read',
  LS: 'Glob',
  BashOutput: 'TaskOutput',
  KillShell: 'TaskStop',
};

type Say = (field: string, level: ProblemLevel, message: string) => void;

export function promptTraits(
  fields: FieldMap,
  kind: PromptKind,
): { traits: PromptTraits; problems: FieldProblem[] } {
  const problems: FieldProblem[] = [];
  const say: Say = (field, level, message) =>
    problems.push({ line: fields.get(field)?.line ?? null, field, level, message });
  const value = (field: string): unknown => fields.get(field)?.value ?? undefined;
  const effort = EFFORTS.find((one) => one === value('effort')) ?? null;
  if (effort === null && value('effort') !== undefined)
    say('effort', 'warning', `it is not one of ${EFFORTS.join(', ')}: left out`);
  const traits: PromptTraits = {
    argumentHint: hintOf(value('argument-hint')),
    argumentNames: namesOf(value('arguments'), say),
    allowedTools: toolsOf(value('allowed-tools'), () =>
      say('allowed-tools', 'warning', `${NO_RULES_LIST}: it allows nothing`),
    ),
    // Without its limits it must not be carried out.
    disallowedTools: toolsOf(value('disallowed-tools'), () =>
      say('disallowed-tools', 'error', NO_RULES_LIST),
    ),
    model: modelOf(value('model'), say),
    effort,
    forModel: kind === 'skill' && flag(value('disable-model-invocation'), false) !== true,
    forUser: flag(value('user-invocable'), true) !== false,
    agent: agentOf(value('context'), value('agent'), say),
  };
  for (const field of fields.keys()) {
    if (INACTIVE.includes(field)) say(field, 'inactive', 'without effect in Ramet');
    else if (!PROMPT_FIELDS.has(field)) say(field, 'note', 'unknown field, kept without effect');
  }
  return { traits, problems };
}

/** `[issue] [branch]` is a list to YAML. */
function hintOf(value: unknown): string | null {
  if (Array.isArray(value)) return value.map((one) => `[${String(one)}]`).join(' ');
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 200) : null;
}

function namesOf(value: unknown, say: Say): string[] {
  if (value === undefined) return [];
  const names = Array.isArray(value) ? value.map(String) : String(value).split(/[\s,]+/);
  const good = names.filter((name) => ARGUMENT_NAME.test(name));
  if (good.length < names.length) say('arguments', 'warning', 'a name has letters, digits and _ only');
  return good;
}

const NO_RULES_LIST = 'it is neither a list of rules nor rules with commas between them';

function toolsOf(value: unknown, wrong: () => void): string[] {
  if (value === undefined) return [];
  const texts = Array.isArray(value) ? value : [value];
  if (!texts.every((one): one is string => typeof one === 'string' && one.length < LONGEST_LIST)) {
    wrong();
    return [];
  }
  return texts.flatMap(splitRules).map(translated);
}

/** At commas and blanks outside of parentheses. */
function splitRules(text: string): string[] {
  const rules: string[] = [];
  let current = '';
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth > 0 || !/[,\s]/.test(character)) current += character;
    else {
      rules.push(current);
      current = '';
    }
  }
  return [...rules, current].filter((rule) => rule !== '');
}

function translated(rule: string): string {
  return rule.replace(/^[A-Za-z]+(?=\(|$)/, (name) =>
    Object.hasOwn(OTHER_NAMES, name) ? (OTHER_NAMES[name] ?? name) : name,
  );
}

function modelOf(value: unknown, say: Say): string | null {
  if (value === undefined || value === 'inherit' || value === 'default') return null;
  if (typeof value === 'string' && /^[\w.:/@-]+(?:\[\w+\])?$/.test(value.trim()))
    return value.trim().replace(/\[\w+\]$/, '');
  say('model', 'warning', 'it is no name of a model: left out');
  return null;
}

function flag(value: unknown, usual: boolean): boolean {
  if (value === true || /^(?:true|yes)$/i.test(String(value))) return true;
  if (value === false || /^(?:false|no)$/i.test(String(value))) return false;
  return usual;
}

/** `context: fork` means elsewhere an agent that knows nothing but the text. */
function agentOf(context: unknown, agent: unknown, say: Say): string | null {
  if (context === undefined || context === 'inline') return null;
  if (context !== 'fork') {
    say('context', 'warning', 'there is fork: left out');
    return null;
  }
  return typeof agent === 'string' && agent.trim() !== '' ? agent.trim() : 'general-purpose';
}

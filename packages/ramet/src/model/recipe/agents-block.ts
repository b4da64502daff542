/**
 * Reads an `agents` block: a YAML list, of which each entry becomes the input of one Agent call. What is wrong with
 * it is told by line, because the Agent tool would say it only when half the recipe has been carried out.
 */
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { describeError } from '../../schema/errors.ts';
import { MOST_SECONDS, readBudget } from '../../schema/usage.ts';

export interface AgentsBlock {
  /** Inputs of the Agent tool, each without a description where none is given. */
  agents: { prompt: string; [field: string]: unknown }[];
  problems: { line: number; what: string }[];
}

interface Field {
  /** Its name in the input of the Agent tool. */
  input: string;
  expected: string;
  holds(value: unknown): boolean;
}

const text = {
  expected: 'text',
  holds: (value: unknown) => typeof value === 'string' && value.trim() !== '',
};
const flag = { expected: 'true or false', holds: (value: unknown) => typeof value === 'boolean' };
const object = {
  expected: 'a JSON Schema',
  holds: (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

const isolation = { expected: '"worktree"', holds: (value: unknown) => value === 'worktree' };
const EVIDENCE: Readonly<Record<string, (value: unknown) => boolean>> = {
  files: (value) => Array.isArray(value) && value.length > 0 && value.every(text.holds),
  check: text.holds,
  commit: flag.holds,
};
const evidence = {
  expected: 'files (a list of paths), check (a command) or commit (true or false)',
  holds: (value: unknown) => {
    const parts = object.holds(value) ? Object.entries(value as object) : []; // what `holds` has found out
    return (
      parts.length > 0 &&
      parts.every(([name, part]) => Object.hasOwn(EVIDENCE, name) && EVIDENCE[name]?.(part))
    );
  },
};

const budget = {
  expected: `tokens, usd or seconds, each a number above 0 (seconds at most ${MOST_SECONDS}),`,
  holds: (value: unknown) => {
    const parts = object.holds(value) ? Object.entries(value as object) : []; // what `holds` has found out
    return parts.length > 0 && typeof readBudget(value) !== 'string';
  },
};

const FIELDS: Readonly<Record<string, Field>> = {
  prompt: { input: 'prompt', ...text },
  description: { input: 'description', ...text },
  type: { input: 'subagent_type', ...text },
  subagent_type: { input: 'subagent_type', ...text },
  model: { input: 'model', ...text },
  name: { input: 'name', ...text },
  background: { input: 'run_in_background', ...flag },
  run_in_background: { input: 'run_in_background', ...flag },
  schema: { input: 'schema', ...object },
  isolation: { input: 'isolation', ...isolation },
  expect: { input: 'expect', ...evidence },
  budget: { input: 'budget', ...budget },
};
const NAMES = 'prompt, description, type, model, name, background, schema, isolation, expect and budget';

/** `line` is that of the fence: the YAML begins on the one after it. */
export function readAgentsBlock(content: string, line: number): AgentsBlock {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines });
  const refused = (what: string, at = line): AgentsBlock => ({ agents: [], problems: [{ line: at, what }] });
  const [broken] = document.errors;
  if (broken !== undefined) {
    return refused(
      `is not valid YAML: ${firstLine(broken.message)}`,
      line + lines.linePos(broken.pos[0]).line,
    );
  }
  let list: unknown;
  try {
    list = document.toJS();
  } catch (error) {
    return refused(`is not valid YAML: ${firstLine(describeError(error))}`);
  }
  if (!Array.isArray(list) || list.length === 0)
    return refused('must be a list of agents, each with a prompt');
  const block: AgentsBlock = { agents: [], problems: [] };
  const report = (path: (string | number)[], what: string): void => {
    block.problems.push({ line: line + lineOf(document, path, lines), what: `${whose(path)} ${what}` });
  };
  for (const [index, value] of list.entries()) block.agents.push(readAgent(value, [index], report));
  return block;
}

type Report = (path: (string | number)[], what: string) => void;

function readAgent(value: unknown, path: number[], report: Report): AgentsBlock['agents'][number] {
  const input: AgentsBlock['agents'][number] = { prompt: '' };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    report(path, 'must have a prompt: write "- prompt: ..."');
    return input;
  }
  if (!Object.hasOwn(value, 'prompt')) report(path, 'has no prompt');
  const seen = new Set<string>();
  for (const [name, given] of Object.entries(value)) {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (field === undefined)
      report([...path, name], `has a field "${name}" that is not known: there are ${NAMES}`);
    else if (seen.has(field.input)) report([...path, name], `says twice what its ${field.input} is`);
    else if (!field.holds(given)) report([...path, name], `needs ${field.expected} as its ${name}`);
    else {
      seen.add(field.input);
      input[field.input] = given;
    }
  }
  return input;
}

/** Counted from 1, as people do. */
function whose([index]: (string | number)[]): string {
  return `has a mistake: agent ${Number(index) + 1}`;
}

/** The line of the field, or of the entry around it, from 1. */
function lineOf(document: Document, path: (string | number)[], lines: LineCounter): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range != null) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}

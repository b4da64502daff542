/**
 * Turns a task into steps. Everything that is wrong with a task is found here, before its first step is carried
 * out: half a recipe is worse than none.
 */
import { type FencedBlock, fencedBlocks } from './fenced-blocks.ts';

export interface RecipeCall {
  name: string;
  input: Record<string, unknown>;
}

export interface RecipeStep {
  /** For people: `sh: npm test`. */
  title: string;
  line: number;
  /** More than one only for agents, which work side by side. */
  calls: RecipeCall[];
}

export interface Recipe {
  steps: RecipeStep[];
  /** Blocks of other languages, which are examples to it: `js (line 7)`. */
  skipped: string[];
  /** One line each; when there are any, nothing is to be carried out. */
  problems: string[];
}

/** What a block comes to: its step, or what is wrong with it. */
type Planned = RecipeStep | string | string[];

const LONGEST_TITLE = 60;
/** What the Bash tool allows. */
const LONGEST_SECONDS = 600;

const PLANNERS: Readonly<Record<string, (block: FencedBlock) => Planned | Promise<Planned>>> = {
  // No `bash` or `shell`: documents of many tools mark examples and pseudo-code so.
  sh: planCommand,
  write: planWrite,
  agents: planAgents,
};

export async function planRecipe(task: string): Promise<Recipe> {
  const recipe: Recipe = { steps: [], skipped: [], problems: [] };
  for (const block of fencedBlocks(task)) {
    const plan = Object.hasOwn(PLANNERS, block.language) ? PLANNERS[block.language] : undefined;
    if (!block.closed) recipe.problems.push(problem(block, 'is not closed: end it with the same fence'));
    else if (plan === undefined)
      recipe.skipped.push(`${block.language || 'no language'} (line ${block.line})`);
    else {
      const planned = await plan(block);
      if (typeof planned === 'string' || Array.isArray(planned)) recipe.problems.push(...[planned].flat());
      else recipe.steps.push(planned);
    }
  }
  return recipe;
}

/** Of several lines each has to succeed: left to itself, a shell tells only how its last line ended. */
function planCommand(block: FencedBlock): Planned {
  const written = block.content.trimEnd();
  const command = written.includes('\n') ? `set -e\n${written}` : written;
  if (written.trim() === '') return problem(block, 'is empty: put a command in it or take it out');
  const [, digits] = /^timeout=(\d{1,4})$/.exec(block.argument) ?? [];
  const seconds = Number(digits);
  if (block.argument !== '' && !(seconds >= 1 && seconds <= LONGEST_SECONDS)) {
    const expected = `timeout=SECONDS, from 1 to ${LONGEST_SECONDS}`;
    return problem(block, `can be followed by ${expected}, not by "${block.argument}"`);
  }
  const input = { command, ...(block.argument === '' ? {} : { timeout: seconds * 1000 }) };
  return { title: `sh: ${commandTitle(command)}`, line: block.line, calls: [{ name: 'Bash', input }] };
}

function planWrite(block: FencedBlock): Planned {
  const path = block.argument.replace(/^(["'])(.+)\1$/, '$2');
  if (path === '') return problem(block, 'names no file: begin it with ```write PATH');
  const input = { file_path: path, content: block.content };
  return { title: `write: ${path}`, line: block.line, calls: [{ name: 'Write', input }] };
}

async function planAgents(block: FencedBlock): Promise<Planned> {
  // Loaded with the first such block: most recipes have none, and YAML is large.
  const { readAgentsBlock } = await import('./agents-block.ts');
  const { agents, problems } = readAgentsBlock(block.content, block.line);
  if (problems.length > 0) return problems.map(({ line, what }) => problem({ ...block, line }, what));
  const calls = agents.map((agent) => ({
    name: 'Agent',
    input: { description: promptTitle(agent.prompt), ...agent },
  }));
  return { title: `agents: ${calls.length}`, line: block.line, calls };
}

function problem({ language, line }: FencedBlock, what: string): string {
  return `line ${line}: the ${language === '' ? '' : `"${language}" `}block ${what}`;
}

/** Its first line of text, or of what it wants carried out: a fence says something only where it names a file. */
function promptTitle(prompt: string): string {
  const lines = prompt
    .split('\n')
    .map((line) => line.trim().replace(/^(?:`{3,}|~{3,})(?!write )\S*.*|^#+ /, ''));
  const title = lines.find((line) => line !== '') ?? prompt.trim();
  return cut(title.replace(/^(?:`{3,}|~{3,})/, ''));
}

/** The first line that does something. */
function commandTitle(command: string): string {
  const lines = command.split('\n').map((line) => line.trim());
  return cut(lines.find((line) => line !== '' && !/^(?:#|set -)/.test(line)) ?? firstLine(command));
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

function cut(text: string): string {
  return text.length > LONGEST_TITLE ? `${text.slice(0, LONGEST_TITLE - 1)}…` : text;
}

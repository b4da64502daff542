/**
 * What the recipe model answers to a request: the next call of its recipe, or the report. Pure; shared by the
 * provider (`recipe.ts`) and by the emulator, which serves the same model over HTTP.
 *
 * One call a turn, and the agents of one block together: the engine carries out all calls of a response, even if the
 * first fails, so only a separate response keeps a step from running after one that failed. When agents in the
 * background are still out after the last step, the turn ends with a text that says so, and the report follows when the
 * engine has told of them.
 */
import { conversationTask, isCancelled, notificationsIn, type TaskMessage } from './conversation-task.ts';
import { backgroundAgents } from './recipe-agents.ts';
import { progressOf } from './recipe-progress.ts';
import { reportOf, skippedLines } from './recipe-report.ts';
import { planRecipe, type Recipe, type RecipeCall } from './recipe-steps.ts';

/** The parts of a Messages body that it looks at. */
export interface RecipeRequest {
  messages: readonly TaskMessage[];
  tools?: readonly { name: string }[];
}

export interface RecipeAnswer {
  text: string;
  calls: RecipeCall[];
  failed: boolean;
}

export async function answerRecipe({ messages, tools = [] }: RecipeRequest): Promise<RecipeAnswer> {
  const { at, text: task } = conversationTask(messages);
  const recipe = await planRecipe(task);
  const problems = [...recipe.problems, ...missingTools(recipe, tools)];
  if (problems.length > 0) return failure(refusalOf(problems));
  if (recipe.steps.length === 0) return failure([...CAPABILITIES, ...skippedLines(recipe.skipped)]);
  const { ended, next } = progressOf(recipe.steps, messages.slice(at + 1));
  if (next.length === 0 || isCancelled(messages)) {
    const background = backgroundAgents(ended, notificationsIn(messages.slice(at)));
    return { ...reportOf(recipe, { ended, background }), calls: [] };
  }
  const number = ended.length + 1;
  const title = recipe.steps[ended.length]?.title ?? '';
  return { text: `Step ${number} of ${recipe.steps.length}: ${title}`, calls: next, failed: false };
}

function missingTools({ steps }: Recipe, tools: readonly { name: string }[]): string[] {
  const offered = new Set(tools.map(({ name }) => name));
  return steps.flatMap(({ line, calls }) => {
    const missing = calls.find(({ name }) => !offered.has(name));
    return missing === undefined
      ? []
      : [`line ${line}: this agent has no ${missing.name} tool to carry out the block`];
  });
}

function failure(lines: readonly string[]): RecipeAnswer {
  return { text: lines.join('\n'), calls: [], failed: true };
}

function refusalOf([first = '', ...others]: readonly string[]): string[] {
  return [`Failed: ${first}`, ...others, '', 'Nothing was carried out.'];
}

const CAPABILITIES: readonly string[] = [
  'Failed: the task holds no block that the recipe model can carry out',
  '',
  'The recipe model is no AI: it carries out the fenced blocks of a task in order,',
  'stops at the first that fails, and reports. A task for it looks like this:',
  '',
  // Indented, a terminal shows them with their fences, and what is copied from there works as it is.
  '    ```write notes/today.md',
  '    All tests pass.',
  '    ```',
  '',
  '    ```sh',
  '    npm test',
  '    ```',
  '',
  'For a task in plain words, let a model do it: set ANTHROPIC_API_KEY, or',
  'OPENAI_API_KEY and OPENAI_BASE_URL.',
];

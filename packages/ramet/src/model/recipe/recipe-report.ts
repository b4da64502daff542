/** What the recipe model says at the end: every step and how it went, from the results of its tools alone. */
import { type AgentOutcome, agentOutcome, type BackgroundAgent } from './recipe-agents.ts';
import type { CallResult, StepOutcome } from './recipe-progress.ts';
import type { Recipe, RecipeStep } from './recipe-steps.ts';

const LINES_OF_SUCCESS = 3;
const LINES_OF_FAILURE = 20;
/** Of a failed agent: the rest is in the conversation. */
const LINES_OF_FAILED_AGENT = 10;
const LONGEST_LINE = 500;
const LONGEST_REASON = 120;

/** The line of a Bash result that says how a command ended that did not end well. */
const VERDICT = /^(Exit code \d+|Ended by SIG\w+|Timed out after \d+ ms|Interrupted)\b/;

export interface RecipeEnd {
  ended: readonly StepOutcome[];
  background: readonly BackgroundAgent[];
}

export function reportOf(recipe: Recipe, end: RecipeEnd): { text: string; failed: boolean } {
  const { ended, background } = end;
  const untouched = recipe.steps.slice(ended.length);
  const headline = headlineOf(recipe, end);
  const lines = [
    headline,
    '',
    ...ended.flatMap(describeStep),
    ...untouched.map((step, index) => `${ended.length + index + 1}. ${step.title} - not run`),
    ...(background.length === 0 ? [] : ['', 'In the background:', ...background.flatMap(describeAgent)]),
    ...skippedLines(recipe.skipped),
  ];
  return { text: lines.join('\n'), failed: headline.startsWith('Failed: ') };
}

function headlineOf({ steps }: Recipe, { ended, background }: RecipeEnd): string {
  if (ended.at(-1)?.failed) return failedLine(steps, ended);
  if (ended.length < steps.length)
    return `Called off: ${ended.length} of ${count(steps.length, 'step')} carried out.`;
  const out = background.filter(({ isOut }) => isOut);
  if (out.length > 0) return `Waiting for ${count(out.length, 'agent')} in the background: ${namesOf(out)}.`;
  const failed = background.filter((agent) => agent.failed);
  if (failed.length === 0) return `Done: ${count(steps.length, 'step')} carried out.`;
  return `Failed: ${failed.length} of ${count(background.length, 'agent')} in the background: ${namesOf(failed)}`;
}

function namesOf(agents: readonly BackgroundAgent[]): string {
  return agents.map(({ id, description }) => `${id} (${description})`).join(', ');
}

export function skippedLines(skipped: readonly string[]): string[] {
  if (skipped.length === 0) return [];
  return ['', `Not carried out, because only sh, write and agents blocks are: ${skipped.join(', ')}.`];
}

/** Counted from 1, as people do. */
function failedLine(steps: readonly RecipeStep[], ended: readonly StepOutcome[]): string {
  const last = ended.at(-1);
  const reason = last === undefined ? '' : ` (${last.step.title}): ${reasonOf(last)}`;
  const left = steps.length - ended.length;
  const rest = left === 0 ? '' : `; ${count(left, 'step')} after it not run`;
  return `Failed: step ${ended.length} of ${steps.length}${reason}${rest}`;
}

function reasonOf(outcome: StepOutcome): string {
  const agents = agentsOf(outcome);
  const failed = agents.filter((agent) => agent.failed);
  if (agents.length === 0) return verdictOf(outcome.results).verdict;
  return `${failed.length} of ${count(agents.length, 'agent')} failed: ${reasonIn(failed[0]?.verdict ?? '')}`;
}

function describeStep(outcome: StepOutcome, index: number): string[] {
  const { step, results, failed } = outcome;
  const agents = agentsOf(outcome);
  if (agents.length > 0) {
    return [`${index + 1}. ${step.title} - ${failed ? 'failed' : 'ok'}`, ...agents.flatMap(describeAgent)];
  }
  const { verdict, lines, quoted } = verdictOf(results);
  const shown = lines.slice(failed ? -LINES_OF_FAILURE : -LINES_OF_SUCCESS);
  const left = lines.length - shown.length;
  return [
    `${index + 1}. ${step.title} - ${failed ? 'failed' : 'ok'}${failed && !quoted ? `: ${verdict}` : ''}`,
    ...(left > 0 ? [`   | (${count(left, 'line')} before)`] : []),
    ...shown.map((line) => `   | ${line.slice(0, LONGEST_LINE)}`),
  ];
}

function agentsOf({ step, results }: StepOutcome): AgentOutcome[] {
  return step.calls.flatMap((call, index) => {
    const result = results[index];
    return call.name === 'Agent' && result !== undefined ? [agentOutcome(call, result)] : [];
  });
}

/** Its first lines: a report begins with what matters, where the output of a command ends with it. */
function describeAgent({ description, verdict, failed, report }: AgentOutcome): string[] {
  const shown = report.slice(0, failed ? LINES_OF_FAILED_AGENT : LINES_OF_SUCCESS);
  const left = report.length - shown.length;
  return [
    `   - ${description}: ${verdict.slice(0, LONGEST_LINE)}`,
    ...shown.map((line) => `     | ${line.slice(0, LONGEST_LINE)}`),
    ...(left > 0 ? [`     | (${count(left, 'line')} more)`] : []),
  ];
}

interface Verdict {
  /** How it ended, in a few words. */
  verdict: string;
  /** Whether those are the beginning of `lines`. */
  quoted: boolean;
  /** What else there is to read. */
  lines: string[];
}

function verdictOf(results: readonly CallResult[]): Verdict {
  const all = results.flatMap(({ text }) => text.trimEnd().split('\n'));
  const lines = all.filter((line) => line !== '(no output)');
  const refused = results.find(({ isError }) => isError);
  const at = refused === undefined ? -1 : lines.findLastIndex((line) => VERDICT.test(line));
  if (at === -1) return { verdict: reasonIn(refused?.text ?? 'no result'), quoted: true, lines };
  const [words = ''] = VERDICT.exec(lines[at] ?? '') ?? [];
  const verdict = words.charAt(0).toLowerCase() + words.slice(1);
  return { verdict, quoted: false, lines: lines.toSpliced(at, 1) };
}

/** The first sentence, cut when even that is long. */
function reasonIn(text: string): string {
  const [line = ''] = text.split('\n', 1);
  const [sentence = line] = line.split(/(?<=\.) /, 1);
  return sentence.length > LONGEST_REASON ? `${sentence.slice(0, LONGEST_REASON - 1)}…` : sentence;
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}

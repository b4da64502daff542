/** What the recipe model says at the end: every step and how it went, from the results of its tools alone. */
import type { CallResult, StepOutcome } from './recipe-progress.ts';
import type { Recipe, RecipeStep } from './recipe-steps.ts';

const LINES_OF_SUCCESS = 3;
const LINES_OF_FAILURE = 20;
const LONGEST_LINE = 500;
const LONGEST_REASON = 120;

/** The line of a Bash result that says how a command ended that did not end well. */
const VERDICT = /^(Exit code \d+|Ended by SIG\w+|Timed out after \d+ ms|Interrupted)\b/;

export function reportOf({ steps, skipped }: Recipe, ended: readonly StepOutcome[]): string {
  const failed = ended.at(-1)?.failed === true;
  const untouched = steps.slice(ended.length);
  return [
    failed ? failedLine(steps, ended) : `Done: ${count(steps.length, 'step')} carried out.`,
    '',
    ...ended.flatMap(describeStep),
    ...untouched.map((step, index) => `${ended.length + index + 1}. ${step.title} - not run`),
    ...skippedLines(skipped),
  ].join('\n');
}

export function skippedLines(skipped: readonly string[]): string[] {
  if (skipped.length === 0) return [];
  return ['', `Not carried out, because only sh, write and agents blocks are: ${skipped.join(', ')}.`];
}

/** Counted from 1, as people do. */
function failedLine(steps: readonly RecipeStep[], ended: readonly StepOutcome[]): string {
  const last = ended.at(-1);
  const reason = last === undefined ? '' : ` (${last.step.title}): ${verdictOf(last.results).verdict}`;
  const left = steps.length - ended.length;
  const rest = left === 0 ? '' : `; ${count(left, 'step')} after it not run`;
  return `Failed: step ${ended.length} of ${steps.length}${reason}${rest}`;
}

function describeStep({ step, results, failed }: StepOutcome, index: number): string[] {
  const { verdict, lines, quoted } = verdictOf(results);
  const shown = lines.slice(failed ? -LINES_OF_FAILURE : -LINES_OF_SUCCESS);
  const left = lines.length - shown.length;
  return [
    `${index + 1}. ${step.title} - ${failed ? 'failed' : 'ok'}${failed && !quoted ? `: ${verdict}` : ''}`,
    ...(left > 0 ? [`   | (${count(left, 'line')} before)`] : []),
    ...shown.map((line) => `   | ${line.slice(0, LONGEST_LINE)}`),
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

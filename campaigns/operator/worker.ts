/**
 * The model of these runs. It answers from the conversation alone, and each of its steps does no harm when it is done again:
 * a call that failed or whose end is unknown is repeated.
 */
import type { Answer, RequestView, WireMessage } from 'ramet/emulator';

interface Step {
  name: string;
  input: Record<string, unknown>;
}

/** A model that is told over and over that something fails gives up. */
const MOST_CALLS = 12;

export function workerAnswer(view: RequestView): Answer {
  const { request, opening, last } = view;
  if (opening.includes('You were added to the team')) return memberAnswer(view);
  const [, verb = '', name = ''] = /Task \S+: (\w+) (\S+)/.exec(opening) ?? [];
  if (verb === 'Propose') return { text: `${name}.\n${newFile(name)}` };
  const isAgain = opening.includes('An earlier attempt failed');
  const steps = stepsOf(verb, name, isAgain);
  const results = resultsIn(request.messages);
  const next = steps[results.filter(({ isGood }) => isGood).length];
  if (next === undefined) return { text: `${verb} ${name}: done.` };
  if (results.length > MOST_CALLS) return { text: `${verb} ${name}: it cannot be done.` };
  return { text: 'I do the next step.', tool_use: [unlocked(next, last)] };
}

function stepsOf(verb: string, name: string, isAgain: boolean): Step[] {
  switch (verb) {
    case 'Write':
      return [write(name, `${name}\n`)];
    case 'Better':
      return [write(name, isAgain ? 'good\n' : 'bad\n')];
    case 'List':
      return [bash(`echo ${name} >> list.txt && sort -u -o list.txt list.txt`)];
    case 'Build':
      return [
        bash(`mkdir -p built && seq 400 > built/${name}`),
        bash(`git add --all && { git diff --cached --quiet || git commit --quiet -m 'Part of ${name}'; }`),
        write(name, `${name}\n`),
      ];
    default:
      return [];
  }
}

/** For agents that only read: their answer is the patch. */
function newFile(name: string): string {
  return `\`\`\`diff\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+${name}\n\`\`\``;
}

/** What the last result asks for first: to read a file, or to remove the lock of a git that was killed. */
function unlocked(step: Step, last: string): Step {
  if (step.name === 'Write' && last.includes('Read it first'))
    return { name: 'Read', input: { file_path: step.input.file_path } };
  const [, lock] = /'([^']+index\.lock)'/.exec(last) ?? [];
  if (lock === undefined) return step;
  return bash(`rm -f '${lock}'; ${step.name === 'Bash' ? step.input.command : 'true'}`);
}

function write(path: string, content: string): Step {
  return { name: 'Write', input: { file_path: path, content } };
}

function bash(command: string): Step {
  return { name: 'Bash', input: { command, description: 'the next step' } };
}

/** The calls that are no step of a task. */
function looksIn(messages: readonly WireMessage[]): Set<unknown> {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  return new Set(blocks.filter(({ name }) => name === 'Read').map(({ id }) => id));
}

function resultsIn(messages: readonly WireMessage[]): { isGood: boolean }[] {
  const looks = looksIn(messages);
  return messages
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter(({ type, tool_use_id: call }) => type === 'tool_result' && !looks.has(call))
    .map(({ is_error }) => ({ isGood: is_error !== true }));
}

interface Seen {
  text: string;
  isError: boolean;
  isResult: boolean;
}

const CLAIMED = /(?:^|\n)(\d+)\. \[in_progress, by [^\]]*\] /;

/** A member of a team: it claims the task that woke it, does its steps, and completes it. */
function memberAnswer({ request: { messages }, last }: RequestView): Answer {
  const looks = looksIn(messages);
  const seen = messages.flatMap((message) => seenIn(message, looks));
  const claimAt = seen.findLastIndex(({ text, isResult }) => isResult && CLAIMED.test(text));
  const number = Number(CLAIMED.exec(seen[claimAt]?.text ?? '')?.[1]);
  const since = seen.slice(claimAt + 1);
  const isOpen = claimAt >= 0 && !since.some(({ text }) => isOver(text, number));
  if (!isOpen) return claimAnswer(seen);
  const claim = seen[claimAt]?.text ?? '';
  const [, verb = '', name = ''] = /Task \S+: (\w+) (\S+)/.exec(claim) ?? [];
  const results = since.filter(({ isResult }) => isResult);
  const steps = stepsOf(verb, name, claim.includes('An earlier attempt failed'));
  const next = steps[results.filter(({ isError }) => !isError).length];
  if (results.length > MOST_CALLS) return tell({ task: number, status: 'failed', note: 'it cannot be done' });
  if (next !== undefined) return { text: 'I do the next step.', tool_use: [unlocked(next, last)] };
  return tell({ task: number, status: 'completed', evidence: `${name} is there` });
}

function isOver(text: string, number: number): boolean {
  return new RegExp(
    `Task ${number} (?:is (?:completed|failed|withdrawn)|has failed)|task ${number} is (?:completed|failed)`,
  ).test(text);
}

/** The last task that became free, unless it was tried already. */
function claimAnswer(seen: readonly Seen[]): Answer {
  const at = seen.findLastIndex(({ text, isResult }) => !isResult && /Task \d+ is free now/.test(text));
  const free = [...(seen[at]?.text ?? '').matchAll(/Task (\d+) is free now/g)].at(-1)?.[1];
  const after = seen.slice(at + 1).filter(({ isResult }) => isResult);
  if (free === undefined || after.length > 1) return { text: 'I have nothing to do.' };
  const [claim] = after;
  if (claim === undefined) return tell({ task: Number(free), status: 'in_progress' });
  return { text: 'Another member has it.' };
}

function tell(input: Record<string, unknown>): Answer {
  return { tool_use: [{ name: 'TaskUpdate', input }] };
}

function seenIn({ role, content }: WireMessage, looks: ReadonlySet<unknown>): Seen[] {
  if (role === 'assistant') return [];
  if (typeof content === 'string') return [{ text: content, isError: false, isResult: false }];
  return content.map((block) => ({
    text: block.type === 'text' ? String(block.text) : textOf(block.content),
    isError: block.is_error === true,
    isResult: block.type === 'tool_result' && !looks.has(block.tool_use_id),
  }));
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}

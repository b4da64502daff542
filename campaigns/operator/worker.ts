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

export function workerAnswer({ request, opening, last }: RequestView): Answer {
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

/** What git tells an agent to do whose own git was killed: it names the file. */
function unlocked(step: Step, last: string): Step {
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

function resultsIn(messages: readonly WireMessage[]): { isGood: boolean }[] {
  return messages
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter(({ type }) => type === 'tool_result')
    .map(({ is_error }) => ({ isGood: is_error !== true }));
}

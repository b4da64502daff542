/** The text that stands for what a compaction replaced: the user's own words, open todos, the summary, files by name. */
import { cutMiddle } from './cut-results.ts';

export interface KeptRecord {
  /** The user's prompts, oldest first, word for word. */
  readonly prompts: readonly string[];
  /** Characters that the prompts may take. */
  readonly promptRoom: number;
  readonly todos: readonly string[];
  readonly summary: string;
  readonly changedFiles: readonly string[];
  readonly readFiles: readonly string[];
}

const MOST_FILES = 20;

export function recordText(record: KeptRecord): string {
  const changed = record.changedFiles.slice(-MOST_FILES);
  const read = record.readFiles.slice(-MOST_FILES);
  return [
    'This conversation had become long. The text below replaces everything before this point; what follows it is unchanged. Continue the work, and read files again when you need their content.',
    section('user-messages', keptPrompts(record.prompts, record.promptRoom)),
    section('open-todos', record.todos),
    section('summary', [record.summary]),
    section('files-changed', changed),
    section('files-read', read),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function section(name: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `<${name}>\n${lines.join('\n')}\n</${name}>`;
}

/** The first, which is the task, and the latest matter most: what does not fit is left out between them. */
function keptPrompts(prompts: readonly string[], room: number): string[] {
  const [first, ...others] = prompts;
  if (first === undefined) return [];
  const task = cutMiddle(first, Math.floor(others.length === 0 ? room : room / 2));
  let left = room - task.length;
  const latest: string[] = [];
  for (const prompt of others.toReversed()) {
    if (prompt.length > left && latest.length > 0) break;
    const kept = cutMiddle(prompt, Math.max(0, left));
    latest.unshift(kept);
    left -= kept.length;
  }
  const gone = others.length - latest.length;
  const gap = gone > 0 ? [`(${gone} more are left out here; the summary covers them)`] : [];
  return [`- ${task}`, ...gap, ...latest.map((text) => `- ${text}`)];
}

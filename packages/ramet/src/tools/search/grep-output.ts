/** Turns ripgrep's output (`path NUL rest`) into the lines a result shows, in order of path. */
import { shownPath } from './ripgrep.ts';

export type GrepMode = 'content' | 'files_with_matches' | 'count';

export interface GrepFormat {
  mode: GrepMode;
  /** Whether lines carry their number. */
  numbered: boolean;
  /** Paths below it are shown relative to it. */
  cwd: string;
  leavesOut?: ((path: string) => boolean) | undefined;
}

interface FileLines {
  path: string;
  lines: string[];
}

const SEPARATOR = '--';

/** ripgrep searches files side by side and prints each one's lines together, in no fixed order of files. */
export function formatGrepOutput(output: string, format: GrepFormat): string[] {
  const { mode, cwd } = format;
  if (mode === 'files_with_matches') {
    const paths = output.split('\0').filter((path) => path !== '' && format.leavesOut?.(path) !== true);
    return paths.map((path) => shownPath(cwd, path)).sort();
  }
  const files = groupByFile(output, format);
  const separated = mode === 'content' && output.split('\n').includes(SEPARATOR);
  return files.flatMap(({ lines }, index) => (separated && index > 0 ? [SEPARATOR, ...lines] : lines));
}

function groupByFile(output: string, { cwd, mode, numbered, leavesOut }: GrepFormat): FileLines[] {
  const files: FileLines[] = [];
  const left = new Map<string, boolean>();
  for (const line of output.split('\n')) {
    const end = line.indexOf('\0');
    const current = files.at(-1);
    if (end === -1) {
      if (line === SEPARATOR) current?.lines.push(SEPARATOR);
      continue;
    }
    const name = line.slice(0, end);
    const isLeft = left.get(name) ?? leavesOut?.(name) ?? false;
    left.set(name, isLeft);
    if (isLeft) continue;
    const path = shownPath(cwd, name);
    const rest = line.slice(end + 1).replace(/\r$/, '');
    const text = `${path}${mode === 'content' && numbered ? markOf(rest) : ':'}${rest}`;
    if (current?.path === path) current.lines.push(text);
    else files.push({ path, lines: [text] });
  }
  for (const file of files) while (file.lines.at(-1) === SEPARATOR) file.lines.pop();
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A context line has `-` after its number where a match has `:`; the path takes the same mark. */
function markOf(rest: string): string {
  return /^\d+-/.test(rest) ? '-' : ':';
}

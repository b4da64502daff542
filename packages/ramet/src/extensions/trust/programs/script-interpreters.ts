/**
 * What scripts run with, by their first line: `#!tools/interpreter -x`. An interpreter can be a script in turn. A file of the
 * repository that such a line names counts like one that a command names.
 */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { linkedPaths } from '../linked-paths.ts';
import { type SearchGround, stemFiles } from '../module-files.ts';
import type { ReachFinds } from '../reach-finds.ts';
import { isName, isPath, namesIn } from '../word-names.ts';

/** The system reads no more of it. */
const LONGEST_LINE = 256;
const BLANKS = /[\s"']+/;
/** `env -S` fills it in. */
const OPEN = /\$\{/;

/** `lines` has what was read before, and gets what is read. */
export function addInterpreters(
  found: ReachFinds,
  ground: SearchGround,
  lines: Map<string, string | null>,
): void {
  for (const path of followed(found, lines)) {
    const line = firstLine(path);
    lines.set(path, line);
    if (line === null) continue;
    if (OPEN.test(line)) found.unclear.add('the first line of a script');
    for (const name of line.split(BLANKS).flatMap(namesIn).filter(isName)) {
      for (const directory of ground.directories) {
        for (const named of linkedPaths(directory, name))
          found.add(named, name.startsWith('/') && !ground.isOurs(named));
      }
      if (isPath(name)) for (const one of stemFiles(name, ground)) found.add(one);
    }
  }
}

/** Also those that are found meanwhile. */
function* followed(found: ReachFinds, seen: ReadonlyMap<string, unknown>): Generator<string> {
  for (let before = -1; before !== seen.size; ) {
    before = seen.size;
    for (const path of [...found.paths]) if (!seen.has(path)) yield path;
  }
}

/** Behind its `#!`; null for what is no script. A pipe that nobody writes to would never be opened. */
function firstLine(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const bytes = Buffer.alloc(LONGEST_LINE);
    const text = bytes.toString('utf8', 0, readSync(file, bytes, 0, LONGEST_LINE, 0));
    return text.startsWith('#!') ? (text.slice(2).split('\n', 1)[0] ?? '') : null;
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/**
 * Whether a script, as written, runs git commands that harm others in the same checkout (WORK-1). Said before anything
 * runs; what only shows at run time is refused by the shim in git's place.
 */
import { basename } from 'node:path';
import { findRepository } from '../../../git/repository.ts';
import { gitWords, refusedBesideOthers } from '../../../git/shared-git/git-words.ts';
import type { ShellCommand } from '../reading/shell-reading.ts';
import { understandScript } from '../reading/understand-script.ts';

/** What harms; null when nothing in the script is known to. */
export async function harmToOthers(script: string, cwd: string): Promise<string | null> {
  if (!/\bgit\b/.test(script)) return null;
  const { commands } = await understandScript(script, { directories: [cwd] });
  const root = findRepository(cwd)?.root;
  for (const { layers } of commands) {
    const harm = harmOfCommand(layers.at(-1) ?? layers[0], root);
    if (harm !== null) return harm;
  }
  return null;
}

function harmOfCommand({ words, directories }: ShellCommand, root: string | undefined): string | null {
  const [program, ...rest] = words.map(({ value }) => value ?? '');
  if (program === undefined || basename(program) !== 'git') return null;
  const asked = gitWords(rest);
  // Elsewhere it may be another repository's business; the shim knows.
  const isHere = directories?.every((place) => findRepository(place)?.root === root) ?? false;
  return isHere && asked.globals.length === 0 ? refusedBesideOthers(asked) : null;
}

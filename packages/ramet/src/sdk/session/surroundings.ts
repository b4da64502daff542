/** What a main agent is told about the place it works in. */
import { instructionsText, readProjectInstructions } from '../../agents/prompts/first-message.ts';
import { gitState } from '../../git/git-state.ts';
import type { GitState } from '../../git/shapes.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Place } from '../place.ts';

/** What the first message says besides the prompt: read before the journal exists. */
export interface Surroundings {
  instructions: string | null;
  /** What was left out of them. */
  problems: readonly string[];
  git: GitState | null;
}

export async function readSurroundings(
  { cwd, repository, home }: Place,
  env: Readonly<Record<string, string>>,
  redact: (text: string) => string,
  directory: string = cwd,
): Promise<Surroundings> {
  // Git works while instructions are read.
  const git = repository === null ? null : gitState({ directory, env });
  const root = repository?.root ?? cwd;
  const { files, problems } = await readProjectInstructions({
    cwd,
    root,
    rametHome: home,
    userHome: env.HOME || undefined,
  });
  const text = instructionsText(files, root);
  return { instructions: text === null ? null : redact(text), problems, git: await git };
}

/** A type may want to know less. */
export function surroundingsFor({ mainType }: ResolvedOptions, found: Surroundings): Surroundings {
  if (mainType === undefined) return found;
  const { instructions, git } = mainType.definition;
  return { ...found, ...(!instructions && { instructions: null }), ...(!git && { git: null }) };
}

/** What a main agent is told about the place it works in. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { instructionsText, readProjectInstructions } from '../../../agents/prompts/first-message.ts';
import { isBare } from '../../../extensions/extension-places.ts';
import { gitState } from '../../../git/git-state.ts';
import type { GitState } from '../../../git/shapes.ts';
import type { TeamSync } from '../../memory/team-sync.ts';
import type { ResolvedOptions } from '../../options.ts';
import type { Place } from '../../place.ts';

/** What the first message says besides the prompt: read before the journal exists. */
export interface Surroundings {
  instructions: string | null;
  /** What was left out of them. */
  problems: readonly string[];
  git: GitState | null;
  /** What earlier sessions have noted. */
  memory: string | null;
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
  return { instructions: text === null ? null : redact(text), problems, git: await git, memory: null };
}

/** With what is remembered. A type may want to know less, and so may the caller. */
export async function surroundingsFor(
  settings: ResolvedOptions,
  place: Place,
  found: Surroundings,
  redact: (text: string) => string,
  teamSync: TeamSync | null = null,
): Promise<Surroundings> {
  // What the team has noted meanwhile comes first, if it comes soon.
  const told = (await teamSync?.begun()) ?? [];
  const { text, problems } = await readMemory(settings, place);
  const memory = text === null ? null : redact(text);
  const read = isBare(settings.env) ? { ...found, instructions: null, problems: [] } : found;
  const all = { ...read, memory, problems: [...read.problems, ...told, ...problems] };
  if (settings.mainType === undefined) return all;
  const { instructions, git } = settings.mainType.definition;
  return { ...all, ...(!instructions && { instructions: null }), ...(!git && { git: null }) };
}

interface ReadMemory {
  readonly text: string | null;
  readonly problems: readonly string[];
}

const NO_MEMORY: ReadMemory = { text: null, problems: [] };

/** Loads nothing where there is no memory. */
async function readMemory(settings: ResolvedOptions, place: Place): Promise<ReadMemory> {
  if (!hasMemory(settings, place) && settings.mainType?.definition.memory === undefined) return NO_MEMORY;
  return (await import('../../memory/session-memory.ts')).memoryOfMain(settings, place);
}

export function hasMemory({ settings }: ResolvedOptions, { home, project }: Place): boolean {
  return settings.memory?.enabled !== false && [home, project].some((one) => existsSync(join(one, 'memory')));
}

/** What must come of an agent, and what was there before it began (AGENT-6); `missing-evidence.ts` holds the two together. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { digestOf } from '../journal/digest.ts';
import type { SpawnRequest } from '../tools/agent-desk.ts';
import { gitState } from '../workspace/git-state.ts';

export type Expectation = NonNullable<SpawnRequest['expect']>;

/** What was there before the agent began, to be held against what is there in the end. */
export interface Evidence {
  readonly expected: Expectation;
  /** Digests by absolute path; null where there was no file. */
  readonly files: ReadonlyMap<string, string | null>;
  /** Null where there was no commit, or none is expected. */
  readonly commit: string | null;
}

export async function noteBefore(
  expected: Expectation,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Evidence> {
  const paths = (expected.files ?? []).map((path) => resolve(cwd, path));
  return {
    expected,
    files: new Map(paths.map((path) => [path, digestOfFile(path)])),
    commit: expected.commit === true ? await headCommit(cwd, env) : null,
  };
}

export function missingFiles({ files }: Evidence): string[] {
  return Array.from(files, ([path, before]) => {
    const now = digestOfFile(path);
    if (now === null) return `${path} is not there`;
    return now === before ? `${path} was not changed` : null;
  }).filter((problem) => problem !== null);
}

function digestOfFile(path: string): string | null {
  try {
    return digestOf(readFileSync(path));
  } catch {
    return null;
  }
}

export async function headCommit(cwd: string, env: Readonly<Record<string, string>>): Promise<string | null> {
  const state = await gitState({ directory: cwd, env });
  return state.known ? state.head : null;
}

/**
 * What must come of an agent, and what was there before it began (AGENT-6); `missing-evidence.ts` holds the two
 * together.
 */
import { resolve } from 'node:path';
import { runGit } from '../../git/run-git.ts';
import { describeError, systemCode, UserMistake } from '../../schema/errors.ts';
import { scanFile } from '../../system/regular-file.ts';
import type { SpawnRequest } from '../../tools/agent-desk.ts';

export type Expectation = NonNullable<SpawnRequest['expect']>;

/** What was there before the agent began, to be held against what is there in the end. */
export interface Evidence {
  readonly expected: Expectation;
  /** Versions by absolute path; null where there was no file. */
  readonly files: ReadonlyMap<string, string | null>;
  /** Null where there was no commit, or none is expected. */
  readonly commit: string | null;
}

/** Throws a UserMistake for what could not be checked at the end either. */
export async function noteBefore(
  expected: Expectation,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Evidence> {
  const files = new Map<string, string | null>();
  for (const path of (expected.files ?? []).map((name) => resolve(cwd, name))) {
    const before = await lookAtFile(path);
    if ('problem' in before) throw new UserMistake('bad_evidence', `expect.files: ${before.problem}`);
    files.set(path, before.version);
  }
  const head = expected.commit === true ? await headCommit(cwd, env) : { commit: null };
  if ('problem' in head) throw new UserMistake('bad_evidence', `expect.commit: ${head.problem}`);
  return { expected, files, commit: head.commit };
}

export async function missingFiles({ files }: Evidence): Promise<string[]> {
  const problems: string[] = [];
  for (const [path, before] of files) {
    const now = await lookAtFile(path);
    if ('problem' in now) problems.push(now.problem);
    else if (now.version === null) problems.push(`${path} is not there`);
    else if (now.version === before) problems.push(`${path} was not changed`);
  }
  return problems;
}

/** A null version is a file that is not there; one that cannot be read is a problem, not an absence. */
async function lookAtFile(path: string): Promise<{ version: string | null } | { problem: string }> {
  try {
    return await scanFile(path, () => 'enough', {});
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return { version: null };
    return { problem: `${path} cannot be checked: ${describeError(error)}` };
  }
}

/** Exits with 1 before the first commit. */
const HEAD = ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'];

/** Null where there is no commit yet. */
export async function headCommit(
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ commit: string | null } | { problem: string }> {
  try {
    // Asks for nothing else: the state of the files takes seconds in a large repository.
    const { code, stdout, stderr } = await runGit(HEAD, { cwd, env, looksUp: true });
    if (code === 0) return { commit: stdout.trim() };
    return code === 1 ? { commit: null } : { problem: `git cannot say: ${describeError(stderr)}` };
  } catch (error) {
    return { problem: `git cannot say: ${describeError(error)}` };
  }
}

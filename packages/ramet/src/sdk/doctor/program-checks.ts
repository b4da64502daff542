/** The programs that Ramet runs with or starts. */
import { execFile } from 'node:child_process';
import { canMerge, parseGitVersion } from '../../git/run-git.ts';
import { describeError, systemCode } from '../../schema/errors.ts';
import { childEnvironment } from '../../system/child-environment.ts';
import { type DoctorContext, type HealthCheck, limited, missing, ok } from './health-check.ts';

const TIME_LIMIT_MS = 10_000;

type ProgramEnd = { ran: true; firstLine: string } | { ran: false; reason: string };

export function checkNode(): HealthCheck {
  // The launcher has refused any Node that is too old.
  return ok('node', `${process.versions.node} (${process.execPath})`);
}

export async function checkGit(context: DoctorContext): Promise<HealthCheck> {
  const end = await run('git', ['--version'], context);
  if (!end.ran) return missing('git', end.reason, 'install git and put it on your PATH');
  const version = end.firstLine.replace(/^git version /, '');
  const parsed = parseGitVersion(version);
  if (parsed === null || !canMerge(parsed)) {
    return limited(
      'git',
      `${version}: ramet merge does not work, all else does`,
      'update git to 2.38 or later',
    );
  }
  if (context.place.repository !== null) return ok('git', `${version}, in ${context.place.repository.root}`);
  return limited('git', `${version}; ${context.place.cwd} is not in a repository`, 'git init, or go to one');
}

export async function checkRipgrep(context: DoctorContext): Promise<HealthCheck> {
  const remedy = 'install ramet again: its package @vscode/ripgrep brings the program';
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    const end = await run(rgPath, ['--no-config', '--version'], context);
    if (end.ran) return ok('ripgrep', end.firstLine.replace(/^ripgrep /, ''));
    return missing('ripgrep', end.reason, remedy);
  } catch (error) {
    return missing('ripgrep', describeError(error), remedy);
  }
}

/** Started for real: where user namespaces are forbidden, the program is there and does not work. */
export async function checkSandbox({ caller }: DoctorContext): Promise<HealthCheck> {
  const { tryBubblewrap } = await import('../../sandbox/bubblewrap.ts');
  const state = await tryBubblewrap(childEnvironment(caller.env));
  if (state.works)
    return ok('sandbox', `${state.program}: commands that only read run in it, and cannot write`);
  // No other program is used as a sandbox, such as unshare of util-linux.
  const found = `${state.reason}; commands are judged by strict rules alone, and more of them ask`;
  return limited('sandbox', found, state.remedy);
}

function run(
  program: string,
  args: readonly string[],
  { caller, place }: DoctorContext,
): Promise<ProgramEnd> {
  const options = {
    cwd: place.cwd,
    env: childEnvironment(caller.env),
    timeout: TIME_LIMIT_MS,
    signal: caller.signal,
  };
  return new Promise((settle) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) settle({ ran: true, firstLine: stdout.split('\n')[0]?.trim() ?? '' });
      else settle({ ran: false, reason: whyNot(program, error, stderr) });
    });
  });
}

function whyNot(program: string, error: Error, stderr: string): string {
  const code = systemCode(error);
  if (code === 'ENOENT') return `${program} is not on the PATH`;
  if (code === 'EACCES') return `${program} may not be run`;
  return stderr.trim().split('\n')[0] || describeError(error).slice(0, 200);
}

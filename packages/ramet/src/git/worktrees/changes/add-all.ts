/**
 * `git add --all` without repositories inside. One without a commit makes git add nothing at all; of one with commits
 * git adds a pointer to a commit that nobody else has. Such folders are left out, and named to the caller.
 */
import { RametError } from '../../../schema/errors.ts';
import { type GitCall, gitText, runGit } from '../../run-git.ts';

const NO_COMMIT = /does not have a commit checked out/;
const POINTER = /^warning: adding embedded git repository: (.+)$/gm;

/** Adds everything that git does not ignore. Returns the repositories inside that it has left out, by folder. */
export async function addAll(
  call: GitCall,
  { settings, sparse = false }: { settings: readonly string[]; sparse?: boolean },
): Promise<string[]> {
  const options = settings.flatMap((setting) => ['-c', setting]);
  const add = [...options, 'add', '--all', ...(sparse ? ['--sparse'] : [])];
  const { code, stderr } = await runGit([...add, '.'], call);
  if (code === 0) return withoutPointers(call, stderr);
  if (!NO_COMMIT.test(stderr)) throw addFailure(call.cwd, stderr);
  const unknown = await gitText([...options, 'ls-files', '--others', '--exclude-standard', '-z'], call);
  // Of a repository git lists the folder alone.
  const nested = unknown.split('\0').filter((path) => path.endsWith('/'));
  const folders = nested.map((path) => path.slice(0, -1));
  const left = folders.map((folder) => `:(top,exclude,literal)${folder}\0`).join('');
  const from = ['--pathspec-from-file=-', '--pathspec-file-nul'];
  const again = await runGit([...add, ...from], { ...call, input: `.\0${left}` });
  if (again.code !== 0) throw addFailure(call.cwd, again.stderr);
  return folders;
}

/** Takes back what git has just added for repositories inside. Submodules were known before, and stay. */
async function withoutPointers(call: GitCall, stderr: string): Promise<string[]> {
  const folders = [...stderr.matchAll(POINTER)].map(([, folder = '']) => folder);
  if (folders.length === 0) return [];
  const input = folders.map((folder) => `${folder}\0`).join('');
  await gitText(['update-index', '--force-remove', '-z', '--stdin'], { ...call, input });
  return folders;
}

const UNREADABLE = /^error: open\("(.+)"\): (.+)$/m;

/** Names the file that git cannot read: its last line does not. */
export function addFailure(cwd: string, stderr: string): RametError {
  const [, file, why] = UNREADABLE.exec(stderr) ?? [];
  const reason =
    file === undefined
      ? (stderr.trim().split('\n').at(-1) ?? '')
      : `${file} cannot be read (${why}): make it readable with chmod u+r, or remove it`;
  return new RametError('git_failed', 'terminal', `git add failed in ${cwd}: ${reason}`);
}

/** The lines about folders that were left out. */
export function leftOutText(folders: readonly string[]): string[] {
  if (folders.length === 0) return [];
  const are = folders.length === 1 ? 'is a repository of its own' : 'are repositories of their own';
  return [
    `${folders.join(', ')} ${are}: the files there are not part of the commit; move the .git folder away to commit them`,
  ];
}

/**
 * `git add --all` that one folder cannot keep from everything else: git takes no repository without a commit, and then
 * adds nothing at all. Such folders are left out, and named to whoever asked.
 */
import { RametError } from '../../schema/errors.ts';
import { type GitCall, gitText, runGit } from '../git/run-git.ts';

const NO_COMMIT = /does not have a commit checked out/;

/** Adds everything that git does not ignore. Returns the repositories inside that it had to leave out, by folder. */
export async function addAll(
  call: GitCall,
  { settings, sparse = false }: { settings: readonly string[]; sparse?: boolean },
): Promise<string[]> {
  const options = settings.flatMap((setting) => ['-c', setting]);
  const add = [...options, 'add', '--all', ...(sparse ? ['--sparse'] : [])];
  const { code, stderr } = await runGit([...add, '.'], call);
  if (code === 0) return [];
  if (!NO_COMMIT.test(stderr)) throw failed(call, stderr);
  const unknown = await gitText([...options, 'ls-files', '--others', '--exclude-standard', '-z'], call);
  // Of a repository git lists the folder alone.
  const nested = unknown.split('\0').filter((path) => path.endsWith('/'));
  const folders = nested.map((path) => path.slice(0, -1));
  const left = folders.map((folder) => `:(top,exclude,literal)${folder}\0`).join('');
  const from = ['--pathspec-from-file=-', '--pathspec-file-nul'];
  const again = await runGit([...add, ...from], { ...call, input: `.\0${left}` });
  if (again.code !== 0) throw failed(call, again.stderr);
  return folders;
}

function failed({ cwd }: GitCall, stderr: string): RametError {
  const reason = stderr.trim().split('\n').at(-1) ?? '';
  return new RametError('git_failed', 'terminal', `git add failed in ${cwd}: ${reason}`);
}

/** What is told of folders that were left out; none for none. */
export function leftOutText(folders: readonly string[]): string[] {
  if (folders.length === 0) return [];
  return [`${folders.join(', ')} is not in it: a repository of its own without a commit fits into no commit`];
}

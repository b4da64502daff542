/** The commits that a branch adds to where it is merged into, oldest first. */
import { RametError } from '../../schema/errors.ts';
import { gitText } from '../run-git.ts';
import { callIn, type MergeRepository } from './merge-repository.ts';

export interface BranchCommit {
  id: string;
  parents: string[];
  tree: string;
  author: { name: string; email: string; date: string };
  message: string;
}

const FIELDS = ['%H', '%P', '%T', '%an', '%ae', '%ad', '%B'];

/** The commits of a range, and the tree of where it begins. */
export interface GroundedCommits {
  tree: string;
  commits: BranchCommit[];
}

/** Both in one process: the range is widened by its beginning, which is taken out again. */
export async function groundedCommits(
  range: CommitRange,
  repository: MergeRepository,
): Promise<GroundedCommits> {
  const all = await logOf([range.from, range.to, '--not', `${range.from}^@`], repository);
  const ground = all.find(({ id }) => id === range.from);
  if (ground === undefined)
    throw new RametError('git_failed', 'terminal', `git log did not list ${range.from}`);
  return { tree: ground.tree, commits: all.filter((commit) => commit !== ground) };
}

export interface CommitRange {
  from: string;
  to: string;
}

/** `skipEquivalent` leaves out those whose change is there already under another id. */
export async function branchCommits(
  { from, to }: CommitRange,
  repository: MergeRepository,
  options: { skipEquivalent?: boolean; limit?: number } = {},
): Promise<BranchCommit[]> {
  const range = options.skipEquivalent
    ? ['--cherry-pick', '--right-only', `${from}...${to}`]
    : [to, `^${from}`];
  const limit = options.limit === undefined ? [] : [`--max-count=${options.limit}`];
  return logOf([...limit, ...range], repository);
}

/** `revisions`: given on its standard input, where there are too many for a command line. */
export async function logOf(
  range: readonly string[],
  repository: MergeRepository,
  revisions?: readonly string[],
): Promise<BranchCommit[]> {
  const format = ['-z', `--format=${FIELDS.join('%x01')}`, '--date=raw', '--topo-order', '--encoding=UTF-8'];
  const plain = ['--no-show-signature', '--no-notes', '--no-mailmap', '--no-color', '--no-decorate'];
  const input = revisions?.map((revision) => `${revision}\n`).join('');
  const args = ['log', ...plain, ...format, ...range, ...(input === undefined ? ['--'] : [])];
  const output = await gitText(args, { ...callIn(repository), input });
  return output
    .split('\0')
    .filter((record) => record !== '')
    .map(commitFrom)
    .reverse();
}

function commitFrom(record: string): BranchCommit {
  const [id = '', parents = '', tree = '', name = '', email = '', date = '', ...message] =
    record.split('\u0001');
  return {
    id: id.trim(),
    parents: parents.split(' ').filter((parent) => parent !== ''),
    tree,
    author: { name, email, date: `@${date}` },
    message: message.join('\u0001').trimEnd(),
  };
}

/** The commits that a branch adds to where it is merged into, oldest first. */
import { gitText } from '../git/run-git.ts';
import { callIn, type MergeRepository } from './merge-repository.ts';

export interface BranchCommit {
  id: string;
  parents: string[];
  tree: string;
  author: { name: string; email: string; date: string };
  message: string;
}

const FIELDS = ['%H', '%P', '%T', '%an', '%ae', '%ad', '%B'];

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
  const format = ['-z', `--format=${FIELDS.join('%x01')}`, '--date=raw', '--topo-order', '--encoding=UTF-8'];
  const args = [
    'log',
    '--no-show-signature',
    '--no-notes',
    '--no-mailmap',
    '--no-color',
    ...format,
    ...limit,
    ...range,
    '--',
  ];
  const output = await gitText(args, callIn(repository));
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

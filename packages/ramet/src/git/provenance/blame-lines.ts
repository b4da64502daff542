/** The lines of `git blame`, joined with the trailers of those commits, which name their agents (WORK-6). */
import { basename, dirname } from 'node:path';
import { UserMistake } from '../../schema/errors.ts';
import { callIn, type MergeRepository } from '../merge/merge-repository.ts';
import { gitText, runGit } from '../run-git.ts';
import { type Provenance, parseTrailers } from './trailers.ts';

export interface BlamedLine extends Provenance {
  line: number;
  text: string;
  /** Null for a line that is not committed. */
  commit: string | null;
  author: string | null;
  /** The first line of the commit's message. */
  subject: string | null;
}

/** Throws for a file that git does not know: `not_committed` where that is all that is wrong. */
export async function blameLines(path: string, repository: MergeRepository): Promise<BlamedLine[]> {
  const args = ['blame', '--porcelain', '--', path];
  const end = await runGit(args, callIn(repository));
  if (end.code !== 0) throw unknownFile(path, end.stderr);
  const lines = parseBlame(end.stdout);
  const makers = await makersOf([...new Set(lines.flatMap(({ commit }) => commit ?? []))], repository);
  return lines.map((line) => ({ ...line, ...(line.commit === null ? {} : makers.get(line.commit)) }));
}

/** `<commit> <old line> <line>`, headers of a commit that is met first, then a tab and the text. */
function parseBlame(output: string): BlamedLine[] {
  const commits = new Map<string, { author: string; subject: string }>();
  const lines: BlamedLine[] = [];
  let commit = '';
  let number = 0;
  for (const row of output.split('\n')) {
    const [, id, line] = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(row) ?? [];
    if (row.startsWith('\t')) lines.push(lineOf(row.slice(1), number, commit, commits.get(commit)));
    else if (id !== undefined) [commit, number] = [id, Number(line)];
    else {
      const known = commits.get(commit) ?? { author: '', subject: '' };
      if (row.startsWith('author ')) commits.set(commit, { ...known, author: row.slice('author '.length) });
      if (row.startsWith('summary '))
        commits.set(commit, { ...known, subject: row.slice('summary '.length) });
    }
  }
  return lines;
}

function lineOf(
  text: string,
  line: number,
  commit: string,
  known: { author: string; subject: string } | undefined,
): BlamedLine {
  if (/^0+$/.test(commit)) return { line, text, commit: null, author: null, subject: null };
  return { line, text, commit, author: known?.author ?? null, subject: known?.subject ?? null };
}

async function makersOf(
  commits: readonly string[],
  repository: MergeRepository,
): Promise<ReadonlyMap<string, Provenance>> {
  if (commits.length === 0) return new Map();
  const args = [
    'log',
    '--no-walk=unsorted',
    '--stdin',
    '-z',
    '--format=%H%x01%B',
    '--no-show-signature',
    '--encoding=UTF-8',
  ];
  const output = await gitText(args, {
    ...callIn(repository),
    input: commits.map((id) => `${id}\n`).join(''),
  });
  return new Map(
    output.split('\0').map((record) => {
      const [id = '', ...message] = record.split('\u0001');
      return [id.trim(), parseTrailers(message.join('\u0001'))] as const;
    }),
  );
}

function unknownFile(path: string, reason: string): UserMistake {
  const why =
    reason
      .trim()
      .split('\n')[0]
      ?.replace(/^fatal: /, '') ?? '';
  const place = `${basename(dirname(path))}/${basename(path)}`;
  return new UserMistake(
    /^no such (?:path|ref: HEAD)/.test(why) ? 'not_committed' : 'no_blame',
    `git cannot say who wrote ${JSON.stringify(place)}: ${why}; name a file that is committed`,
  );
}

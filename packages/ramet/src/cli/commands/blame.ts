/** `ramet blame`: which agent wrote each line of a file and why, committed or not. */
import { readFileSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemCode, UserMistake } from '../../schema/errors.ts';
import { findPlace } from '../../sdk/place.ts';
import { fileChanges } from '../../views/provenance/file-changes.ts';
import { lineOwners } from '../../views/provenance/line-owners.ts';
import { recordedContents } from '../../views/provenance/recorded-contents.ts';
import { excerpt, printable, table } from '../../views/text/format.ts';
import { childEnvironment } from '../../workspace/child-environment.ts';
import { findMergeRepository } from '../../workspace/merge/merge-repository.ts';
import { type BlamedLine, blameLines } from '../../workspace/provenance/blame-lines.ts';
import type { CommandIo } from '../io.ts';

const WHY_LENGTH = 40;
const WHO_LENGTH = 24;
const COMMIT_LENGTH = 10;

export async function blame(file: string, options: { json?: boolean }, io: CommandIo): Promise<void> {
  const path = realFile(resolve(io.cwd, file));
  const repository = findMergeRepository(io.cwd, childEnvironment(io.env), io.signal);
  const lines = await knownLines(path, () => blameLines(path, repository), io);
  const open = lines.some(({ commit }) => commit === null);
  const found = open ? withOwners(lines, path, io) : lines;
  if (options.json) io.out(`${JSON.stringify(found)}\n`);
  else io.out(table(found.map(rowOf)));
}

/** Of a new file git knows no line. Where agents wrote it the journal does. */
async function knownLines(
  path: string,
  byGit: () => Promise<BlamedLine[]>,
  io: CommandIo,
): Promise<BlamedLine[]> {
  try {
    return await byGit();
  } catch (error) {
    const isNew = error instanceof UserMistake && error.code === 'not_committed';
    if (!isNew || fileChanges(findPlace(io).project, { path }, io.note).length === 0) throw error;
    const texts = readFileSync(path, 'utf8').replace(/\n$/, '').split('\n');
    return texts.map((text, index) => ({ line: index + 1, text, commit: null, author: null, subject: null }));
  }
}

/** What the journal tells of the lines that git does not know yet. */
function withOwners(lines: readonly BlamedLine[], path: string, io: CommandIo): BlamedLine[] {
  const { project } = findPlace(io);
  const changes = fileChanges(project, { path }, io.note);
  if (changes.length === 0) return [...lines];
  const owners = lineOwners(readFileSync(path, 'utf8'), changes, recordedContents(project, changes));
  return lines.map((line) => {
    const owner = line.commit === null ? owners[line.line - 1] : null;
    if (owner === null || owner === undefined) return line;
    return { ...line, agent: owner.agent, session: owner.session, task: owner.purpose ?? undefined };
  });
}

function rowOf({ line, text, commit, author, agent, task, subject }: BlamedLine): string[] {
  return [
    commit?.slice(0, COMMIT_LENGTH) ?? 'uncommitted',
    excerpt(agent ?? author ?? '?', WHO_LENGTH),
    excerpt(task ?? subject ?? '', WHY_LENGTH),
    String(line),
    printable(text),
  ];
}

function realFile(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new UserMistake(
      'no_file',
      `cannot read ${JSON.stringify(path)}: ${systemCode(error) ?? 'it cannot be read'}`,
    );
  }
}

/** Which agent wrote each line of a file and why, committed or not. */
import { readFileSync } from 'node:fs';
import { blameLines } from '../../git/provenance.ts';
import type { BlamedLine, MergeRepository } from '../../git/shapes.ts';
import { UserMistake } from '../../schema/errors.ts';
import { fileChanges } from './file-changes.ts';
import { lineOwners } from './line-owners.ts';
import { recordedContents } from './recorded-contents.ts';

export interface BlamePlace {
  repository: MergeRepository;
  /** The directory that Ramet keeps for it. */
  project: string;
  /** Hears which session cannot be read. */
  note(line: string): void;
}

/** `path` is absolute and has no links in it. */
export async function blameFile(path: string, place: BlamePlace): Promise<BlamedLine[]> {
  const lines = await knownLines(path, place);
  const open = lines.some(({ commit }) => commit === null);
  return open ? withOwners(lines, path, place) : lines;
}

/** Of a new file git knows no line. Where agents wrote it the journal does. */
async function knownLines(path: string, { repository, project, note }: BlamePlace): Promise<BlamedLine[]> {
  try {
    return await blameLines(path, repository);
  } catch (error) {
    const isNew = error instanceof UserMistake && error.code === 'not_committed';
    if (!isNew || fileChanges(project, { path }, note).length === 0) throw error;
    const texts = readFileSync(path, 'utf8').replace(/\n$/, '').split('\n');
    return texts.map((text, index) => ({ line: index + 1, text, commit: null, author: null, subject: null }));
  }
}

/** What the journal tells of the lines that git does not know yet. */
function withOwners(lines: readonly BlamedLine[], path: string, { project, note }: BlamePlace): BlamedLine[] {
  const changes = fileChanges(project, { path }, note);
  if (changes.length === 0) return [...lines];
  const owners = lineOwners(readFileSync(path, 'utf8'), changes, recordedContents(project, changes));
  return lines.map((line) => {
    const owner = line.commit === null ? owners[line.line - 1] : null;
    if (owner === null || owner === undefined) return line;
    return { ...line, agent: owner.agent, session: owner.session, task: owner.purpose ?? undefined };
  });
}

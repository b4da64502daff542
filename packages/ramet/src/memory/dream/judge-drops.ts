/**
 * What a model wants to remove from memory, and whether it may (BG-7). A line goes only for a reason that code can check:
 * another line that stays says all of it, a newer one says otherwise, or the repository disproves it. Everything else stays.
 */
import { LIKE } from './line-groups.ts';
import { likeness, type MemoryLine } from './memory-lines.ts';

/** The files of the repository, as far as a dream asks. Paths are relative, and none leads out. */
export interface DreamRepository {
  has(path: string): boolean;
  /** Whether a file has a text in it. */
  contains(path: string, text: string): boolean;
}

export type Drop =
  | { readonly line: MemoryLine; readonly reason: 'duplicate' | 'contradicted'; readonly keep: MemoryLine }
  | { readonly line: MemoryLine; readonly reason: 'disproved'; readonly by: string };

export interface RefusedDrop {
  readonly asked: string;
  readonly why: string;
}

export interface Judgement {
  readonly drops: readonly Drop[];
  readonly refused: readonly RefusedDrop[];
}

const DROP =
  /^DROP (L\d+) (?:(duplicate of|contradicted by) (L\d+)|missing (\S+)|disproved by (\S+): "(.{4,300})")$/;

/** `shown` are the lines that the model has seen; those in `gone` are removed already. */
export function judgeDrops(
  answer: string,
  shown: readonly MemoryLine[],
  repository: DreamRepository,
  gone: ReadonlySet<MemoryLine> = new Set(),
): Judgement {
  const byId = new Map(shown.map((line) => [line.id, line]));
  const left = new Set(gone);
  const needed = new Set<MemoryLine>();
  const drops: Drop[] = [];
  const refused: RefusedDrop[] = [];
  for (const asked of answer.split('\n').map((text) => text.trim())) {
    if (!asked.startsWith('DROP')) continue;
    const drop = judged(asked, byId, repository);
    const why = typeof drop === 'string' ? drop : whyNotNow(drop, left, needed);
    if (typeof drop === 'string' || why !== null)
      refused.push({ asked: asked.slice(0, 200), why: why ?? '' });
    else {
      drops.push(drop);
      left.add(drop.line);
      if ('keep' in drop) needed.add(drop.keep);
    }
  }
  return { drops, refused };
}

/** What a line was removed for must stay itself. */
function whyNotNow(
  drop: Drop,
  left: ReadonlySet<MemoryLine>,
  needed: ReadonlySet<MemoryLine>,
): string | null {
  if (left.has(drop.line)) return 'it is removed already';
  if (needed.has(drop.line)) return 'another line was removed for its sake';
  return 'keep' in drop && left.has(drop.keep) ? `${drop.keep.id} is removed itself` : null;
}

function judged(
  asked: string,
  byId: ReadonlyMap<string, MemoryLine>,
  repository: DreamRepository,
): Drop | string {
  const [, id = '', relation, other = '', missing, file = '', quote = ''] = DROP.exec(asked) ?? [];
  const line = byId.get(id);
  if (line === undefined) return 'it names no line, or gives no reason in one of the known forms';
  if (line.isPersons) return 'a person wrote it';
  if (missing !== undefined) return missingPath(line, missing, repository);
  if (relation === undefined)
    return repository.contains(file, quote)
      ? { line, reason: 'disproved', by: `${file}: "${quote}"` }
      : `${file} does not contain those words`;
  const keep = byId.get(other);
  if (keep === undefined || keep === line) return `there is no other line ${other}`;
  if (keep.scope !== line.scope) return `${keep.id} has other readers`;
  return relation === 'duplicate of' ? duplicate(line, keep) : contradicted(line, keep);
}

function duplicate(line: MemoryLine, keep: MemoryLine): Drop | string {
  const missing = [...line.words.difference(keep.words)];
  return missing.length === 0
    ? { line, reason: 'duplicate', keep }
    : `${keep.id} does not mention ${missing.slice(0, 5).join(', ')}`;
}

function contradicted(line: MemoryLine, keep: MemoryLine): Drop | string {
  if (likeness(line.words, keep.words) < LIKE) return `${keep.id} is about something else`;
  if (line.words.symmetricDifference(keep.words).size === 0) return `${keep.id} says the same`;
  if (keep.isPersons) return { line, reason: 'contradicted', keep };
  if (line.date === null || keep.date === null) return 'nobody knows which of them is newer';
  return keep.date > line.date ? { line, reason: 'contradicted', keep } : `${keep.id} is not newer`;
}

function missingPath(line: MemoryLine, path: string, repository: DreamRepository): Drop | string {
  if (!namedPaths(line.text).includes(path)) return `the line does not name ${path}`;
  return repository.has(path)
    ? `${path} is there`
    : { line, reason: 'disproved', by: `${path} is not there` };
}

const PATH = /(?<![\w/.:-])(?:\.\/)?((?:[\w.@-]+\/)+[\w.@-]+\.\w{1,8})(?![\w/])/g;

/** Files of the repository that a line names. */
export function namedPaths(text: string): string[] {
  return Array.from(text.matchAll(PATH), ([, path = '']) => path).filter((path) => !path.includes('..'));
}

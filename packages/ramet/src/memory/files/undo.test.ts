/** What `undo` promises, whatever a person and agents did to a file before it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { RametError } from '../../schema/errors.ts';
import type { ChangedFile, ChangeKind } from './memory-history.ts';
import { withFacts, withNote } from './memory-index.ts';
import { MemoryStore } from './memory-store.ts';
import { takenBack } from './merged-texts.ts';

const PERSON = { session: null, agent: null, turn: null };
const FILE = 'MEMORY.md';
const HEADINGS = ['## Notes of the user', '## build', '## tests', '# Mine', '### part'];

type Step =
  | { readonly do: 'note' | 'fact' | 'undo' }
  | { readonly do: 'agent' | 'hand'; readonly edits: readonly Edit[] };

interface Edit {
  readonly what: 'insert' | 'heading' | 'blank' | 'delete' | 'replace' | 'move' | 'end' | 'crlf' | 'lf';
  readonly at: number;
  readonly to: number;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  what: fc.constantFrom<Edit['what'][]>(
    ...(['insert', 'insert', 'heading', 'blank', 'delete', 'delete', 'replace', 'move'] as const),
    ...(['end', 'crlf', 'lf'] as const),
  ),
  at: fc.nat(30),
  to: fc.nat(30),
});
const edits = fc.array(edit, { minLength: 1, maxLength: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('note' as const, 'fact' as const, 'undo' as const) }),
  fc.record({ do: fc.constantFrom('agent' as const, 'hand' as const, 'hand' as const), edits }),
);

/** Each line that is written is another, so that a line can be followed. */
class Author {
  #lines = 0;

  line(who: string): string {
    return `- ${who} ${++this.#lines}`;
  }

  edited(text: string, who: string, changes: readonly Edit[]): string {
    return changes.reduce((now, change) => this.#edited(now, who, change), text);
  }

  #edited(text: string, who: string, { what, at, to }: Edit): string {
    if (what === 'end') return text.replace(/\n$/, '');
    if (what === 'crlf') return text.replace(/\r?\n/g, '\r\n');
    if (what === 'lf') return text.replace(/\r\n/g, '\n');
    const hasEnd = text.endsWith('\n');
    const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
    const place = at % (lines.length + 1);
    if (what === 'insert') lines.splice(place, 0, this.line(who));
    if (what === 'heading') lines.splice(place, 0, HEADINGS[to % HEADINGS.length] ?? '');
    if (what === 'blank') lines.splice(place, 0, '');
    if (what === 'delete') lines.splice(place, 1);
    if (what === 'replace' && place < lines.length)
      lines[place] = lines[place]?.startsWith('#') ? (HEADINGS[to % HEADINGS.length] ?? '') : this.line(who);
    if (what === 'move') lines.splice(to % (lines.length + 1), 0, ...lines.splice(place, 1));
    return lines.join('\n') + (hasEnd && lines.length > 0 ? '\n' : '');
  }
}

interface Stood {
  readonly line: string;
  /** The headings that it stands under, the outermost first. */
  readonly under: string;
}

/** The lines of a text that say something. */
function standing(text: string | null): Stood[] {
  let open: string[] = [];
  const levelOf = (line: string): number => /^#*/.exec(line)?.[0].length ?? 0;
  return (text ?? '')
    .replaceAll('\r', '')
    .split('\n')
    .flatMap((line): Stood[] => {
      const level = levelOf(line);
      if (level > 0) open = [...open.filter((heading) => levelOf(heading) < level), line];
      return line === '' || level > 0 ? [] : [{ line, under: open.join(' > ') }];
    });
}

const headingsOf = (text: string | null, wanted: string): string | undefined =>
  standing(text).find(({ line }) => line === wanted)?.under;

const isOfUser = (text: string | null, line: string): boolean =>
  headingsOf(text, line)?.includes('the user') === true;

/** Under the same heading, and as much the words of the user. */
function isAsIn(then: string | null, before: string | null, line: string): boolean {
  const [is, was] = [then, before].map((text) => headingsOf(text, line)?.split(' > ').at(-1));
  return is === was && isOfUser(then, line) === isOfUser(before, line);
}

function checkUndo({ before, after }: ChangedFile, now: string | null, then: string | null, kept: number) {
  const has = (text: string | null): Set<string> => new Set(standing(text).map(({ line }) => line));
  const [old, made, present, left] = [has(before), has(after), has(now), has(then)];
  if (now === after) {
    expect([then, kept]).toEqual([before, 0]);
    return;
  }
  for (const { line, under } of standing(now)) {
    const isOfChange = made.has(line) && !old.has(line);
    if (isOfChange) continue;
    expect(left, `${line} is lost`).toContain(line);
    const isWhere = headingsOf(then, line) === under || (made.has(line) && isAsIn(then, before, line));
    expect(isWhere, `${line} has moved`).toBe(true);
  }
  expect(standing(then)).toHaveLength(left.size);
  // What the change brought and nobody has touched is gone; a line that a person has put under their notes is theirs.
  const stays = [...left].filter((line) => made.has(line) && !old.has(line));
  for (const line of stays) expect([isOfUser(now, line), isOfUser(after, line)]).toEqual([true, false]);
  expect(kept).toBeGreaterThanOrEqual(stays.length);
  // What it removed, and nobody has put something else for, is back, under its heading.
  for (const line of [...left].filter((one) => !present.has(one)))
    expect(isAsIn(then, before, line), `${line} is back elsewhere`).toBe(true);
  if (kept === 0) {
    const missing = [...old].filter((line) => !made.has(line) && !left.has(line));
    const isTouched = written(now).some((line) => !written(after).includes(line));
    expect(isTouched || missing.length === 0, `${missing} not back`).toBe(true);
  }
}

const written = (text: string | null): string[] =>
  (text ?? '').split(/\r?\n|\r/).filter((line) => line !== '');

/** A file of memory, as the steps change it. */
interface Changed {
  now(): string | null;
  save(text: string): void;
  change(kind: ChangeKind, edit: (text: string | null) => string): Promise<void> | void;
  /** Those that can be undone, by their ids. */
  open(): Map<number, ChangedFile>;
  undo(id: number): Promise<{ kept: number; isChanged: boolean }> | { kept: number; isChanged: boolean };
}

function inMemory(): Changed {
  let now: string | null = null;
  const changes: ChangedFile[] = [];
  const open = new Map<number, ChangedFile>();
  const put = (after: string | null): boolean => {
    if (after === now) return false;
    const file = { path: FILE, before: now, after };
    open.set(changes.push(file), file);
    now = after;
    return true;
  };
  return {
    now: () => now,
    save(text) {
      now = text;
    },
    change(_, edit) {
      put(edit(now));
    },
    open: () => open,
    undo(id) {
      const file = open.get(id);
      if (file === undefined) throw new Error('no such change');
      const { text, kept } = takenBack(file, now);
      const isChanged = put(text);
      if (isChanged) open.delete(id);
      return { kept, isChanged };
    },
  };
}

function inStore(store: MemoryStore): Changed {
  const path = join(store.root, FILE);
  return {
    now: () => (existsSync(path) ? readFileSync(path, 'utf8') : null),
    save: (text) => writeFileSync(path, text),
    async change(kind, edit) {
      try {
        await store.change({ ...PERSON, kind }, (read) => new Map([[FILE, edit(read(FILE))]]));
      } catch (error) {
        // Agents put nothing under the notes of the user: then nothing was done.
        if (!(error instanceof RametError) || error.code !== 'memory_of_user') throw error;
      }
    },
    open() {
      const gone = new Set(store.changes().map(({ undoes }) => undoes));
      const open = store.changes().filter(({ id, kind }) => kind !== 'hand' && !gone.has(id));
      return new Map(open.flatMap(({ id, files }) => files.map((file) => [id, file] as const)));
    },
    async undo(id) {
      const { kept, change } = await store.undo(PERSON, id);
      return { kept, isChanged: change !== null };
    },
  };
}

async function take(memory: Changed, steps: readonly (readonly [Step, number])[]): Promise<void> {
  const author = new Author();
  for (const [one, choice] of [...steps, [{ do: 'undo' }, 0] as const]) {
    const now = memory.now();
    if (one.do === 'hand') memory.save(author.edited(now ?? '', 'hand', one.edits));
    else if (one.do === 'agent')
      await memory.change('agent', (text) => author.edited(text ?? '', 'agent', one.edits));
    else if (one.do === 'note') await memory.change('note', (text) => withNote(text, author.line('note')));
    else if (one.do === 'fact')
      await memory.change('extraction', (text) => {
        const fact = { topic: choice % 2 ? 'build' : 'tests', text: author.line('fact') };
        return withFacts(text, [fact], () => null).index;
      });
    else {
      const open = [...memory.open()];
      const [id, file] = open.at(-1 - (choice % (open.length || 1))) ?? [];
      if (id === undefined || file === undefined) continue;
      const { kept, isChanged } = await memory.undo(id);
      const then = memory.now();
      expect(isChanged).toBe(then !== now);
      checkUndo(file, now, then, kept);
    }
  }
}

describe('MEM-1: an undo takes back what nobody has touched, loses and moves no line of a person, and says what it did', () => {
  const steps = fc.array(fc.tuple(step, fc.nat(10)), { minLength: 2, maxLength: 10 });

  test('whatever was done to the text', async () => {
    await fc.assert(
      fc.asyncProperty(steps, (all) => take(inMemory(), all)),
      { numRuns: 1_000 },
    );
  });

  test('whatever was done to the file', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        using store = new MemoryStore(temporaryDirectory());
        await take(inStore(store), all);
      }),
      { numRuns: 15 },
    );
  });
});

test('MEM-1: undo brings no line of an agent under the notes of the user, and says what to do', async () => {
  using store = new MemoryStore(temporaryDirectory());
  const change = (kind: ChangeKind, text: string) =>
    store.change({ ...PERSON, kind }, () => new Map([[FILE, text]]));
  const open = '## Notes of the user\n- mine\n```\ncode\n';
  await change('edit', open);
  await change('edit', `${open}\`\`\`\n`);
  const closed = `${open}\`\`\`\n\n## Facts\n- by an agent\n`;
  await change('agent', closed);
  await expect(store.undo(PERSON, 2)).rejects.toThrow(
    /lines of agents would come .*; edit the file yourself/,
  );
  expect(store.read(FILE)).toBe(closed);
  await store.undo(PERSON, 3);
  await store.undo(PERSON, 2);
  expect(store.read(FILE)).toBe(open);
});

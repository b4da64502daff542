/**
 * A folder with one Markdown file per task, as Backlog.md keeps it: the front matter has id, status and dependencies, the
 * body is for the agent that does the task. Tasks that were moved to `completed` count as done.
 */
import { type Dirent, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { systemCode } from '../../schema/errors.ts';
import { emptyTask } from './listed-task.ts';
import { statusOfWord } from './status-words.ts';
import { safeText, type TaskDraft } from './task-draft.ts';

export const MOST_FILES = 10_000;
const DEEPEST = 6;

/** The Markdown files of a folder and those below it, by name. Links are not followed. */
export function taskFilesOf(folder: string): string[] {
  const found: string[] = [];
  const visit = (directory: string, depth: number): void => {
    for (const entry of entriesOf(directory)) {
      if (entry.name.startsWith('.') || found.length > MOST_FILES) continue;
      const path = join(directory, entry.name);
      if (entry.isDirectory() && depth < DEEPEST) visit(path, depth + 1);
      else if (entry.isFile() && entry.name.endsWith('.md')) found.push(path);
    }
  };
  visit(folder, 0);
  return found.sort((one, other) => collator.compare(one, other));
}

const collator = new Intl.Collator('en', { numeric: true });

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The ids of `completed` and `archive/tasks` beside a folder `tasks`, in lower case, by the names of their files. */
export function finishedIds(folder: string): Set<string> {
  const beside = [join(folder, '..', 'completed'), join(folder, '..', 'archive', 'tasks')];
  const names = beside.flatMap(taskFilesOf).map((path) => basename(path).toLowerCase());
  return new Set(names.flatMap((name) => /^([a-z][a-z0-9]*-[\w.]*?\w)(?: - |\.md$)/.exec(name)?.[1] ?? []));
}

/**
 * A folder whose prefix was changed from `task-` to `back-` keeps old dependencies: `task-7` is `BACK-7` if nothing else is
 * or could be. What is in no folder is ignored there, so it is only a warning.
 */
export function adoptRenamed(draft: TaskDraft, finished: ReadonlySet<string>): void {
  const ids = new Set([...draft.tasks.map(({ id }) => id.toLowerCase()), ...finished]);
  const renamedOf = renames(ids);
  for (const task of draft.tasks) {
    task.references = task.references.flatMap((reference) => {
      const id = reference.id.toLowerCase();
      if (ids.has(id)) return [reference];
      const renamed = renamedOf(id);
      if (renamed !== null) return [{ ...reference, id: renamed }];
      const at = { ...reference, file: task.file };
      draft.problem(
        at,
        `${task.id} depends on ${reference.id}, which is not in this folder: it is not waited for`,
        'warning',
      );
      return [];
    });
  }
}

const FIRST_PREFIX = 'task';

/** Drafts are counted by themselves, and a prefix that other tasks have was not changed, unless it is the one that all begin with. */
function renames(ids: ReadonlySet<string>): (id: string) => string | null {
  const counted = [...ids].filter((id) => prefixOf(id) !== 'draft');
  const byNumber = Map.groupBy(counted, numberOf);
  const prefixes = new Set(counted.map(prefixOf));
  return (id) => {
    const prefix = prefixOf(id);
    if (prefix === 'draft' || (prefix !== FIRST_PREFIX && prefixes.has(prefix))) return null;
    const [only, ...others] = byNumber.get(numberOf(id)) ?? [];
    return others.length === 0 ? (only ?? null) : null;
  };
}

function prefixOf(id: string): string {
  return /^[a-z]+(?=-)/i.exec(id)?.[0] ?? '';
}

/** `task-007.1` and `back-7.1` have one number. */
function numberOf(id: string): string {
  return id.replace(/^[a-z]+-0*/i, '').replace(/\.0+(?=\d)/g, '.');
}

const FRONT = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\n---[ \t]*(?:\r?\n|$)/;

/** What a task has in its front matter: if that cannot be read, a task would be lost. */
const FIELD = /^(?:id|status):/m;
const OPEN_FRONT = /^\ufeff?---[ \t]*\r?\n(?:[\w-]+:.*\r?\n|[ \t-].*\r?\n){0,50}?(?:id|status):/;

/** Whether a Markdown file is a task by itself. */
export function isTaskFile(text: string): boolean {
  const front = FRONT.exec(text.slice(0, 20_000))?.[1];
  return front !== undefined && /^id:/m.test(front) && /^status:/m.test(front);
}

/** Adds the task of one file; `left` takes the names of files that are none. */
export function readTaskFileOf(draft: TaskDraft, text: string, file: string, left: string[] = []): void {
  const front = FRONT.exec(text);
  if (front === null && OPEN_FRONT.test(text))
    draft.problem({ line: 1, column: 1, file }, 'nothing closes the front matter: end it with a line of ---');
  else if (front === null || !FIELD.test(front[1] ?? '')) left.push(file);
  else {
    const reader = new FrontMatter(front[1] ?? '', front[0].indexOf('\n') + 1);
    const { mistake } = reader;
    if (mistake !== null)
      draft.problem({ ...mistake, file }, `the front matter is no valid YAML: ${mistake.message}`);
    else if (isTaskFile(text)) addTask(draft, reader, file);
    else left.push(file);
  }
}

function addTask(draft: TaskDraft, reader: FrontMatter, file: string): void {
  const id = safeText(reader.text('id') ?? '', 80);
  const place = { ...reader.placeOf('id'), file };
  if (id === '') {
    draft.problem(place, 'this task has no id');
    return;
  }
  const task = emptyTask(id, safeText(reader.text('title') ?? id), { file, line: place.line });
  const word = reader.text('status') ?? '';
  const status = statusOfWord(word);
  if (status === undefined)
    draft.problem(
      { ...reader.placeOf('status'), file },
      `the status "${word}" of ${id} is not known: use To Do, In Progress or Done`,
    );
  else task.status = status;
  const mark = reader.markOf('status');
  task.mark = mark === null ? null : { ...mark, kind: 'backlog' };
  task.parent = reader.text('parent_task_id') ?? null;
  task.placed = true;
  task.references = reader.list('dependencies').map(({ text: id, ...at }) => ({ id, ...at }));
  for (const { text: path, ...at } of [...reader.list('files'), ...reader.list('modified_files')])
    draft.fileNames.push({ task, path, ...at, sure: true });
  draft.tasks.push(task);
}

interface Placed {
  text: string;
  line: number;
  column: number;
}

class FrontMatter {
  readonly #document: ReturnType<typeof parseDocument>;
  readonly #lines: LineCounter = new LineCounter();
  readonly #start: number;

  /** `start` is where the YAML begins in the file. */
  constructor(yaml: string, start: number) {
    this.#start = start;
    this.#document = parseDocument(yaml, {
      lineCounter: this.#lines,
      prettyErrors: false,
      logLevel: 'silent',
    });
  }

  get mistake(): { line: number; column: number; message: string } | null {
    const [error] = this.#document.errors;
    if (error !== undefined)
      return { ...this.#place(error.pos[0]), message: error.message.split('\n', 1)[0] ?? '' };
    return isMap(this.#document.contents)
      ? null
      : { line: 2, column: 1, message: 'fields are written as "name: value"' };
  }

  #node(key: string): unknown {
    return isMap(this.#document.contents) ? this.#document.contents.get(key, true) : undefined;
  }

  #place(offset: number): { line: number; column: number } {
    const { line, col } = this.#lines.linePos(offset);
    return { line: line + 1, column: col };
  }

  text(key: string): string | undefined {
    const node = this.#node(key);
    return isScalar(node) && node.value !== null ? String(node.value).trim() : undefined;
  }

  placeOf(key: string): { line: number; column: number } {
    const node = this.#node(key);
    return isScalar(node) ? this.#place(node.range?.[0] ?? 0) : { line: 2, column: 1 };
  }

  list(key: string): Placed[] {
    const node = this.#node(key);
    const items = isSeq(node) ? node.items : isScalar(node) && node.value !== null ? [node] : [];
    return items.flatMap((item) => {
      if (!isScalar(item) || item.value === null || item.value === '') return [];
      return [{ text: String(item.value).trim(), ...this.#place(item.range?.[0] ?? 0) }];
    });
  }

  markOf(key: string): { start: number; end: number } | null {
    const node = this.#node(key);
    if (!isScalar(node) || node.range === undefined || node.range === null) return null;
    const [start, end] = node.range.map((offset) => offset + this.#start);
    if (start === undefined || end === undefined) return null;
    const quoted = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE';
    return quoted ? { start: start + 1, end: end - 1 } : { start, end };
  }
}

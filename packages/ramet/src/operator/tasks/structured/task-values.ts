/**
 * Tasks as values: Task Master's JSON with its tags and subtasks, and a YAML or JSON list of our own. Of what a task
 * carries only its fields are kept: hundreds of kilobytes of details stay in the file.
 */
import { emptyTask, type ListedTask, type StatusMark, type TaskReference } from '../listed-task.ts';
import { statusOfWord } from '../status-words.ts';
import { safeText, TaskDraft } from '../task-draft.ts';

const LONGEST_ID = 80;

export type ValuePath = readonly (string | number)[];

/** Where values are in the file. */
export interface ValuePlaces {
  placeOf(path: ValuePath): { line: number; column: number };
  /** The text of the value, without its quotes. */
  markOf(path: ValuePath): { start: number; end: number } | null;
  /** Where an entry without a status can get one. */
  newMarkOf(path: ValuePath): Omit<StatusMark, 'kind'> | null;
}

export interface ValueOptions {
  file: string;
  /** Which list of a file that has several. */
  tag: string | undefined;
  /** Keys that are not known are mistakes. */
  strict: boolean;
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  id: ['id', 'key'],
  title: ['title', 'name', 'subject', 'content', 'description', 'prompt'],
  status: ['status', 'state'],
  done: ['done', 'completed'],
  depends: ['depends_on', 'dependsOn', 'dependencies', 'depends', 'needs', 'requires', 'after', 'blocked_by'],
  files: ['files', 'touches', 'paths'],
  parts: ['subtasks', 'children', 'tasks'],
  parallel: ['parallel'],
  optional: ['optional'],
  phase: ['phase', 'wave'],
  gate: ['gate'],
};
const SETTINGS = ['check', 'model', 'type', 'budget', 'max_turns', 'effort', 'isolation', 'review'] as const;
const ALLOWED = new Set([...Object.values(KEYS).flat(), ...SETTINGS, 'details']);
const DEEPEST = 5;

type Fields = Readonly<Record<string, unknown>>;

export function readTaskValues(value: unknown, places: ValuePlaces, options: ValueOptions): TaskDraft {
  const reader = new ValueReader(places, options);
  reader.root(value);
  return reader.draft;
}

class ValueReader {
  readonly draft: TaskDraft;
  readonly #places: ValuePlaces;
  readonly #options: ValueOptions;
  readonly #phases: Map<string, number> = new Map();

  constructor(places: ValuePlaces, options: ValueOptions) {
    this.draft = new TaskDraft(options.file);
    this.draft.ordered = false;
    this.#places = places;
    this.#options = options;
  }

  root(value: unknown): void {
    if (Array.isArray(value)) this.#list(value, [], null);
    else if (!isFields(value))
      this.draft.problem({ line: 1 }, 'a list of tasks should be here: write "tasks:" and a list below it');
    else if (Array.isArray(value.tasks)) this.#list(value.tasks, ['tasks'], null);
    else this.#tagged(value);
  }

  /** `{"master": {"tasks": []}, "feature": {"tasks": []}}`. */
  #tagged(value: Fields): void {
    const tags = Object.keys(value).filter((tag) => Array.isArray(tasksOf(value[tag])));
    const { tag: wanted } = this.#options;
    const tag = wanted ?? (tags.includes('master') ? 'master' : tags.length === 1 ? tags[0] : undefined);
    if (tags.length === 0)
      this.draft.problem({ line: 1 }, 'no list "tasks" is in this file: write "tasks:" and a list below it');
    else if (tag === undefined || !tags.includes(tag))
      this.draft.problem({ line: 1 }, `this file has the lists ${tags.join(', ')}: choose one with --tag`);
    else {
      for (const other of tags.filter((one) => one !== tag)) {
        const { line } = this.#places.placeOf([other]);
        const count = tasksOf(value[other])?.length ?? 0;
        this.draft.ignore(line, `the list "${other}" (${count} tasks): read it with --tag ${other}`);
      }
      this.#list(tasksOf(value[tag]) ?? [], [tag, 'tasks'], null);
    }
  }

  #list(values: readonly unknown[], path: ValuePath, parent: ListedTask | null): void {
    const siblings = new Set(values.map((one, index) => idOf(one, index)));
    for (const [index, value] of values.entries()) {
      const at = [...path, index];
      if (typeof value === 'string') this.#task({ title: value }, at, { parent, siblings, index });
      else if (isFields(value)) this.#task(value, at, { parent, siblings, index });
      else
        this.draft.problem(this.#places.placeOf(at), 'a task is a text or has fields such as id and title');
    }
  }

  #task(fields: Fields, path: ValuePath, around: Around): void {
    const { line } = this.#places.placeOf('id' in fields ? [...path, 'id'] : path);
    const own = idOf(fields, around.index);
    const { parent } = around;
    const id = safeText(
      parent === null || own.startsWith(`${parent.id}.`) ? own : `${parent.id}.${own}`,
      LONGEST_ID,
    );
    const title = safeText(textOf(pick(fields, 'title')?.value) ?? '');
    if (id !== own && id.endsWith('…'))
      this.draft.problem(
        this.#places.placeOf([...path, 'id']),
        `this id is longer than ${LONGEST_ID} characters: give it a shorter one`,
      );
    else if (safeText(own, Number.POSITIVE_INFINITY) !== own.trim())
      this.draft.problem(
        this.#places.placeOf([...path, 'id']),
        `the id ${id} has line breaks or control characters: give it a plain one`,
      );
    const task = emptyTask(id, title === '' ? id : title, { file: this.draft.file, line });
    this.draft.tasks.push(task);
    this.draft.read(line, `task ${id}`);
    Object.assign(task, { parent: parent?.id ?? null, placed: true });
    if (title === '') this.draft.problem(this.#places.placeOf(path), `the task ${id} has no title`);
    this.#unknownKeys(fields, path);
    this.#status(task, fields, path);
    this.#flags(task, fields, path);
    this.#depends(task, fields, path, around);
    this.#files(task, fields, path);
    this.#parts(task, fields, path);
  }

  #unknownKeys(fields: Fields, path: ValuePath): void {
    if (!this.#options.strict) return;
    for (const key of Object.keys(fields).filter((one) => !ALLOWED.has(one)))
      this.draft.problem(
        this.#places.placeOf([...path, key]),
        `the key "${key}" is not known: a task has id, title, status, depends_on, files, phase, parallel, optional, check, model, type, budget, max_turns, effort, isolation, review, gate and subtasks`,
      );
  }

  #status(task: ListedTask, fields: Fields, path: ValuePath): void {
    const said = pick(fields, 'status');
    if (said === undefined) {
      if (pick(fields, 'done')?.value === true) task.status = 'done';
      else task.mark = this.#newMark(path);
      return;
    }
    const status = typeof said.value === 'string' ? statusOfWord(said.value) : undefined;
    const at = [...path, said.key];
    if (status === undefined)
      this.draft.problem(
        this.#places.placeOf(at),
        `the status ${shown(said.value)} of ${task.id} is not known: use open, in_progress, done, cancelled or deferred`,
      );
    else {
      task.status = status;
      task.mark = this.#mark(at, String(said.value));
    }
  }

  #mark(path: ValuePath, value: string): StatusMark | null {
    const range = this.#places.markOf(path);
    const isTaskMaster =
      !this.#options.strict && /^(?:pending|in-progress|done|review|deferred|cancelled)$/.test(value);
    return range === null ? null : { ...range, kind: isTaskMaster ? 'task-master' : 'word' };
  }

  #newMark(path: ValuePath): StatusMark | null {
    const place = this.#places.newMarkOf(path);
    return place === null ? null : { ...place, kind: 'word' };
  }

  #flags(task: ListedTask, fields: Fields, path: ValuePath): void {
    task.parallel = this.#flag(task, fields, path, 'parallel');
    task.optional = this.#flag(task, fields, path, 'optional');
    task.gate = textOf(pick(fields, 'gate')?.value) ?? null;
    const phase = textOf(pick(fields, 'phase')?.value);
    if (phase !== undefined) {
      task.phase = safeText(phase, 200);
      task.barrier = this.#phases.get(phase) ?? this.#phases.size + 1;
      this.#phases.set(phase, task.barrier);
    }
    // Task Master has fields of these names with other meanings.
    if (!this.#options.strict) return;
    for (const name of SETTINGS) {
      const value = textOf(name === 'review' ? joined(fields[name]) : fields[name]);
      if (value !== undefined) {
        task.settings = { ...task.settings, [name]: safeText(value, 1000) };
        task.settingPlaces[name] = this.#places.placeOf([...path, name]);
      } else if (name in fields)
        this.draft.problem(this.#places.placeOf([...path, name]), `"${name}" of ${task.id} is a text`);
    }
  }

  #flag(task: ListedTask, fields: Fields, path: ValuePath, name: 'parallel' | 'optional'): boolean {
    const value = fields[name];
    if (this.#options.strict && name in fields && typeof value !== 'boolean')
      this.draft.problem(
        this.#places.placeOf([...path, name]),
        `"${name}" of ${task.id} is ${shown(value)}: write true or false`,
      );
    return value === true;
  }

  #depends(task: ListedTask, fields: Fields, path: ValuePath, around: Around): void {
    const said = pick(fields, 'depends');
    if (said === undefined || said.value === null) return;
    const list = typeof said.value === 'string' ? said.value.split(',').map((one) => one.trim()) : said.value;
    const values = Array.isArray(list) ? list : [list];
    for (const [index, value] of values.entries()) {
      const at = Array.isArray(said.value) ? [...path, said.key, index] : [...path, said.key];
      const id = textOf(isFields(value) ? value.id : value);
      if (id === undefined || id === '')
        this.draft.problem(
          this.#places.placeOf(at),
          `${task.id} depends on ${shown(value)}: write ids of tasks`,
        );
      else task.references.push(this.#reference(id, this.#places.placeOf(at), around));
    }
  }

  /** Inside a task, `2` is its own part 2 before it is the task 2. */
  #reference(id: string, at: { line: number; column: number }, { parent, siblings }: Around): TaskReference {
    return { id: parent !== null && siblings.has(id) ? `${parent.id}.${id}` : id, ...at };
  }

  #files(task: ListedTask, fields: Fields, path: ValuePath): void {
    const said = pick(fields, 'files');
    if (said === undefined || said.value === null) return;
    for (const [index, value] of (Array.isArray(said.value) ? said.value : [said.value]).entries()) {
      const at = this.#places.placeOf(
        Array.isArray(said.value) ? [...path, said.key, index] : [...path, said.key],
      );
      if (typeof value === 'string' && value !== '')
        this.draft.fileNames.push({ task, path: value, ...at, sure: true });
      else this.draft.problem(at, `the files of ${task.id} are paths`);
    }
  }

  #parts(task: ListedTask, fields: Fields, path: ValuePath): void {
    const said = pick(fields, 'parts');
    if (said === undefined || !Array.isArray(said.value)) return;
    if (path.length > DEEPEST * 2)
      this.draft.problem(
        this.#places.placeOf(path),
        `the parts of ${task.id} are nested too deep: ${DEEPEST} levels are the most`,
      );
    else this.#list(said.value, [...path, said.key], task);
  }
}

interface Around {
  parent: ListedTask | null;
  siblings: ReadonlySet<string>;
  index: number;
}

function pick(fields: Fields, name: keyof typeof KEYS): { key: string; value: unknown } | undefined {
  const key = KEYS[name]?.find((one) => Object.hasOwn(fields, one));
  return key === undefined ? undefined : { key, value: fields[key] };
}

/** Its own id, or else its position. */
function idOf(task: unknown, index: number): string {
  const id = isFields(task) ? textOf(pick(task, 'id')?.value) : undefined;
  return id ?? String(index + 1);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function tasksOf(value: unknown): readonly unknown[] | undefined {
  return isFields(value) && Array.isArray(value.tasks) ? value.tasks : undefined;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** A list of names as one text. */
function joined(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.length === 0
    ? 'none'
    : value.every((one) => typeof one === 'string')
      ? value.join(', ')
      : null;
}

function shown(value: unknown): string {
  return safeText(JSON.stringify(value) ?? 'nothing', 80);
}

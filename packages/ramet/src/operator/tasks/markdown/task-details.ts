/** What stands below a task: more of its title, its fields, and details that name files and dependencies. */
import { filesInField, filesInProse, type NamedFile } from '../file-hints.ts';
import { type IdList, leftId, proseDependencies, readIdList } from '../id-list.ts';
import type { ListedTask, TaskReference, TaskSettings } from '../listed-task.ts';
import { statusOfMark, statusOfWord } from '../status-words.ts';
import { safeText, type TaskDraft } from '../task-draft.ts';
import { withoutSaid } from './dependency-words.ts';
import { gatedTasks, namesGate } from './gates.ts';
import type { MarkdownLine } from './markdown-lines.ts';
import {
  type FieldName,
  isProhibition,
  namesCriteria,
  readField,
  saysNothing,
  saysYes,
  type TaskField,
} from './task-fields.ts';
import type { TaskHead } from './task-id.ts';

const LIST_GOES_ON = /[,\u3001\uff0c]\s*$/;
const TAG = /@depend(?:s|encies)\(([^()]{0,200})\)/g;

export class Details {
  readonly #draft: TaskDraft;
  #title: { task: ListedTask; parts: string[] } | null = null;
  #field: { task: ListedTask; name: FieldName; indent: number; isList: boolean } | null = null;
  #criteria: { indent: number } | null = null;
  /** A list of ids that the next line continues. */
  #wrapped: WrappedList | null = null;
  readonly #steps: Map<ListedTask, { done: number; all: number }> = new Map();

  constructor(draft: TaskDraft) {
    this.#draft = draft;
  }

  /** Whether the next line may continue the title. */
  get inTitle(): boolean {
    return this.#title !== null;
  }

  begin(task: ListedTask, line: MarkdownLine, { title, titleAt }: TaskHead): void {
    this.#endTitle();
    this.#field = null;
    this.#criteria = null;
    this.#wrapped = null;
    this.#title = { task, parts: [title] };
    this.#take(task, line.body, { line: line.number, at: line.bodyAt }, titleAt);
  }

  blank(): void {
    this.#endTitle();
  }

  finish(): void {
    this.#endTitle();
    this.#field = null;
    this.#criteria = null;
    for (const [task, { done, all }] of this.#steps)
      if (task.mark === null && task.status === 'open' && done > 0)
        task.status = done === all ? 'done' : 'in_progress';
    this.#steps.clear();
  }

  /** A box of the task that is not a task itself. */
  step(task: ListedTask, done: boolean): void {
    this.#endTitle();
    if (!done) task.openSteps += 1;
    const steps = this.#steps.get(task) ?? { done: 0, all: 0 };
    this.#steps.set(task, { done: steps.done + (done ? 1 : 0), all: steps.all + 1 });
  }

  inCriteria(indent: number): boolean {
    return this.#criteria !== null && indent >= this.#criteria.indent;
  }

  /** A label such as "Acceptance:" outside any task. */
  label(line: MarkdownLine): void {
    this.#endTitle();
    const isLabel = /[:\uff1a]\s*\**$/.test(line.body) || /^\*\*[^*]{1,80}\*\*$/.test(line.body);
    if (isLabel && (namesCriteria(line.body) || isProhibition(line.body.replace(/^\*\*/, ''))))
      this.#criteria = { indent: line.indent };
    else if (line.kind === 'text') this.#criteria = null;
  }

  /** Returns how the line was read. */
  detail(task: ListedTask, line: MarkdownLine): string {
    const place = { line: line.number, at: line.bodyAt };
    const field = readField(line.body);
    if (field !== null) {
      this.#endTitle();
      return this.#takeField(task, field, line);
    }
    if (this.#title?.task === task && line.kind === 'text') {
      this.#title.parts.push(line.body);
      this.#take(task, line.body, place, 0);
      return `more of the title of ${task.id}`;
    }
    this.#endTitle();
    if (this.#field !== null && this.#field.task === task && line.indent > this.#field.indent) {
      const { name, isList } = this.#field;
      if (isList && !LIST_GOES_ON.test(line.body)) this.#field = null;
      return this.#takeValue(task, name, line.body, place);
    }
    this.#field = null;
    this.label(line);
    this.#take(task, line.body, place, 0);
    return `a detail of ${task.id}`;
  }

  #takeField(task: ListedTask, { name, value, valueAt, sure }: TaskField, line: MarkdownLine): string {
    const place = { line: line.number, at: line.bodyAt + valueAt };
    const isList = name === 'files' && LIST_GOES_ON.test(value);
    // A list of files may go on right below its name.
    const indent = isList && line.kind === 'text' ? line.indent - 1 : line.indent;
    this.#field = value === '' || isList ? { task, name, indent, isList } : null;
    if (name === 'criteria') this.#criteria = { indent: line.indent };
    if (value === '') return `a field of ${task.id}`;
    if (name === 'status' && task.mark === null) return this.#takeStatus(task, value, line, valueAt);
    return this.#takeValue(task, name, value, place, sure);
  }

  #takeValue(task: ListedTask, name: FieldName, value: string, place: Place, sure = true): string {
    const clean = safeText(value.replaceAll('`', ''), 1000);
    switch (name) {
      case 'depends':
        return this.#takeDependencies(task, value, place, sure);
      case 'files':
        this.#name(task, filesInField(value), place, true);
        return `files of ${task.id}`;
      case 'boundary':
        this.#name(task, filesInProse(value), place);
        return `the boundary of ${task.id}`;
      case 'parallel':
        task.parallel ||= saysYes(value);
        return `whether ${task.id} may run in parallel`;
      case 'optional':
        task.optional ||= saysYes(value);
        return `whether ${task.id} is optional`;
      case 'check':
      case 'model':
      case 'type':
      case 'budget':
      case 'max_turns':
      case 'effort':
      case 'review':
      case 'isolation':
        task.settings = { ...task.settings, [name]: clean } satisfies TaskSettings;
        task.settingPlaces[name] = { line: place.line, column: place.at + 1 };
        return `the ${name} of ${task.id}`;
      case 'reference':
      case 'criteria':
      case 'status':
        return `a detail of ${task.id}`;
    }
  }

  #takeDependencies(task: ListedTask, value: string, place: Place, sure: boolean): string {
    if (saysNothing(value)) {
      task.placed = true;
      return `${task.id} depends on nothing`;
    }
    const list = readIdList(value, 0, { line: place.line, prose: !sure });
    const { references } = list;
    if (references.length === 0) return `a detail of ${task.id}: no task id in it, so no dependency`;
    task.placed = true;
    task.references.push(...references.map((one) => ({ ...one, column: one.column + place.at })));
    const foreign = list.foreign ?? (sure ? leftId(value, list.end, false) : null);
    const rest = { to: task.references, place, isWeak: false, prose: !sure, who: task.id };
    this.#restOf({ ...list, foreign }, rest);
    return `dependencies of ${task.id}`;
  }

  /** What a list has on the next line, and what it has of other files. */
  #restOf(
    { isOpen, foreign }: Pick<IdList, 'isOpen' | 'foreign'>,
    rest: Omit<WrappedList, 'line'> & { place: Place },
  ): void {
    const { place, ...known } = rest;
    if (isOpen) this.#wrapped = { ...known, line: place.line };
    if (foreign !== null)
      this.#draft.problem(
        { line: place.line },
        /[/:#!]/.test(foreign)
          ? `${safeText(foreign, 80)} is no task of this file, so ${rest.who} does not wait for it`
          : `${foreign} stands apart from the other ids, so ${rest.who} does not wait for it: write ids with commas between them`,
        'warning',
      );
  }

  /** The rest of a list that the line before has begun. */
  #continueList(text: string, place: Place): void {
    const wrapped = this.#wrapped;
    this.#wrapped = null;
    if (wrapped === null || wrapped.line + 1 !== place.line) return;
    const list = readIdList(text, 0, { line: place.line, prose: wrapped.prose });
    wrapped.to.push(
      ...list.references.map((one) => ({
        ...{ ...one, column: one.column + place.at, weak: one.weak === true || wrapped.isWeak },
      })),
    );
    this.#restOf(list, { ...wrapped, place });
  }

  /** Of a heading that is a task: `Status: [ ] pending`, `Status: In Progress`. */
  #takeStatus(task: ListedTask, value: string, line: MarkdownLine, valueAt: number): string {
    const box = /^\[(.?)\]/u.exec(value);
    const status = box === null ? statusOfWord(value) : statusOfMark(box[1] ?? '', false);
    if (status === undefined) {
      const at = { line: line.number, column: line.bodyAt + valueAt + 1 };
      this.#draft.problem(
        at,
        `the status "${value}" is not known: use open, in progress, done, cancelled or deferred`,
      );
      return `the status of ${task.id}`;
    }
    task.status = status;
    const start = line.start + line.bodyAt + valueAt;
    const word = /^[A-Za-z][A-Za-z _-]*/.exec(value)?.[0].trim() ?? '';
    if (box !== null) task.mark = { start: start + 1, end: start + box[0].length - 1, kind: 'box' };
    else if (word !== '') task.mark = { start, end: start + word.length, kind: 'word' };
    return `the status of ${task.id}`;
  }

  /** Files, dependencies and gates that the text of a task names. */
  #take(task: ListedTask, text: string, place: Place, from: number): void {
    this.#continueList(text, place);
    this.#name(task, filesInProse(text.slice(from)), { ...place, at: place.at + from });
    for (const { subjects, objects, strong, isOpen, foreign } of proseDependencies(text, place.line)) {
      const others = subjects.filter(({ id }) => id !== task.id);
      const moved = objects.map((one) => ({
        ...one,
        column: one.column + place.at,
        weak: one.weak === true || !strong,
      }));
      if (others.length > 0) this.#draft.edges.push({ subjects: others, objects: moved });
      else {
        task.references.push(...moved);
        task.placed ||= strong;
      }
      const to = others.length > 0 ? moved : task.references;
      const who = others[0]?.id ?? task.id;
      this.#restOf({ isOpen, foreign }, { to, place, isWeak: !strong, prose: true, who });
    }
    for (const { 0: tag, 1: value = '', index } of text.matchAll(TAG))
      this.#takeDependencies(task, value, { ...place, at: place.at + index + tag.indexOf('(') + 1 }, true);
    if (namesGate(text)) this.#takeGate(task, text, place);
  }

  #takeGate(task: ListedTask, text: string, { line }: Place): void {
    const { held, approved } = gatedTasks(text, line);
    if (held.length === 0) task.gate ??= safeText(text, 300);
    else this.#draft.gates.push({ text: safeText(text, 300), held, approved });
  }

  #name(task: ListedTask, files: readonly NamedFile[], place: Place, sure = false): void {
    for (const { path, at } of files)
      this.#draft.fileNames.push({ task, path, line: place.line, column: place.at + at + 1, sure });
  }

  #endTitle(): void {
    if (this.#title === null) return;
    const { task, parts } = this.#title;
    const { title: left, unread } = withoutSaid(safeText(parts.join(' '), 4_000));
    if (unread !== null)
      this.#draft.problem(
        { line: task.line, file: task.file },
        `${unread} names no task, so ${task.id} waits for none: write the id of a task, or other words`,
        'warning',
      );
    const title = safeText(left);
    task.title = title === '' ? task.id : title;
    this.#title = null;
  }
}

interface WrappedList {
  /** Where its ids go. */
  to: TaskReference[];
  line: number;
  isWeak: boolean;
  prose: boolean;
  /** Who waits for them. */
  who: string;
}

interface Place {
  line: number;
  /** Columns before the text. */
  at: number;
}

/**
 * Task lists in Markdown: spec-kit, Kiro, cc-sdd, OpenSpec, headings as tasks, and plain boxes. One pass over the lines
 * with the headings and tasks around them.
 *
 * 1. Every line that is not blank is read as something, or is among the ignored ones with a reason.
 * 2. Nothing inside a fence or a comment is a task, whatever it looks like.
 * 3. A box without an id is a task only if no box of the file around it says otherwise.
 */
import { proseDependencies, readIdList } from '../id-list.ts';
import { emptyTask, type ListedTask, type TaskReference } from '../listed-task.ts';
import { statusOfMark } from '../status-words.ts';
import { safeText, TaskDraft } from '../task-draft.ts';
import { readArrows, readPhaseLine, readRequiresLine, readWaves } from './dependency-graphs.ts';
import { warnOfShortIds } from './dependency-words.ts';
import { gatedTasks, namesGate } from './gates.ts';
import { headingTasks } from './heading-tasks.ts';
import { Headings } from './headings.ts';
import { asBoxes, LONGEST_LINE, type MarkdownLine, scanMarkdown } from './markdown-lines.ts';
import { Details } from './task-details.ts';
import { isProhibition } from './task-fields.ts';
import { candidateId, habitOf, type IdHabit, readHead, type TaskHead } from './task-id.ts';

export interface MarkdownOptions {
  file: string;
  /** Read list items without a box as tasks if the file has no boxes. */
  bullets: boolean;
}

export function readMarkdown(text: string, options: MarkdownOptions): TaskDraft {
  const { lines, openFence, cut } = scanMarkdown(text);
  const reader = new MarkdownReader(options, asBoxes(lines, options.bullets));
  const draft = reader.read();
  if (openFence !== null)
    draft.problem(
      { line: openFence },
      'nothing closes this fence: everything below it was read as code; close it',
    );
  for (const line of cut)
    draft.problem({ line }, `only the first ${LONGEST_LINE} characters of this line were read`, 'warning');
  warnOfShortIds(draft, text);
  return draft;
}

class MarkdownReader {
  readonly #draft: TaskDraft;
  readonly #lines: readonly MarkdownLine[];
  readonly #habit: IdHabit;
  readonly #headingTasks: Map<number, TaskHead>;
  readonly #headings: Headings = new Headings();
  readonly #details: Details;
  /** The tasks that a line may belong to, outermost first. */
  #open: { task: ListedTask; indent: number }[] = [];
  readonly #children: Map<string, number> = new Map();
  #inCriteria = false;
  #previous: MarkdownLine | null = null;
  /** Gates that no task has been found for yet, with their lines. */
  readonly #unused: Map<string, number> = new Map();
  /** Ids that others wait for, which the next line continues. */
  #wrapped: { objects: TaskReference[]; line: number } | null = null;

  constructor({ file }: MarkdownOptions, lines: readonly MarkdownLine[]) {
    this.#draft = new TaskDraft(file);
    this.#details = new Details(this.#draft);
    this.#lines = lines;
    this.#habit = habitOf(lines.filter(({ kind }) => kind === 'box').map(({ body }) => body));
    this.#headingTasks = headingTasks(lines, this.#habit);
  }

  read(): TaskDraft {
    for (const line of this.#lines) {
      this.#line(line);
      this.#previous = line;
    }
    this.#details.finish();
    this.#reportUnusedGates();
    return this.#draft;
  }

  #line(line: MarkdownLine): void {
    if (line.kind === 'blank') this.#details.blank();
    else if (line.kind === 'heading') this.#heading(line);
    else if (line.kind === 'box') this.#box(line);
    else if (line.kind === 'fence') this.#fence(line);
    else if (line.kind === 'comment') this.#comment(line);
    else if (line.kind === 'front') this.#draft.ignore(line.number, 'front matter');
    else if (line.kind === 'rule') this.#rule(line);
    else this.#prose(line);
  }

  #rule(line: MarkdownLine): void {
    this.#open = [];
    this.#draft.read(line.number, 'a line between parts');
  }

  #heading(line: MarkdownLine): void {
    this.#open = [];
    this.#details.finish();
    const head = this.#headingTasks.get(line.number);
    const task = head === undefined ? null : this.#add(line, head, line.markAt >= 0 ? line.mark : ' ');
    const what = this.#headings.enter(line, task);
    if (task !== null) this.#open = [{ task, indent: -1 }];
    this.#draft.read(line.number, task === null ? what : `task ${task.id}`);
  }

  #box(line: MarkdownLine): void {
    this.#open = this.#open.filter(({ indent }) => indent < line.indent);
    const head = readHead(line.body, this.#habit.accepts);
    const around = this.#open.at(-1)?.task ?? null;
    const why = head.id === null ? this.#notATask(line, around) : null;
    if (why !== null) {
      if (around !== null) this.#details.step(around, statusOfMark(line.mark, false) === 'done');
      this.#draft.ignore(line.number, why);
    } else if (statusOfMark(line.mark, this.#habit.numbered) === undefined) this.#unknownMark(line, head);
    else this.#taskBox(line, head, around);
  }

  #unknownMark({ number, bodyAt, mark }: MarkdownLine, { id }: TaskHead): void {
    const known = 'use [ ], [x], [/], [-] or [>]';
    if (id !== null)
      this.#draft.problem(
        { line: number, column: bodyAt },
        `the mark [${mark}] of ${id} is not known: ${known}`,
      );
    this.#draft.ignore(number, `[${mark}] is no mark of a task`);
  }

  #taskBox(line: MarkdownLine, head: TaskHead, around: ListedTask | null): void {
    const task = this.#add(line, head, line.mark);
    task.parent = around === null ? null : around.id;
    task.optional ||= line.starred;
    // Struck through: it will not be done.
    if (line.body.startsWith('~~') && task.status === 'open') task.status = 'cancelled';
    this.#open.push({ task, indent: line.indent });
    this.#details.begin(task, line, head);
    this.#draft.read(line.number, `task ${task.id}`);
  }

  /** Why a box without an id is not a task; null if it is one. */
  #notATask(line: MarkdownLine, around: ListedTask | null): string | null {
    const of = around === null ? '' : ` of ${around.id}`;
    if (this.#inCriteria || this.#headings.criteria) return `an acceptance criterion or prohibition${of}`;
    if (this.#details.inCriteria(line.indent)) return `a criterion or prohibition${of}`;
    if (around === null) return null;
    if (this.#headings.task === around) return `a step${of}: a box without an id`;
    if (isProhibition(line.body)) return `a prohibition${of}`;
    return this.#habit.any ? `a part${of}: a box without an id` : null;
  }

  #add(line: MarkdownLine, head: TaskHead, mark: string): ListedTask {
    const around = this.#open.at(-1)?.task ?? null;
    const id = safeText(head.id ?? this.#newId(line, around), 80);
    const task = emptyTask(id, safeText(head.title), { file: this.#draft.file, line: line.number });
    task.status = statusOfMark(mark, this.#habit.numbered) ?? 'open';
    task.parallel = head.parallel;
    task.optional = head.optional;
    task.phase = this.#headings.phase === null ? null : safeText(this.#headings.phase, 200);
    task.barrier = this.#headings.barrier;
    task.gate = this.#headings.gate;
    if (task.gate !== null) this.#unused.delete(task.gate);
    task.references.push(...this.#headings.depends);
    const kind = this.#habit.numbered ? 'numbered-box' : 'box';
    if (line.markAt >= 0) task.mark = { start: line.markAt, end: line.markAt + mark.length, kind };
    this.#draft.tasks.push(task);
    return task;
  }

  /** `1`, `2`, `2.1` by position; beside ids that the file gives, the line. */
  #newId(line: MarkdownLine, around: ListedTask | null): string {
    if (this.#habit.any) return `line-${line.number}`;
    const above = around?.id ?? '';
    const count = (this.#children.get(above) ?? 0) + 1;
    this.#children.set(above, count);
    return above === '' ? String(count) : `${above}.${count}`;
  }

  #comment(line: MarkdownLine): void {
    if (/\b(?:AC|DOD):BEGIN\b/.test(line.body)) this.#inCriteria = true;
    if (/\b(?:AC|DOD):END\b/.test(line.body)) this.#inCriteria = false;
    this.#draft.ignore(line.number, 'a comment');
  }

  #fence(line: MarkdownLine): void {
    // The first line of a fence decides about all of it.
    const above = this.#draft.readings.at(-1);
    if (line.fence !== line.number && above !== undefined) this.#draft.read(line.number, above.what);
    else {
      let end = line.number;
      while (this.#lines[end]?.fence === line.number) end += 1;
      // Without the line that closes it.
      const block = this.#lines.slice(line.number, Math.max(line.number, end - 1)).map(({ body }) => body);
      const what = this.#graph(block, line);
      if (what === null) {
        // Its words mean nothing here; the text of a task has it nevertheless.
        const given = this.#draft.tasks.length > 0 ? ', which its agent gets as it is' : '';
        this.#draft.ignore(line.number, `a block of code${given}`);
      } else this.#draft.read(line.number, what);
    }
  }

  /** A fence that draws dependencies; null for all others. */
  #graph(block: readonly string[], { number, body }: MarkdownLine): string | null {
    const waves = readWaves(block, number + 1);
    if (typeof waves === 'string') {
      this.#draft.problem({ line: number }, waves);
      return 'waves that cannot be read';
    }
    if (waves !== null) {
      this.#draft.waves.push(...waves);
      return 'waves: each waits for the one before it';
    }
    if (!this.#headings.dependencies && !body.includes('mermaid')) return null;
    const edges = block.flatMap((text, index) => readArrows(text, number + 1 + index));
    this.#draft.edges.push(...edges);
    return edges.length === 0 ? null : 'a graph of dependencies';
  }

  #prose(line: MarkdownLine): void {
    const around = this.#around(line);
    if (around === null) this.#details.label(line);
    const what = around === null ? this.#dependency(line) : this.#details.detail(around, line);
    if (what !== null) this.#draft.read(line.number, what);
    else if (namesGate(line.body)) this.#gate(line);
    else this.#draft.ignore(line.number, this.#whyNot(line));
  }

  /** For the tasks that it names, or else for those below it. */
  #gate({ number, body }: MarkdownLine): void {
    const text = safeText(body, 300);
    const { held, approved } = gatedTasks(body, number);
    if (held.length > 0) {
      this.#draft.gates.push({ text, held, approved });
      this.#draft.read(number, `a gate for a person before ${held.map(({ id }) => id).join(', ')}`);
      return;
    }
    this.#headings.gate = text;
    this.#unused.set(text, number);
    this.#draft.ignore(number, `a gate for a person: ${body}`);
  }

  /** A gate that holds nothing back must not look like one. */
  #reportUnusedGates(): void {
    for (const line of this.#unused.values())
      this.#draft.problem(
        { line },
        'this asks for a person, and no task waits for it: name the tasks, as in "must be approved before T021", or write it above them',
        'warning',
      );
  }

  /** The task that a line without a box belongs to. */
  #around(line: MarkdownLine): ListedTask | null {
    const direct = this.#previous?.kind !== 'blank' && this.#details.inTitle;
    const lazy = line.kind === 'text' && direct && !/^[*>|<!#]/.test(line.body);
    if (!lazy) this.#open = this.#open.filter(({ indent }) => indent < line.indent);
    return this.#open.at(-1)?.task ?? null;
  }

  /** Prose that says which task waits for which; null if it does not. */
  #dependency(line: MarkdownLine): string | null {
    const place = { line: line.number, at: line.bodyAt };
    if (this.#headings.dependencies && line.kind === 'item') {
      const phase = readPhaseLine(line.body, place);
      if (phase !== null) this.#draft.phases.push(phase);
      const edge = phase === null ? readRequiresLine(line.body, place) : null;
      if (edge !== null) this.#draft.edges.push(edge);
      if (phase !== null || edge !== null) return phase === null ? 'a dependency' : 'a phase and its tasks';
    }
    const rest = this.#restOfList(line);
    const said = proseDependencies(line.body, line.number).filter(({ subjects }) => subjects.length > 0);
    const open = said.findLast(({ isOpen }) => isOpen);
    if (open !== undefined) this.#wrapped = { objects: open.objects, line: line.number };
    const drawn = this.#headings.dependencies ? readArrows(line.body, line.number) : [];
    this.#draft.edges.push(...said, ...drawn);
    return said.length + drawn.length + rest > 0 ? 'dependencies' : null;
  }

  /** How many ids the line adds to a list that the one before it has begun. */
  #restOfList({ body, number }: MarkdownLine): number {
    const wrapped = this.#wrapped;
    this.#wrapped = null;
    if (wrapped === null || wrapped.line + 1 !== number) return 0;
    const { references, isOpen } = readIdList(body, 0, { line: number, prose: true });
    wrapped.objects.push(...references);
    if (isOpen) this.#wrapped = { ...wrapped, line: number };
    return references.length;
  }

  #whyNot({ kind, body }: MarkdownLine): string {
    if (/^\[[A-Z]{1,3}\]|\*\*\[\w+\??\]\*\*|`?\[P\??\]`?.{0,3}[=:]/.test(body)) return 'a legend';
    if (body.startsWith('|')) return 'a table';
    if (/^>[\s>]*[-*+] \[.?\]/u.test(body)) return 'a box in a quotation';
    const id = this.#habit.any ? candidateId(body) : null;
    // Numbered lists are everywhere; an id with letters was given by the author.
    if (id !== null && /^[A-Za-z]/.test(id.id) && this.#habit.accepts(id))
      return `it begins like the task ${id.id}, but has no box`;
    return kind === 'item' ? 'a list item without a box' : 'text';
  }
}

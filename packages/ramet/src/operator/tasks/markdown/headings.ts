/** The headings around a line, and what they mean for the tasks below them. */
import { proseDependencies } from '../id-list.ts';
import type { ListedTask, TaskReference } from '../listed-task.ts';
import { unsignedId } from './heading-tasks.ts';
import type { MarkdownLine } from './markdown-lines.ts';
import { namesCriteria } from './task-fields.ts';

interface OpenHeading {
  level: number;
  phase: string | null;
  /** Set where phases are barriers. */
  barrier: number | null;
  criteria: boolean;
  dependencies: boolean;
  depends: TaskReference[];
  gate: string | null;
  task: ListedTask | null;
}

const PHASE =
  /^(?:phase|wave|stage|milestone|sprint|iteration|\u30d5\u30a7\u30fc\u30ba|\u9636\u6bb5)\s{0,2}(?:\d{1,4}(?:\.\d{1,4})?|[IVX]{1,5}|[A-Z])\b/i;
const SECTION = /^\d{1,4}(?:\.\d{1,4})?[.):]?\s+\S/;
const DEPENDENCIES = /\bdepend|\bexecution order\b|\btopology\b|\u4f9d\u5b58|\u4f9d\u8d56/i;

/** How the reading of a heading begins that looks like a task. */
export const UNSIGNED = 'a heading: without a colon after';

export class Headings {
  #open: OpenHeading[] = [];
  /** Above the first heading. */
  #first: string | null = null;
  #barriers = 0;
  readonly #known: Map<string, number> = new Map();

  /** Returns how the heading was read. */
  enter(line: MarkdownLine, task: ListedTask | null): string {
    const { level, body, number } = line;
    this.#open = this.#open.filter((one) => one.level < level);
    const isPhase = PHASE.test(body.replace(/^[^\p{L}\p{N}]+/u, ''));
    const phase = isPhase || (SECTION.test(body) && this.phase === null) ? body : null;
    const depends = proseDependencies(body, number).flatMap(({ subjects, objects }) =>
      subjects.length === 0 ? objects : [],
    );
    this.#open.push({
      ...{
        level,
        phase,
        barrier: isPhase ? this.#barrier(body) : null,
        criteria: level > 1 && namesCriteria(body),
      },
      ...{ dependencies: DEPENDENCIES.test(body), depends, gate: null, task },
    });
    if (isPhase) return 'a phase: it waits for the one before it';
    if (phase !== null) return 'a section';
    if (this.criteria) return 'a heading: boxes without an id below it are criteria';
    const id = unsignedId(line);
    return id === null ? 'a heading' : `${UNSIGNED} ${id} it is no task`;
  }

  #barrier(body: string): number {
    const known = this.#known.get(body);
    if (known !== undefined) return known;
    this.#barriers += 1;
    this.#known.set(body, this.#barriers);
    return this.#barriers;
  }

  get phase(): string | null {
    return this.#open.findLast((one) => one.phase !== null)?.phase ?? null;
  }

  get barrier(): number | null {
    return this.#open.findLast((one) => one.barrier !== null)?.barrier ?? null;
  }

  get criteria(): boolean {
    return this.#open.some((one) => one.criteria);
  }

  get dependencies(): boolean {
    return this.#open.some((one) => one.dependencies);
  }

  get depends(): TaskReference[] {
    return this.#open.flatMap((one) => one.depends);
  }

  get task(): ListedTask | null {
    return this.#open.findLast((one) => one.task !== null)?.task ?? null;
  }

  get gate(): string | null {
    return this.#open.findLast((one) => one.gate !== null)?.gate ?? this.#first;
  }

  set gate(text: string | null) {
    const last = this.#open.at(-1);
    if (last === undefined) this.#first = text;
    else last.gate = text;
  }
}

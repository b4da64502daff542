/** What a task file says: its tasks, how every line was read, and what is wrong with it. Shapes only. */

export const LISTED_STATUSES = ['open', 'in_progress', 'done', 'cancelled', 'deferred'] as const;

export type ListedStatus = (typeof LISTED_STATUSES)[number];

/** An id as it was written, and where. */
export interface TaskReference {
  readonly id: string;
  readonly line: number;
  readonly column: number;
  /** The end of a range such as `T037-T041`. */
  readonly to?: string;
  /** Weak: a number in prose, which counts only if there is such a task. */
  readonly weak?: boolean;
  /** From a sentence, not from a field: an id of another kind than the file's is then a word. */
  readonly prose?: boolean;
}

/** What a task overrides of its run. */
export interface TaskSettings {
  check?: string;
  model?: string;
  type?: string;
  budget?: string;
  max_turns?: string;
  effort?: string;
  /** Agent types, separated by commas; `none` for nobody. */
  review?: string;
  isolation?: string;
}

/** The characters of the file's text, `\n` line ends, that hold the status, or where one goes; nothing else is ever written. */
export interface StatusMark {
  readonly start: number;
  readonly end: number;
  /** What is written there: a sign in a box, or the words of a format. */
  readonly kind: 'box' | 'numbered-box' | 'word' | 'backlog' | 'task-master';
  /** What is written around it where the entry has no status yet. */
  readonly around?: readonly [before: string, after: string];
}

export interface ListedTask {
  id: string;
  title: string;
  line: number;
  status: ListedStatus;
  optional: boolean;
  /** Declared ones, resolved. What only the order of the file implies is not among them. */
  dependsOn: string[];
  parallel: boolean;
  phase: string | null;
  files: string[];
  /** A field names files, and not only a sentence. */
  declares: boolean;
  /** Its file: in a folder each task has its own. */
  file: string;
  /** The task that this one is a part of. */
  parent: string | null;
  /** Number of its phase where phases are barriers. */
  barrier: number | null;
  wave: number | null;
  /** True if the file says what it waits for, be it nothing; otherwise the order of the file counts. */
  placed: boolean;
  /** What a person must do before it may start. */
  gate: string | null;
  settings: TaskSettings;
  /** Where the file says them. */
  settingPlaces: Partial<Record<keyof TaskSettings, { line: number; column: number }>>;
  /** Boxes below it that are criteria or steps, and are not ticked. */
  openSteps: number;
  mark: StatusMark | null;
  references: TaskReference[];
}

export interface TaskProblem {
  file: string;
  line: number;
  column: number;
  /** A file with an error is not run. */
  level: 'error' | 'warning';
  message: string;
}

export interface IgnoredLine {
  line: number;
  why: string;
}

/** How a run of lines was read. */
export interface LineReading {
  line: number;
  /** How many lines. */
  count: number;
  what: string;
}

export interface TaskList {
  tasks: ListedTask[];
  ignored: IgnoredLine[];
  problems: TaskProblem[];
  readings: LineReading[];
  /** Whether tasks that say nothing follow the one before them. */
  ordered: boolean;
}

export function emptyTask(id: string, title: string, place: { file: string; line: number }): ListedTask {
  return {
    ...{ id, title, ...place, status: 'open', optional: false, dependsOn: [], parallel: false, phase: null },
    ...{
      files: [],
      declares: false,
      parent: null,
      barrier: null,
      wave: null,
      placed: false,
      gate: null,
      settings: {},
      settingPlaces: {},
    },
    ...{ openSteps: 0, mark: null, references: [] },
  };
}

/** Nothing remains to be done for it. */
export function isEnded(status: ListedStatus): boolean {
  return status === 'done' || status === 'cancelled';
}

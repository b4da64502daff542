/** The words and marks that files use for the status of a task. */
import type { ListedStatus } from './listed-task.ts';

const WORDS: Readonly<Record<ListedStatus, string>> = {
  open: 'open todo to-do pending backlog ready new planned proposed blocked not-started unstarted',
  in_progress: 'in-progress inprogress doing started active wip review in-review reviewing testing',
  done: 'done complete completed closed finished shipped merged resolved implemented',
  cancelled:
    'cancelled canceled skipped dropped rejected abandoned obsolete archived wont-do wontfix superseded',
  deferred: 'deferred postponed later on-hold paused draft parked someday',
};

const STATUS_OF: ReadonlyMap<string, ListedStatus> = new Map(
  // The keys of this record are the statuses.
  (Object.entries(WORDS) as [ListedStatus, string][]).flatMap(([status, words]) =>
    words.split(' ').map((word) => [word, status] as const),
  ),
);

/** Undefined for a word that nobody uses for a status. */
export function statusOfWord(text: string): ListedStatus | undefined {
  const letters = text.replace(/[^A-Za-z' _-]/g, ' ').trim();
  const word = letters
    .toLowerCase()
    .replaceAll("'", '')
    .replace(/[\s_]+/g, '-');
  return STATUS_OF.get(word);
}

/**
 * Undefined for a mark that means nothing here. A dash means "in progress" in numbered lists (that is what Kiro writes)
 * and "will not be done" elsewhere.
 */
export function statusOfMark(mark: string, numbered: boolean): ListedStatus | undefined {
  // Blanks around it change nothing.
  switch (mark.trim()) {
    case '':
      return 'open';
    case 'x':
    case 'X':
    case '✓':
    case '✔':
    case '✅':
      return 'done';
    case '/':
    case '~':
      return 'in_progress';
    case '>':
      return 'deferred';
    case '-':
      return numbered ? 'in_progress' : 'cancelled';
    default:
      return undefined;
  }
}

/** What to write into a box; null where the file has no mark for it. */
export function markOfStatus(status: ListedStatus, numbered: boolean): string | null {
  switch (status) {
    case 'open':
      return ' ';
    case 'done':
      return 'x';
    case 'in_progress':
      return numbered ? '-' : '/';
    case 'cancelled':
      return numbered ? null : '-';
    case 'deferred':
      return '>';
  }
}

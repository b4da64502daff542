/** What the command line of `ramet operate` may say, and the same as words. */
import type { Isolation } from '../../schema/operator-events.ts';
import type { ConflictPolicy, MergeStrategy, SessionMode } from '../../schema/status.ts';
import type { OperateFormat } from './live-run.ts';

export interface OperateFlags {
  lint?: boolean;
  json?: boolean;
  bullets?: boolean;
  tag?: string;
  optional?: boolean;
  into?: string;
  policy?: string;
  parallel?: number | 'auto';
  attempts?: number;
  isolation?: Isolation | 'auto';
  strategy?: MergeStrategy;
  /** False for `--no-check`. */
  check?: string | false;
  checkSeconds?: number;
  onConflict?: ConflictPolicy;
  resolveModel?: string;
  resolveBudgetUsd?: number;
  review?: string[];
  reviewModel?: string;
  planModel?: string;
  retries?: number;
  maxBudgetUsd?: number;
  model?: string;
  updateCheckout?: boolean;
  /** False for `--no-marks`. */
  marks?: boolean;
  permissionMode?: SessionMode;
  allow?: string[];
  deny?: string[];
  /** Start also where a run of the same file is not over. */
  again?: boolean;
  /** True where no session is named. */
  resume?: string | true;
  /** With a goal: run the tasks without a question; where they are written. */
  yes?: boolean;
  out?: string;
  outputFormat?: OperateFormat;
  report?: string;
}

/** What is for a goal alone, or has no value of its own. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['lint', 'json', 'resume', 'yes', 'out', 'planModel', 'again'],
]);

const NAMES: Readonly<Record<string, string>> = { allow: 'allowedTools', deny: 'disallowedTools' };

/** The command that runs the task file of a goal as the goal was asked for: with every option that was given. */
export function goalCommand(file: string, flags: OperateFlags): string {
  const words = Object.entries(flags).flatMap(([name, value]): string[] => {
    // What the command line has where nothing is said.
    const isDefault = (name === 'outputFormat' && value === 'text') || (name === 'marks' && value === true);
    if (LEFT_OUT.has(name) || isDefault || value === undefined || (name === 'check' && value === true))
      return [];
    const option = NAMES[name] ?? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (value === true) return [`--${option}`];
    if (value === false) return [`--no-${option}`];
    return [`--${option}`, Array.isArray(value) ? value.join(',') : String(value)];
  });
  return ['ramet operate', ...[file, ...words].map(shellWord)].join(' ');
}

function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

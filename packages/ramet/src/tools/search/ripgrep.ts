/** Runs the ripgrep that comes with Ramet. Starts no shell, reads no user configuration, ends with its caller. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { pathInside } from '../../system/landing-path.ts';
import type { ToolContext } from '../tool.ts';

export interface RipgrepRun {
  arguments: readonly string[];
  cwd: string;
  /** Gets output as it comes; `enough` ends the program. */
  take(chunk: Buffer): 'more' | 'enough';
}

export type RipgrepEnd =
  | { kind: 'done'; found: boolean; complaint: string }
  | { kind: 'enough' }
  | { kind: 'failed'; reason: string };

const TIME_LIMIT_MS = 60_000;
const COMPLAINT_LENGTH = 1_000;
const NO_MATCH = 1;

export async function runRipgrep(
  run: RipgrepRun,
  context: Pick<ToolContext, 'env' | 'signal'>,
): Promise<RipgrepEnd> {
  const { rgPath } = await import('@vscode/ripgrep');
  if (context.signal.aborted) return { kind: 'failed', reason: 'The search was interrupted.' };
  const program = spawn(rgPath, ['--no-config', ...run.arguments], {
    cwd: run.cwd,
    env: context.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = (): void => void program.kill('SIGKILL');
  const timer = setTimeout(stop, TIME_LIMIT_MS);
  context.signal.addEventListener('abort', stop);
  let complaint = '';
  let enough = false;
  program.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(0, COMPLAINT_LENGTH);
  });
  program.stdout.on('data', (chunk: Buffer) => {
    if (enough || run.take(chunk) === 'more') return;
    enough = true;
    stop();
  });
  try {
    const code = await new Promise<number | null>((settle, fail) =>
      program.once('error', fail).once('close', settle),
    );
    if (enough) return { kind: 'enough' };
    if (context.signal.aborted) return { kind: 'failed', reason: 'The search was interrupted.' };
    if (code === null)
      return { kind: 'failed', reason: 'The search took over a minute. Narrow it by path or glob.' };
    return { kind: 'done', found: code !== NO_MATCH, complaint: complaint.trim() };
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener('abort', stop);
  }
}

/** A path as results show it: relative to the agent's directory where it lies below, else absolute. */
export function shownPath(cwd: string, path: string): string {
  const absolute = resolve(cwd, path);
  return pathInside(absolute, cwd) || absolute;
}

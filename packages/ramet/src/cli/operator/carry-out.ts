/**
 * Runs tasks in this terminal: shows them while they run, and what is left at the end. Ctrl-C once starts nothing new; twice
 * stops the agents and saves; what has not ended within two seconds is left to the next process.
 */
import { RametError, systemCode } from '../../schema/errors.ts';
import type { OperateOptions } from '../../sdk/operator/operate.ts';
import type { RunningOperator } from '../../sdk/operator/operate-order.ts';
import { checkReportFile, isDatabaseFull } from '../../sdk/operator/write-report.ts';
import { resumeText, summaryOf } from '../../views/operator/run-summary.ts';
import { type CommandIo, callFrom } from '../io.ts';
import { isKeyless, NO_KEY } from '../output/result-output.ts';
import { LiveRun, type OperateFormat } from './live-run.ts';
import { type EndedRun, showEnd } from './run-end.ts';

/** With what it takes to write the end of a run, two seconds in all. */
const STOP_MS = 1_500;

export interface RunFlags extends Omit<OperateOptions, 'onBegin' | 'onRecord'> {
  outputFormat?: OperateFormat;
}

/** `onLive` is told what shows the run, before it begins. */
export async function carryOut(
  path: string | undefined,
  flags: RunFlags,
  io: CommandIo,
  onLive?: (live: LiveRun) => void,
): Promise<number> {
  const { outputFormat: format = 'text', ...options } = flags;
  checkReportFile(options.report, io);
  const { operateTasks } = await import('../../sdk/operator/operate.ts');
  const live = new LiveRun(io, format);
  onLive?.(live);
  const stopped = Promise.withResolvers<EndedRun>();
  if (path !== undefined && (await isKeyless(options, io))) live.note(NO_KEY);
  const run = operateTasks(path, {
    ...options,
    ...callFrom(io),
    note: (line) => live.note(line),
    onRecord: (agent, event) => live.record(agent, event),
    onBegin(running) {
      live.begin(running.session, running.state);
      stopOnSignals(running, io, () => stopped.resolve(running));
    },
  });
  // Told below, unless nobody waits for it any more.
  run.catch(() => {});
  let isStuck = false;
  try {
    const ended = await Promise.race([
      run,
      stopped.promise.then((running) => {
        isStuck = true;
        return running;
      }),
    ]);
    live[Symbol.dispose]();
    const code = showEnd(ended, format, io);
    if (isStuck) io.endNow?.(code);
    return code;
  } catch (error) {
    throw withNextStep(error, live, io);
  } finally {
    live[Symbol.dispose]();
  }
}

/** A disk without room ends a run anywhere: which place it is, what is saved and what to do is told. */
export function withNextStep(
  error: unknown,
  { session, state }: Pick<LiveRun, 'session' | 'state'>,
  { cwd, env }: Pick<CommandIo, 'cwd' | 'env'>,
): unknown {
  const code = systemCode(error);
  const isFull = code === 'ENOSPC' || code === 'EDQUOT' || isDatabaseFull(error);
  if (session === null || !isFull) return error;
  const path = error instanceof Error && 'path' in error ? String(error.path) : null;
  const place = path ?? `${cwd} or ${env.RAMET_HOME ?? '~/.ramet'}`;
  const message = `the disk is full: there is no room in ${place}; ${tasksSaved(state)}; make room, then: ${resumeText(state)}`;
  return new RametError('disk_full', 'terminal', message, { cause: error });
}

function tasksSaved(state: LiveRun['state']): string {
  const { done, total } = summaryOf(state);
  return `what ${done} of ${total} tasks did is saved, and the others are continued`;
}

/** The first Ctrl-C is heard by the run itself. Other signals do not wait for agents. */
function stopOnSignals(running: RunningOperator, io: CommandIo, giveUp: () => void): void {
  const stop = (name: string): void => {
    running.stopAll(name);
    setTimeout(giveUp, STOP_MS).unref();
  };
  const first = (): void => {
    if (io.signal.reason !== 'SIGINT') stop(String(io.signal.reason));
  };
  if (io.signal.aborted) first();
  else io.signal.addEventListener('abort', first, { once: true });
  io.onSecondSignal?.(stop);
}

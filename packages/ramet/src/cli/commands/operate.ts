/** `ramet operate`: runs the tasks of a file; with `--lint`, how the file was read and what is wrong with it. */
import { describeError, firstError, UserMistake } from '../../schema/errors.ts';
import { lintTasks } from '../../sdk/operator/planning/lint-tasks.ts';
import { objectWithoutRun, runObject } from '../../views/operator/run-object.ts';
import { countText, isAllDone, problemText, taskListObject, taskListText } from '../../views/task-list.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';
import { isGoal } from '../operator/goal-argument.ts';
import type { LiveRun } from '../operator/live-run.ts';
import type { OperateFlags } from '../operator/operate-flags.ts';

/** Exits with 1 if the file has errors, or if a task is not done. Programs get an object whatever happens. */
export async function operate(path: string | undefined, flags: OperateFlags, io: CommandIo): Promise<number> {
  const seen: SeenRun = { live: null };
  try {
    return await operateNow(path, flags, io, seen);
  } catch (error) {
    if (flags.lint && flags.json) printObject(unreadList(path, error), io);
    else if (!isForPeople(flags)) printObject(objectOfError(path, error, seen), io);
    throw error;
  }
}

/** What `--lint --json` prints of a file that cannot be read. */
function unreadList(path: string | undefined, thrown: unknown): Record<string, unknown> {
  const message = describeError(firstError(thrown));
  const problem = { file: path ?? '', line: 1, column: 1, level: 'error', message } as const;
  return taskListObject({ ...{ tasks: [], ignored: [], readings: [], ordered: false }, problems: [problem] });
}

interface SeenRun {
  /** The run as far as it came. */
  live: Pick<LiveRun, 'session' | 'state'> | null;
}

function objectOfError(
  path: string | undefined,
  thrown: unknown,
  { live }: SeenRun,
): Record<string, unknown> {
  const message = describeError(firstError(thrown));
  const problems = [{ file: null, line: null, column: null, level: 'error', message }] as const;
  if (live === null || live.session === null) return objectWithoutRun(path ?? null, { message, problems });
  const facts = { session: live.session, report: null, now: Date.now(), problems };
  return { ...runObject(live.state, facts), message };
}

/** A goal of which nothing was run: nobody said yes, or no list of tasks came of it. */
function notRun(code: number): Record<string, unknown> {
  const message = 'nothing was run';
  const problem = { file: null, line: null, column: null, level: 'error', message } as const;
  return objectWithoutRun(null, { message, problems: code === EXIT.done ? [] : [problem] });
}

function printObject(object: Record<string, unknown>, io: CommandIo): void {
  io.out(`${JSON.stringify(object)}\n`);
}

async function operateNow(
  path: string | undefined,
  flags: OperateFlags,
  io: CommandIo,
  seen: SeenRun,
): Promise<number> {
  const onLive = (live: SeenRun['live']): void => {
    seen.live = live;
  };
  const { lint, json, resume, yes, out, planModel, ...options } = flags;
  if (resume !== undefined) {
    if (path !== undefined) throw new UserMistake('two_runs', 'give a task file or --resume, not both');
    refuseOtherUses(flags);
    const { marks, again: _, ...changes } = options;
    return (await load()).carryOut(
      undefined,
      {
        ...{ ...changes, resume: resume === true ? 'latest' : resume },
        // True is what the command line has where nothing is said.
        ...(marks === false && { marks }),
      },
      io,
      onLive,
    );
  }
  if (path === undefined || path.trim() === '')
    throw new UserMistake(
      'no_task_file',
      'name a task file, or resume a run: ramet operate FILE, ramet operate --resume',
    );
  if (!lint && isGoal(path, io.cwd)) {
    const { operateGoal } = await import('./operate-goal.ts');
    const said = isForPeople(flags) ? io : { ...io, out: (text: string) => io.progress(text.trimEnd()) };
    const code = await operateGoal(path, flags, said, async (file) =>
      (await load()).carryOut(file, options, io, onLive),
    );
    if (!isForPeople(flags) && seen.live === null) printObject(notRun(code), io);
    return code;
  }
  if (out !== undefined || yes === true || planModel !== undefined)
    throw new UserMistake(
      'no_goal',
      '--yes, --out and --plan-model are for a goal: ramet operate "what to do"',
    );
  const list = await lintTasks(path, { ...listOptions(flags), ...callFrom(io) });
  const hasErrors = list.problems.some(({ level }) => level === 'error');
  if (lint) {
    io.out(json ? `${JSON.stringify(taskListObject(list))}\n` : taskListText(list));
    return hasErrors ? EXIT.failed : EXIT.done;
  }
  if (hasErrors || isAllDone(list)) {
    tell(hasErrors ? problemText(list.problems) : countText(list), flags, io);
    const message = hasErrors ? 'the task file has errors' : countText(list);
    if (!isForPeople(flags)) printObject(objectWithoutRun(path, { message, problems: list.problems }), io);
    return hasErrors ? EXIT.failed : EXIT.done;
  }
  return (await load()).carryOut(path, options, io, onLive);
}

/** Flags that say nothing about a run that is resumed. */
function refuseOtherUses({ lint, json, yes, out, planModel, again }: OperateFlags): void {
  const names = Object.entries({ lint, json, yes, out, 'plan-model': planModel, again })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => `--${name}`);
  if (names.length > 0)
    throw new UserMistake(
      'not_for_resume',
      `${names.join(', ')} cannot be given with --resume: leave it out`,
    );
}

function listOptions({ bullets, tag }: OperateFlags): { bullets?: boolean; tag?: string } {
  return { ...(bullets !== undefined && { bullets }), ...(tag !== undefined && { tag }) };
}

/** Programs that read JSON get nothing else on standard output. */
function isForPeople({ outputFormat = 'text' }: OperateFlags): boolean {
  return outputFormat === 'text';
}

function tell(text: string, flags: OperateFlags, io: CommandIo): void {
  const lines = text.trimEnd().split('\n');
  for (const line of lines)
    if (isForPeople(flags)) io.out(`${line}\n`);
    else io.note(line);
}

function load(): Promise<typeof import('../operator/carry-out.ts')> {
  return import('../operator/carry-out.ts');
}

/** `ramet operate "goal"`: an agent proposes a task file, a person sees it with what it would take, and says yes. */
import { createInterface } from 'node:readline/promises';
import { planTasks } from '../../sdk/operator/planning/plan-tasks.ts';
import { proposeTasks } from '../../sdk/operator/planning/propose-tasks.ts';
import { proposalText } from '../../views/proposed-tasks.ts';
import { taskPlanText } from '../../views/task-plan.ts';
import { dollars } from '../../views/text/format.ts';
import { type CommandIo, callFrom, EXIT, exitCodeOf } from '../io.ts';
import { goalCommand, type OperateFlags } from '../operator/operate-flags.ts';

/** `run` runs the file; the exit code is that of the run, or 0 where it is not run. */
export async function operateGoal(
  goal: string,
  flags: OperateFlags,
  io: CommandIo,
  run: (file: string) => Promise<number>,
): Promise<number> {
  const { yes = false, out, model, planModel, maxBudgetUsd, optional, into } = flags;
  const outcome = await proposeTasks(goal, { ...callFrom(io), out, model, planModel, maxBudgetUsd, into });
  if (outcome.kind === 'ended') {
    const { status, cause, message } = outcome.result;
    io.note(`no task file was written: the agent is ${[status, cause, message].filter(Boolean).join(': ')}`);
    return exitCodeOf(outcome.result);
  }
  const { file, list, costUsd } = outcome;
  const {
    forecast,
    left,
    history,
    model: priced,
  } = await planTasks(file, {
    ...callFrom(io),
    ...(model !== undefined && { model }),
    ...(optional !== undefined && { optional }),
  });
  io.out(`${proposalText(list, file)}\n`);
  if (forecast !== null) io.out(`${taskPlanText({ model: priced, left, forecast, history })}\n`);
  io.out(`The tasks are in ${file}; writing them cost ${dollars(costUsd)}.\n`);
  if (yes || (await isWanted(left, io))) return run(file);
  io.note(`nothing was run: change the file if you like, and run it with: ${goalCommand(file, flags)}`);
  return EXIT.done;
}

async function isWanted(tasks: number, io: CommandIo): Promise<boolean> {
  if (!process.stdin.isTTY || !io.isTerminal) return false;
  const asking = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    const what = tasks === 1 ? 'this task' : `these ${tasks} tasks`;
    const answer = await asking.question(`Run ${what}? [y/N] `, { signal: io.signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    asking.close();
  }
}

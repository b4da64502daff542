/** The grammar of the commands for task files. */
import type { Command } from 'commander';
import type { CommandIo } from '../io.ts';

const FILE = 'Markdown, YAML or JSON with tasks, or a folder with a file for each task';

export function addOperate(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  program
    .command('plan')
    .description('predict order, time and cost of the tasks in a file for 1 to 16 agents at once')
    .argument('<file>', FILE)
    .option('--json', 'print JSON')
    .option('--model <model>', 'whose prices count: a model or a tier (default: sonnet)')
    .option('--optional', 'include optional tasks')
    .option('--bullets', 'read list items as tasks if no line has a box')
    .option('--tag <name>', 'which list of a JSON file that has several')
    .action(async (file, options) => {
      setExitCode(await (await import('../commands/plan.ts')).plan(file, options, io));
    });
  program
    .command('stats')
    .description(
      'show what earlier runs of task files say: conflicts, worktrees, launches, plans against what happened',
    )
    .option('--json', 'print JSON')
    .action(async (options) => (await import('../commands/stats.ts')).stats(options, io));
  program
    .command('operate')
    .description('read and check a task file (with --lint; running it is not possible yet)')
    .argument('<file>', FILE)
    .option('--lint', 'explain how each line was read and what is wrong; exit with 1 if there are errors')
    .option('--json', 'with --lint: print JSON')
    .option('--bullets', 'read list items as tasks if no line has a box')
    .option('--tag <name>', 'which list of a JSON file that has several')
    .action(async (file, options) => {
      setExitCode(await (await import('../commands/operate.ts')).operate(file, options, io));
    });
}

/** The grammar of the commands for worktrees, for bringing branches together, and for who wrote what. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CONFLICT_POLICIES, MERGE_STRATEGIES } from '../../schema/status.ts';
import { MOST_SECONDS } from '../../schema/usage.ts';
import type { CommandIo } from '../io.ts';
import { positiveNumber } from '../run-options.ts';

const WORKTREE_ARGUMENT = 'its name, branch or path, or its agent';

export function addMerge(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  program
    .command('merge')
    .description('merge branches into a target one at a time, with a check, without touching a checkout')
    .argument('[branch...]', 'branches or commits (default: those in the queue)')
    .option('--into <branch>', 'the target (default: the branch checked out here)')
    .addOption(
      new Option('--strategy <strategy>', 'how to merge each branch')
        .choices([...MERGE_STRATEGIES])
        .default('merge'),
    )
    .option('--check <shell>', 'a command that must succeed on the merged files (setting merge.check)')
    .option('--no-check', 'run no check, even if the settings have one')
    .option('--check-seconds <number>', 'most seconds the check may take (default: 1800)', secondsOf)
    .addOption(
      new Option(
        '--on-conflict <policy>',
        'leave it to a person, try again commit by commit, or ask an agent',
      )
        .choices([...CONFLICT_POLICIES])
        .default('person'),
    )
    .option('--resolve-model <model>', 'with resolve: the model of the agent (setting model)')
    .option(
      '--resolve-budget-usd <dollars>',
      'with resolve: what the agent may spend on one conflict',
      positiveNumber,
    )
    .option(
      '--max-budget-usd <dollars>',
      'with resolve: what all agents of this command may spend',
      positiveNumber,
    )
    .option('--update-checkout', 'also update the checkout of the target, if it is clean')
    .option('--continue', 'resume the queue with the check and policy of the last run')
    .option('--preview', 'only list which branches would conflict, and the order to merge in')
    .option('--status', 'only list the queue')
    .option('--pr', 'push each branch and open a pull request with gh instead')
    .option('--json', 'print JSON')
    .action(async (branches, options) => {
      const { merge } = await import('../commands/merge.ts');
      setExitCode(await merge(branches, options, io));
    });
}

export function addWorktree(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const load = (): Promise<typeof import('../commands/worktree.ts')> => import('../commands/worktree.ts');
  const worktree = program.command('worktree').description('manage the worktrees of agents');
  worktree
    .command('ls')
    .description(
      'list worktrees with their agents and changes. SIZE is the disk space of files that git tracks; show counts all files',
    )
    .option('--all', 'include prepared and removed ones')
    .option('--json', 'print JSON')
    .action(async (options) => (await load()).listWorktrees(options, io));
  worktree
    .command('show')
    .description('show one worktree')
    .argument('<worktree>', WORKTREE_ARGUMENT)
    .option('--json', 'print JSON')
    .action(async (name, options) => (await load()).showWorktree(name, options, io));
  worktree
    .command('gc')
    .description('remove worktrees without changes, and say why the others stay')
    .option('--dry-run', 'only list what would be done')
    .option('--json', 'print JSON')
    .action(async (options) => (await load()).collect(options, io));
  worktree
    .command('rm')
    .description('remove worktrees; those with changes stay')
    .argument('<worktrees...>', WORKTREE_ARGUMENT)
    .option('--force', 'remove those too, after saving their changes on a private ref')
    .action(async (names, options) => setExitCode(await (await load()).remove(names, options, io)));
  worktree
    .command('open')
    .description('print the path of a worktree')
    .argument('<worktree>', WORKTREE_ARGUMENT)
    .option('--shell', 'start a shell in it instead')
    .action(async (name, options) => setExitCode(await (await load()).open(name, options, io)));
  worktree
    .command('diff')
    .description('show all changes in a worktree since its base, committed or not')
    .argument('<worktree>', WORKTREE_ARGUMENT)
    .option('--stat', 'only list files and how many lines changed')
    .option('--json', 'print JSON')
    .action(async (name, options) => (await load()).diff(name, options, io));
  addWorktreeCommit(worktree, io);
}

/** `ramet worktree commit`, which makes of an agent's files what can be merged. */
function addWorktreeCommit(worktree: Command, io: CommandIo): void {
  worktree
    .command('commit')
    .description('commit everything in a worktree, with trailers that name its agent')
    .argument('<worktree>', WORKTREE_ARGUMENT)
    .option('-m, --message <text>', 'the message (default: the task of the agent)')
    .action(async (name, options) => (await import('../commands/worktree.ts')).commit(name, options, io));
}

/** Who wrote what. */
export function addProvenance(program: Command, io: CommandIo): void {
  program
    .command('diff')
    .description('show what an agent or a branch changed')
    .argument('[target]', 'a branch or a session; append .2 for its agent 2 (default: the latest session)')
    .option('--json', 'print JSON')
    .option('--base <branch>', 'compare a branch with this one, from their merge base (default: HEAD)')
    .action(async (target, options) => (await import('../commands/provenance.ts')).diff(target, options, io));
  program
    .command('blame')
    .description('show which agent wrote each line of a file, and why')
    .argument('<file>', 'a file of this repository')
    .option('--json', 'print JSON')
    .action(async (file, options) => (await import('../commands/provenance.ts')).blame(file, options, io));
}

function secondsOf(text: string): number {
  const value = positiveNumber(text);
  if (value <= MOST_SECONDS) return value;
  throw new InvalidArgumentError(`It must be at most ${MOST_SECONDS}.`);
}

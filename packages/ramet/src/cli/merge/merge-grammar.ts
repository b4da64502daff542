/** The grammar of the commands that bring branches together and say who wrote what. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { MOST_SECONDS } from '../../schema/budget-limits.ts';
import { CONFLICT_POLICIES, MERGE_STRATEGIES } from '../../schema/status.ts';
import type { CommandIo } from '../io.ts';

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
      positive,
    )
    .option('--max-budget-usd <dollars>', 'with resolve: what all agents of this command may spend', positive)
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

/** `ramet worktree commit`, which makes of an agent's files what can be merged. */
export function addWorktreeCommit(worktree: Command, argument: string, io: CommandIo): void {
  worktree
    .command('commit')
    .description('commit everything in a worktree, with trailers that name its agent')
    .argument('<worktree>', argument)
    .option('-m, --message <text>', 'the message (default: the task of the agent)')
    .action(async (name, options) => (await import('../commands/worktree.ts')).commit(name, options, io));
}

/** Who wrote what. */
export function addProvenance(program: Command, io: CommandIo): void {
  program
    .command('diff')
    .description('show what an agent or a branch changed')
    .argument('<target>', 'a branch or a session; append .2 for its agent 2')
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
  const value = positive(text);
  if (value <= MOST_SECONDS) return value;
  throw new InvalidArgumentError(`It must be at most ${MOST_SECONDS}.`);
}

function positive(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('It must be a number above 0.');
}

export function addGc(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  program
    .command('gc')
    .description('list the space that sessions, outputs, logs and worktrees use, and remove what is old')
    .option('--older-than <days>', 'remove what was not used for this many days (default: 30)', days)
    .option('--interrupted', 'include interrupted sessions that could be resumed')
    .option(
      '--work',
      'include work of agents that exists nowhere else: wip refs, folders of removed worktrees',
    )
    .option('--dry-run', 'only list')
    .option('-y, --yes', 'remove without asking')
    .option('--json', 'print JSON')
    .action(async (options) => setExitCode(await (await import('../commands/gc.ts')).gc(options, io)));
}

function days(text: string): number {
  const value = Number(text.replace(/d(ays)?$/, ''));
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('It must be a number of days, 0 or more.');
}

/** The grammar of `ramet agents` and what stands below it. */
export function addAgents(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const agents = program
    .command('agents')
    .description('list agent types: where each is defined, what overrides what, mistakes in files')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('../commands/agents.ts')).agents(options, io));
  agents
    .command('validate')
    .description('check definition files; exit with 1 if one cannot be used')
    .argument('[path...]', 'files and folders (default: those that apply here)')
    .option('--json', 'print JSON')
    .action(async (paths, options) => {
      const { validateAgents } = await import('../commands/agents.ts');
      setExitCode(await validateAgents(paths, options, io));
    });
  agents
    .command('show')
    .description('show what a child of this type will see: prompt, tools, model, environment')
    .argument('<type>', 'name of the type')
    .option('--json', 'print JSON')
    .action(async (name, options) =>
      (await import('../commands/agents.ts')).showAgentType(name, options, io),
    );
}

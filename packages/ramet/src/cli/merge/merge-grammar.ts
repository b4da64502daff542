/** The grammar of the commands that bring branches together and say who wrote what. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { MOST_SECONDS } from '../../schema/budget-limits.ts';
import { CONFLICT_POLICIES, MERGE_STRATEGIES } from '../../schema/merge-policy.ts';
import type { CommandIo } from '../io.ts';

export function addMerge(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  program
    .command('merge')
    .description('merge branches into a target one at a time, checked, without touching a checkout')
    .argument('[branch...]', 'branches or commits; without any, what waits in the queue')
    .option('--into <branch>', 'the target; the branch that is checked out here when absent')
    .addOption(
      new Option('--strategy <strategy>', 'how each branch is taken in')
        .choices([...MERGE_STRATEGIES])
        .default('merge'),
    )
    .option('--check <shell>', 'a command that must succeed on the merged files (setting merge.check)')
    .option('--no-check', 'run none, whatever the settings say')
    .option('--check-seconds <number>', 'how long the check may take (1800)', secondsOf)
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
    .option('--update-checkout', 'move a target that is checked out too, when that checkout is clean')
    .option('--continue', 'go on with what waits, with the check and policy of the last run')
    .option('--preview', 'only say what would conflict with what, and in which order to merge')
    .option('--status', 'only list the queue')
    .option('--pr', 'push each branch and open a pull request with gh instead')
    .option('--json', 'as JSON')
    .action(async (branches, options) => {
      const { merge } = await import('../commands/merge.ts');
      setExitCode(await merge(branches, options, io));
    });
}

/** `ramet worktree commit`, which makes of an agent's files what can be merged. */
export function addWorktreeCommit(worktree: Command, argument: string, io: CommandIo): void {
  worktree
    .command('commit')
    .description('commit everything in one, in the name of its agent')
    .argument('<worktree>', argument)
    .option('-m, --message <text>', 'the message (what the agent was asked to do)')
    .action(async (name, options) => (await import('../commands/worktree.ts')).commit(name, options, io));
}

/** Who wrote what. */
export function addProvenance(program: Command, io: CommandIo): void {
  program
    .command('diff')
    .description('show what an agent or a branch changed')
    .argument('<target>', 'a branch; or a session, or with .2 behind it its agent 2')
    .option('--base <branch>', 'what a branch is compared with, from where they parted (HEAD)')
    .action(async (target, options) => (await import('../commands/diff.ts')).diff(target, options, io));
  program
    .command('blame')
    .description('show which agent wrote each line of a file, and why')
    .argument('<file>', 'a file of this repository')
    .option('--json', 'as JSON')
    .action(async (file, options) => (await import('../commands/blame.ts')).blame(file, options, io));
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
    .description('list what sessions, outputs, logs and worktrees take here, and remove what is old')
    .option('--older-than <days>', 'remove what was not used for so many days (default: 30)', days)
    .option('--interrupted', 'also sessions that were interrupted and could be resumed')
    .option('--work', 'also work of agents that nothing else has: wip refs, folders of removed worktrees')
    .option('--dry-run', 'only list')
    .option('-y, --yes', 'remove without asking')
    .option('--json', 'as JSON')
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
    .description('list agent types: where each comes from, what shadows what, what is wrong with files')
    .option('--json', 'as JSON')
    .action(async (options) => (await import('../commands/agents.ts')).agents(options, io));
  agents
    .command('validate')
    .description('check definition files; exits with 1 when one cannot be used')
    .argument('[path...]', 'files and folders, wherever they are; those of this place when absent')
    .option('--json', 'as JSON')
    .action(async (paths, options) => {
      const { validateAgents } = await import('../commands/agents.ts');
      setExitCode(await validateAgents(paths, options, io));
    });
  agents
    .command('show')
    .description('show what a child of this type will see: prompt, tools, model, what it is told')
    .argument('<type>', 'its name')
    .option('--json', 'as JSON')
    .action(async (name, options) =>
      (await import('../commands/agents.ts')).showAgentType(name, options, io),
    );
}

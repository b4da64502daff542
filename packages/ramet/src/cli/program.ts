/** The command line's grammar. One file per command; each is loaded only when it is called. */
import { Command, CommanderError, Help, Option } from 'commander';
import { describeError } from '../schema/errors.ts';
import { EXECUTORS } from '../schema/status.ts';
import { VERSION } from '../sdk/version.ts';
import { type CommandIo, EXIT, exitCodeOfError } from './io.ts';
import { addMerge, addProvenance, addWorktree } from './merge/merge-grammar.ts';
import { commandNames, usageError } from './near-word.ts';
import { addOperate } from './operator/operator-grammar.ts';
import { addRunOptions, wholeNumber } from './run-options.ts';
import { addAgents, addDemo, addEmulate, addGc, addSetup, addTrust } from './setup-grammar.ts';

const SESSION_ARGUMENT = 'a session id or the beginning of one (default: the latest)';
const TAKE_OVER = '--take-over';
const TARGET_ARGUMENT = 'a session (default: the latest)';

/** Runs one command and returns its exit code; never throws. */
export async function runProgram(args: readonly string[], io: CommandIo): Promise<number> {
  let exitCode: number = EXIT.done;
  const program = defineProgram(args, io, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUse;
    io.note(describeError(error));
    return exitCodeOfError(error, io.signal);
  }
}

function defineProgram(args: readonly string[], io: CommandIo, setExitCode: (code: number) => void): Command {
  const program: Command = new Command('ramet')
    .description(
      'fork() for AI agents: coding agents on a real repository, with one journal and a known bill',
    )
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.out(text),
      outputError: (text) => io.note(usageError(text, args, (name) => commandsBelow(program, name))),
    });
  const print = addPrint(program, io, setExitCode);
  addEnding(program, io, setExitCode);
  addViews(program, io, setExitCode);
  addAgents(program, io, setExitCode);
  addCache(program, io);
  addOperate(program, io, setExitCode);
  addUndo(program, io, setExitCode);
  addMerge(program, io, setExitCode);
  addProvenance(program, io);
  addWorktree(program, io, setExitCode);
  addGc(program, io, setExitCode);
  addEmulate(program, io);
  addDemo(program, io);
  addTrust(program, io);
  addSetup(program, io, setExitCode);
  showOptionsOf(print, program);
  return program;
}

function commandsBelow(program: Command, name: string): string[] {
  const command = program.commands.find((one) => one.name() === name);
  return command === undefined ? [] : commandNames(command);
}

/** `-p` is a command of its own only to the parser; to its user it is what `ramet` does. */
function showOptionsOf(print: Command, program: Command): void {
  const help = new Help();
  program.usage('[options]\n       ramet -p [options] PROMPT\n       ramet COMMAND [options]').configureHelp({
    visibleOptions: (shown) => [...(shown === program ? print.options : []), ...help.visibleOptions(shown)],
  });
}

function addPrint(program: Command, io: CommandIo, setExitCode: (code: number) => void): Command {
  const print = program
    .command('print', { isDefault: true, hidden: true })
    .argument('[prompt...]', 'what to do; piped standard input is appended')
    .option('-p, --print', 'run one prompt, print the result and exit');
  return addRunOptions(print)
    .addOption(
      new Option(
        '--executor <kind>',
        'executor for agents whose type sets none (default: in-process)',
      ).choices([...EXECUTORS]),
    )
    .addOption(
      new Option('-c, --continue', 'resume the latest session of this working tree').conflicts('resume'),
    )
    .option('-r, --resume [session]', 'resume a session: its id or the beginning of it (default: the latest)')
    .option(TAKE_OVER, 'with --resume or --continue: confirm that its last process, elsewhere, has ended')
    .addOption(
      new Option(
        '--worktree [worktree]',
        'work in the git worktree of this name, created if needed; without a name (put the flag last) in a new one',
      ).conflicts(['continue', 'resume']),
    )
    .addOption(
      new Option(
        '--worktree-base <commit>',
        'start of a new worktree: a commit, branch, tag or pull request of origin (pr/123)',
      ).conflicts(['continue', 'resume']),
    )
    .action(async (prompt: string[], options) => {
      const { print } = await import('./commands/print.ts');
      setExitCode(await print(prompt.join(' '), options, io, commandNames(program)));
    });
}

function addEnding(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const resume = program
    .command('resume')
    .description('resume an interrupted session and all its agents, without a new prompt')
    .argument('[session]', 'a session id or the beginning of one (default: the latest interrupted one)')
    .option(TAKE_OVER, 'confirm that its last process, on another machine or in a container, has ended');
  addRunOptions(resume).action(async (session, options) => {
    setExitCode(await (await import('./commands/resume.ts')).resume(session, options, io));
  });
  program
    .command('stop')
    .description('stop a running session or one of its agents, and wait until it has ended')
    .argument('[target]', 'a session (default: the running one); append .2 for its agent 2')
    .option('--now', 'end it at once, without a clean end')
    .action(async (target, options) => {
      setExitCode(await (await import('./commands/stop.ts')).stop(target, options, io));
    });
}

function addViews(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  program
    .command('ps')
    .description('list sessions of this repository and their agents, as trees')
    .option('--json', 'print JSON')
    .option('-n, --limit <number>', 'how many sessions, newest first', wholeNumber, 20)
    .action(async (options) => (await import('./commands/ps.ts')).ps(options, io));
  program
    .command('show')
    .description('show one session or one agent: the conversations and the bill')
    .argument('[target]', `${TARGET_ARGUMENT}; append .2 for its agent 2`)
    .option('--full', 'include what compaction replaced and what forks inherited')
    .option('--json', 'print JSON')
    .action(async (session, options) => (await import('./commands/show.ts')).show(session, options, io));
  program
    .command('logs')
    .description('list the events of a session or of one agent')
    .argument('[target]', `${TARGET_ARGUMENT}; append .2 for its agent 2`)
    .option('-f, --follow', 'keep printing while the session runs')
    .option('--json', 'print the recorded events, one per line')
    .action(async (session, options) => {
      const { logs } = await import('./commands/logs.ts');
      setExitCode(await logs(session, options, io));
    });
  program
    .command('cost')
    .description('show what a session cost, by agent, type and model: tokens, cache, dollars')
    .argument('[session]', SESSION_ARGUMENT)
    .option('--all', 'all sessions of this repository, with a total')
    .option('--json', 'print JSON')
    .action(async (session, options) => (await import('./commands/cost.ts')).cost(session, options, io));
}

function addCache(program: Command, io: CommandIo): void {
  program
    .command('cache')
    .description('inspect the prompt cache')
    .command('explain')
    .description('show what requests read from the cache, where prompts differ and what misses cost')
    .argument('[target]', `${TARGET_ARGUMENT}; append .2 for its agent 2, .2/1 for request 1 of that agent`)
    .option('--json', 'print JSON')
    .action(async (target, options) => {
      const { explainCache } = await import('./commands/cache.ts');
      await explainCache(target, options, io);
    });
}

function addUndo(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  program
    .command('undo')
    .description('restore the files that the last prompt changed through Write and Edit')
    .argument('[session]', SESSION_ARGUMENT)
    .option('--turn <number>', 'restore what this turn and all later ones changed', wholeNumber)
    .option('--dry-run', 'only list what would be done to each file')
    .option('--force', 'restore files that have changed since, too; --redo brings them back')
    .addOption(new Option('--redo', 'revert the last undo').conflicts('turn'))
    .action(async (session, options) => {
      const { undo } = await import('./commands/undo.ts');
      setExitCode(await undo(session, options, io));
    });
}

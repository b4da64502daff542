/** The command line's grammar. One file per command; each is loaded only when it is called. */
import { Argument, Command, CommanderError, Help, Option } from 'commander';
import { describeError } from '../schema/errors.ts';
import { EXECUTORS } from '../schema/status.ts';
import { VERSION } from '../sdk/version.ts';
import { EXIT, exitCodeOfError } from './exit-code.ts';
import type { CommandIo } from './io.ts';
import { addAgents, addGc, addMerge, addProvenance, addWorktreeCommit } from './merge/merge-grammar.ts';
import { commandNames } from './near-word.ts';
import { addRunOptions, wholeNumber } from './run-options.ts';
import { usageError } from './usage-error.ts';

const SESSION_ARGUMENT = 'its id or the beginning of it; the latest when absent';
const WORKTREE_ARGUMENT = 'its name, branch or path, or the agent it is of';
const TAKE_OVER = '--take-over';
const TARGET_ARGUMENT = 'a session, the latest when absent';

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
  const program = new Command('ramet')
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
      outputError: (text) => io.note(usageError(text, args)),
    });
  const print = addPrint(program, io, setExitCode);
  addEnding(program, io, setExitCode);
  addViews(program, io, setExitCode);
  addAgents(program, io, setExitCode);
  addCache(program, io);
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
    .argument('[prompt...]', 'what to do; what is piped to standard input is added to it')
    .option('-p, --print', 'carry out one prompt, print the result and leave');
  return addRunOptions(print)
    .addOption(
      new Option(
        '--executor <kind>',
        'where agents run whose type does not say (default: in-process)',
      ).choices([...EXECUTORS]),
    )
    .addOption(
      new Option('-c, --continue', 'go on with the latest session of this working tree').conflicts('resume'),
    )
    .option(
      '-r, --resume [session]',
      'go on with a session: its id, or the beginning of it; the latest when absent',
    )
    .option(TAKE_OVER, 'with --resume or --continue: its writer, which cannot be seen from here, has ended')
    .addOption(
      new Option(
        '--worktree [worktree]',
        'work in a git worktree of that name: made, or entered again; of a new name when absent (put it last then)',
      ).conflicts(['continue', 'resume']),
    )
    .addOption(
      new Option(
        '--worktree-base <commit>',
        'where a new one begins: a commit, branch or tag, or a pull request of origin (pr/123)',
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
    .description('go on with a session that was interrupted: all its agents, without a new prompt')
    .argument('[session]', 'its id or the beginning of it; the latest interrupted one when absent')
    .option(TAKE_OVER, 'its writer, on another machine or in a container that is gone, has ended');
  addRunOptions(resume).action(async (session, options) => {
    setExitCode(await (await import('./commands/resume.ts')).resume(session, options, io));
  });
  program
    .command('stop')
    .description('end a session that runs, or one agent of it, and wait until it has ended')
    .argument('[target]', 'a session, the one that runs when absent; with .2 behind it, its agent 2')
    .option('--now', 'without waiting for what it is doing to be ended well')
    .action(async (target, options) => {
      setExitCode(await (await import('./commands/stop.ts')).stop(target, options, io));
    });
}

function addViews(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  program
    .command('ps')
    .description('list sessions of this repository and their agents, as trees')
    .option('--json', 'as JSON')
    .option('-n, --limit <number>', 'how many sessions, newest first', wholeNumber, 20)
    .action(async (options) => (await import('./commands/ps.ts')).ps(options, io));
  program
    .command('show')
    .description('show one session or one agent: the conversations and the bill')
    .argument('[target]', `${TARGET_ARGUMENT}; with .2 behind it, its agent 2`)
    .option('--full', 'also what compactions have replaced and what forks took over')
    .option('--json', 'as JSON')
    .action(async (session, options) => (await import('./commands/show.ts')).show(session, options, io));
  program
    .command('logs')
    .description('list what happened in a session or to one agent, event by event')
    .argument('[target]', `${TARGET_ARGUMENT}; with .2 behind it, its agent 2`)
    .option('-f, --follow', 'go on while the session runs')
    .option('--json', 'the events as they are, one a line')
    .action(async (session, options) => {
      const { logs } = await import('./commands/logs.ts');
      setExitCode(await logs(session, options, io));
    });
  program
    .command('cost')
    .description('show what a session cost, by agent, type and model: tokens, cache, dollars')
    .argument('[session]', SESSION_ARGUMENT)
    .option('--all', 'all sessions of this repository, and their sum')
    .option('--json', 'as JSON')
    .action(async (session, options) => (await import('./commands/cost.ts')).cost(session, options, io));
}

function addCache(program: Command, io: CommandIo): void {
  program
    .command('cache')
    .description('look into what the prompt cache did')
    .command('explain')
    .description('say what requests read from the cache, where prompts part, and what misses cost')
    .argument('[target]', `${TARGET_ARGUMENT}; .2 behind it is its agent 2, .2/1 that agent's request 1`)
    .option('--json', 'as JSON')
    .action(async (target, options) => {
      const { explainCache } = await import('./commands/cache.ts');
      await explainCache(target, options, io);
    });
}

function addUndo(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  program
    .command('undo')
    .description('put back the files that the last prompt changed through Write and Edit')
    .argument('[session]', SESSION_ARGUMENT)
    .option('--turn <number>', 'put back what this turn and all after it changed', wholeNumber)
    .option('--dry-run', 'say what would be done to each file')
    .option('--force', 'also where a file changed since; what is there now is kept for --redo')
    .addOption(new Option('--redo', 'take the last undo back').conflicts('turn'))
    .action(async (session, options) => {
      const { undo } = await import('./commands/undo.ts');
      setExitCode(await undo(session, options, io));
    });
}

function addWorktree(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const load = (): Promise<typeof import('./commands/worktree.ts')> => import('./commands/worktree.ts');
  const worktree = program.command('worktree').description('look after the worktrees of agents');
  worktree
    .command('ls')
    .description('list them: whose each is, and what it holds')
    .option('--all', 'also those that are ready, and those that are gone')
    .option('--json', 'as JSON')
    .action(async (options) => (await load()).listWorktrees(options, io));
  worktree
    .command('show')
    .description('show one')
    .argument('<worktree>', WORKTREE_ARGUMENT)
    .option('--json', 'as JSON')
    .action(async (name, options) => (await load()).showWorktree(name, options, io));
  worktree
    .command('gc')
    .description('remove what holds nothing, and say of the rest why it stays')
    .option('--dry-run', 'only say it')
    .option('--json', 'as JSON')
    .action(async (options) => (await load()).collect(options, io));
  worktree
    .command('rm')
    .description('remove worktrees; one that holds work stays')
    .argument('<worktrees...>', WORKTREE_ARGUMENT)
    .option('--force', 'also those: their work is kept on a private ref first')
    .action(async (names, options) => setExitCode(await (await load()).remove(names, options, io)));
  worktree
    .command('open')
    .description('print where one is')
    .argument('<worktree>', WORKTREE_ARGUMENT)
    .option('--shell', 'start a shell there instead')
    .action(async (name, options) => setExitCode(await (await load()).open(name, options, io)));
  worktree
    .command('diff')
    .description('show what one has beyond the commit it began with, committed or not')
    .argument('<worktree>', WORKTREE_ARGUMENT)
    .option('--stat', 'only the files and how much')
    .action(async (name, options) => (await load()).diff(name, options, io));
  addWorktreeCommit(worktree, WORKTREE_ARGUMENT, io);
}

function addEmulate(program: Command, io: CommandIo): void {
  program
    .command('emulate')
    .description('serve the Messages API on this machine, answered from a scenario file')
    .option('--scenario <file>', 'rules that say what to answer (YAML or JSON)')
    .option('--cassette <file>', 'recorded answers, played back exactly')
    .option('--record <file>', 'pass requests on to --upstream and record its answers as a cassette')
    .option('--upstream <url>', 'the provider to record from, such as https://api.anthropic.com')
    .option('--port <number>', 'where to listen on 127.0.0.1; any free port when absent', wholeNumber)
    .option('--log <file>', 'append every request, body verbatim, as one JSON line')
    .option('--require-key <key>', 'answer 401 unless this key is sent')
    .option('--first-token-ms <number>', 'time to the first token', wholeNumber)
    .option('--tokens-per-second <number>', 'speed of the answer after it', wholeNumber)
    .action(async (options) => (await import('./commands/emulate.ts')).emulate(options, io));
}

function addDemo(program: Command, io: CommandIo): void {
  program
    .command('demo')
    .description('watch an agent and five forks mend a small repository: no key, no network')
    .option('--keep', 'leave the folder')
    .action(async (options) => (await import('./commands/demo.ts')).demo(options, io));
}

function addSetup(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  program
    .command('settings')
    .description('show every setting and where it came from')
    .option('--json', 'as JSON')
    .option('--schema', 'the JSON Schema of a settings file instead')
    .action(async (options) =>
      setExitCode(await (await import('./commands/settings.ts')).settings(options, io)),
    );
  program
    .command('doctor')
    .description('look at what Ramet needs here: what works, what does not, and what to do')
    .option('--json', 'as JSON')
    .option('--repair <session>', 'save what can be read of a damaged session; the damaged file is kept')
    .action(async (options) => setExitCode(await (await import('./commands/doctor.ts')).doctor(options, io)));
  program
    .command('completion')
    .description('print the script that completes commands, flags and sessions in a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell) => (await import('./commands/completion.ts')).completion(shell, io));
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action(async (words) => (await import('./commands/completion.ts')).complete(program, words, io));
}

function addTrust(program: Command, io: CommandIo): void {
  program
    .command('trust')
    .description('let what this repository brings allow tools and run')
    .option('--revoke', 'take it back')
    .option('--show', 'only say whether it is trusted')
    .action(async (options) => (await import('./commands/trust.ts')).trust(options, io));
}

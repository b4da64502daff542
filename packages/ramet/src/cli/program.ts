/** The command line's grammar. One file per command; each is loaded only when it is called. */
import { Argument, Command, CommanderError, Help, Option } from 'commander';
import { describeError } from '../schema/errors.ts';
import { EXECUTORS } from '../schema/status.ts';
import { VERSION } from '../sdk/version.ts';
import { type CommandIo, EXIT, exitCodeOfError } from './io.ts';
import { addAgents, addGc, addMerge, addProvenance, addWorktreeCommit } from './merge/merge-grammar.ts';
import { commandNames, usageError } from './near-word.ts';
import { addOperate } from './operator/operator-grammar.ts';
import { addRunOptions, wholeNumber } from './run-options.ts';

const SESSION_ARGUMENT = 'a session id or the beginning of one (default: the latest)';
const WORKTREE_ARGUMENT = 'its name, branch or path, or its agent';
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

function addWorktree(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const load = (): Promise<typeof import('./commands/worktree.ts')> => import('./commands/worktree.ts');
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
    .action(async (name, options) => (await load()).diff(name, options, io));
  addWorktreeCommit(worktree, WORKTREE_ARGUMENT, io);
}

function addEmulate(program: Command, io: CommandIo): void {
  program
    .command('emulate')
    .description('serve the Messages API on this machine, with answers from a scenario file')
    .option('--scenario <file>', 'rules that say what to answer (YAML or JSON)')
    .option('--cassette <file>', 'recorded answers, played back exactly')
    .option('--record <file>', 'pass requests on to --upstream and record its answers as a cassette')
    .option('--upstream <url>', 'the provider to record from, such as https://api.anthropic.com')
    .option('--port <number>', 'port on 127.0.0.1 (default: any free one)', wholeNumber)
    .option('--log <file>', 'append every request, body verbatim, as one JSON line')
    .option('--require-key <key>', 'answer 401 unless this key is sent')
    .option('--first-token-ms <number>', 'time to the first token', wholeNumber)
    .option('--tokens-per-second <number>', 'speed of the answer after the first token', wholeNumber)
    .action(async (options) => (await import('./commands/emulate.ts')).emulate(options, io));
}

function addDemo(program: Command, io: CommandIo): void {
  program
    .command('demo')
    .description('watch an agent and five forks fix a small repository: no key, no network')
    .option('--keep', 'keep the folder')
    .action(async (options) => (await import('./commands/demo.ts')).demo(options, io));
}

function addSetup(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  program
    .command('settings')
    .description('show every setting and where it came from')
    .option('--json', 'print JSON')
    .option('--schema', 'print the JSON Schema of a settings file instead')
    .action(async (options) =>
      setExitCode(await (await import('./commands/settings.ts')).settings(options, io)),
    );
  program
    .command('doctor')
    .description('check what Ramet needs here: what works, what does not, and what to do')
    .option('--json', 'print JSON')
    .option('--repair <session>', 'save what can be read of a damaged session; the damaged file is kept')
    .action(async (options) => setExitCode(await (await import('./commands/doctor.ts')).doctor(options, io)));
  program
    .command('completion')
    .description('print the shell script that completes commands, flags and sessions')
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
    .description('trust this repository: its settings may allow tools, its agent types count')
    .option('--revoke', 'stop trusting it')
    .option('--show', 'only say whether it is trusted')
    .action(async (options) => (await import('./commands/trust.ts')).trust(options, io));
}

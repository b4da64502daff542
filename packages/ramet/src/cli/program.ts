/**
 * The command line's grammar. One file per command; each is loaded only when it is called. A run defines only the
 * commands that it can need: a prompt does not wait for the grammar of all others.
 */
import { Command, CommanderError, Help, Option } from 'commander';
import { describeError, UserMistake } from '../schema/errors.ts';
import { EXECUTORS } from '../schema/status.ts';
import { VERSION } from '../sdk/version.ts';
import { type CommandIo, EXIT, exitCodeOfError } from './io.ts';
import { nearWord, usageError } from './near-word.ts';
import { refuseAgentsIn } from './person-only.ts';
import {
  addAgentOptions,
  addInputOptions,
  addRunOptions,
  SESSION_ID_FORM,
  sessionIdOf,
  wholeNumber,
} from './run-options.ts';

const SESSION_ARGUMENT = 'a session id or the beginning of one (default: the latest)';
const TAKE_OVER = '--take-over';
/** The hidden command that shells ask. */
const COMPLETES = 'complete';
const HELP_FLAGS = ['-h', '--help'];
/** What help tells besides commands. */
const TOPIC = 'parallel';
const HELP_WORDS = [...HELP_FLAGS, 'help'];
const TARGET_ARGUMENT = 'a session (default: the latest)';

type AddCommands = (program: Command, io: CommandIo, setExitCode: (code: number) => void) => void;

interface CommandGroup {
  /** What `add` defines. */
  readonly names: readonly string[];
  add(): AddCommands | Promise<AddCommands>;
}

const merging = (): Promise<typeof import('./merge/merge-grammar.ts')> => import('./merge/merge-grammar.ts');
const setup = (): Promise<typeof import('./setup-grammar.ts')> => import('./setup-grammar.ts');

/** In the order of the help. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  { names: ['resume', 'stop'], add: () => addEnding },
  { names: ['ps', 'watch', 'show', 'logs', 'cost'], add: () => addViews },
  { names: ['sessions'], add: async () => (await import('./session-grammar.ts')).addSessions },
  { names: ['agents'], add: async () => (await setup()).addAgents },
  { names: ['cache'], add: () => addCache },
  {
    names: ['plan', 'stats', 'operate'],
    add: async () => (await import('./operator/operator-grammar.ts')).addOperate,
  },
  { names: ['undo'], add: () => addUndo },
  { names: ['merge'], add: async () => (await merging()).addMerge },
  { names: ['diff', 'blame'], add: async () => (await merging()).addProvenance },
  { names: ['worktree'], add: async () => (await merging()).addWorktree },
  { names: ['team'], add: async () => (await import('./team/team-grammar.ts')).addTeam },
  { names: ['memory'], add: async () => (await import('./memory/memory-grammar.ts')).addMemory },
  { names: ['mcp'], add: async () => (await import('./mcp-grammar.ts')).addMcp },
  { names: ['gc'], add: async () => (await setup()).addGc },
  { names: ['emulate'], add: async () => (await setup()).addEmulate },
  { names: ['demo'], add: async () => (await setup()).addDemo },
  { names: ['trust'], add: async () => (await setup()).addTrust },
  { names: ['settings', 'doctor', 'completion', COMPLETES], add: async () => (await setup()).addSetup },
];

/** Only the first word can name a command. For help and for completion all are defined, and where it names none. */
export function groupsFor(args: readonly string[]): readonly CommandGroup[] {
  const [first = '-'] = args;
  const named = COMMAND_GROUPS.filter(({ names }) => names.includes(first));
  if (named.length > 0 && first !== COMPLETES) return named;
  const isPrompt = first.startsWith('-') && first !== '--';
  return isPrompt && !args.some((word) => HELP_FLAGS.includes(word)) ? [] : COMMAND_GROUPS;
}

/** Runs one command and returns its exit code; never throws. */
export async function runProgram(args: readonly string[], io: CommandIo): Promise<number> {
  let exitCode: number = EXIT.done;
  try {
    if (args[0] === 'help' && args[1] === TOPIC) {
      io.out((await import('./help-examples.ts')).PARALLEL);
      return EXIT.done;
    }
    const program = await defineProgram(args, io, (code) => {
      exitCode = code;
    });
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUse;
    io.note(describeError(error));
    return exitCodeOfError(error, io.signal);
  }
}

async function defineProgram(
  args: readonly string[],
  io: CommandIo,
  setExitCode: (code: number) => void,
): Promise<Command> {
  const program: Command = new Command('ramet')
    .description(
      'fork() for AI agents: coding agents on a real repository, with one journal and a known bill',
    )
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption(HELP_FLAGS.join(', '), 'print this help')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.out(text),
      outputError: (text) => io.note(usageError(text, args, (name) => commandsBelow(program, name))),
    });
  const print = addPrint(program, io, setExitCode);
  for (const { add } of groupsFor(args)) (await add())(program, io, setExitCode);
  refuseAgentsIn(program, io);
  showOptionsOf(print, program);
  refuseUnknownHelp(args, program);
  if (args.some((word) => HELP_WORDS.includes(word)))
    (await import('./help-examples.ts')).addExamples(program);
  return program;
}

/** The parser would print the help of everything. */
function refuseUnknownHelp([first, word]: readonly string[], program: Command): void {
  if (first !== 'help' || word === undefined || word.startsWith('-')) return;
  const names = program.commands.map((command) => command.name()).filter((name) => name !== COMPLETES);
  if (names.includes(word) || word === 'help') return;
  const meant = nearWord(word, [...names, TOPIC]);
  const hint = meant === null ? 'ramet --help lists them' : `did you mean ${meant}?`;
  throw new UserMistake('no_command', `there is no command "${word}": ${hint}`);
}

function commandsBelow(program: Command, name: string): string[] {
  return program.commands.find((one) => one.name() === name)?.commands.map((below) => below.name()) ?? [];
}

/** `-p` is a command of its own only to the parser; to its user it is what `ramet` does. */
function showOptionsOf(print: Command, program: Command): void {
  const help = new Help();
  program
    .usage('[options] [PROMPT]\n       ramet -p [options] PROMPT\n       ramet COMMAND [options]')
    .configureHelp({
      visibleOptions: (shown) => [...(shown === program ? print.options : []), ...help.visibleOptions(shown)],
    });
}

function addPrint(program: Command, io: CommandIo, setExitCode: (code: number) => void): Command {
  const print = program
    .command('print', { isDefault: true, hidden: true })
    .argument('[prompt...]', 'what to do; piped standard input is appended')
    .option('-p, --print', 'run one prompt, print the result and exit');
  return addInputOptions(addAgentOptions(addRunOptions(print)))
    .addOption(
      new Option(
        '--executor <kind>',
        'executor for agents whose type sets none (default: in-process)',
      ).choices([...EXECUTORS]),
    )
    .addOption(
      new Option('-c, --continue', 'resume the latest session of this working tree').conflicts('resume'),
    )
    .option(
      '-r, --resume [session]',
      'resume a session: its id or the beginning of it (default: choose one; with -p the latest)',
    )
    .option('--fork-session', 'with --resume or --continue: a new session from its conversation')
    .option('--session-id <id>', `the id of the new session: ${SESSION_ID_FORM}`, sessionIdOf)
    .option(TAKE_OVER, 'with --resume or --continue: confirm that its last process, elsewhere, has ended')
    .addOption(
      new Option(
        '--worktree [worktree]',
        'work in the git worktree of this name, created if needed; without a name (put the flag last) in a new one',
      ).conflicts(['continue', 'resume']),
    )
    .addOption(
      new Option(
        '--team [name]',
        'lead a team of agents that stay between tasks; without a name (put the flag last) it gets the id of the session',
      ).conflicts(['continue', 'resume']),
    )
    .addOption(
      new Option(
        '--coordinator',
        'coordinate workers in four phases: research, synthesis, implementation, verification',
      ).conflicts(['continue', 'resume', 'team']),
    )
    .addOption(
      new Option(
        '--worktree-base <commit>',
        'start of a new worktree: a commit, branch, tag or pull request of origin (pr/123)',
      ).conflicts(['continue', 'resume']),
    )
    .action(async (prompt: string[], options) => {
      const { print } = await import('./commands/print.ts');
      const commands = COMMAND_GROUPS.flatMap(({ names }) => names).filter((name) => name !== COMPLETES);
      // Several words in one argument are no command.
      const isQuoted = prompt.length === 1 && /\s/.test(prompt[0] ?? '');
      setExitCode(await print(prompt.join(' '), options, io, isQuoted ? [] : commands));
    });
}

function addEnding(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const resume = program
    .command('resume')
    .description('resume an interrupted session and all its agents, without a new prompt')
    .argument('[session]', 'a session id or the beginning of one (default: the latest interrupted one)')
    .option('--json', 'the same as --output-format json')
    .option(TAKE_OVER, 'confirm that its last process, on another machine or in a container, has ended');
  addRunOptions(resume).action(async (session, options) => {
    setExitCode(await (await import('./commands/resume.ts')).resume(session, options, io));
  });
  program
    .command('stop')
    .description('stop a running session or one of its agents, and wait until it has ended')
    .argument('[target]', 'a session (default: the running one); append .2 for its agent 2')
    .option('--now', 'end it at once, without a clean end')
    .option('--json', 'print what came of it as JSON')
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
    .command('watch')
    .description('follow a session that runs in another process: its agents, its answers, its cost')
    .argument('[session]', 'a session id or the beginning of one (default: the running one)')
    .option('--json', 'print what is recorded from now on, one event per line')
    .action(async (session, options) => {
      setExitCode(await (await import('./commands/watch.ts')).watch(session, options, io));
    });
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
    .option(
      '--team [team]',
      'what a team cost by member, and what its messages added (default: the only one)',
    )
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
    .option('--json', 'print JSON')
    .action(async (session, options) => {
      const { undo } = await import('./commands/undo.ts');
      setExitCode(await undo(session, options, io));
    });
}

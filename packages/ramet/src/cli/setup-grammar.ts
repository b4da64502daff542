/** The grammar of the commands around the work: what is set up here, what to tidy up, and what to try Ramet with. */
import { Argument, type Command, InvalidArgumentError } from 'commander';
import type { CommandIo } from './io.ts';
import { portNumber, wholeNumber } from './run-options.ts';

export function addAgents(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const agents = program
    .command('agents')
    .description('list agent types: where each is defined, what overrides what, mistakes in files')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./commands/agents.ts')).agents(options, io));
  agents
    .command('validate')
    .description('check definition files; exit with 1 if one cannot be used')
    .argument('[path...]', 'files and folders (default: those that apply here)')
    .option('--json', 'print JSON')
    .action(async (paths, options) => {
      const { validateAgents } = await import('./commands/agents.ts');
      setExitCode(await validateAgents(paths, options, io));
    });
  agents
    .command('show')
    .description('show what a child of this type will see: prompt, tools, model, environment')
    .argument('<type>', 'name of the type')
    .option('--json', 'print JSON')
    .action(async (name, options) => (await import('./commands/agents.ts')).showAgentType(name, options, io));
}

export function addGc(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  program
    .command('gc')
    .description('list the space that sessions, outputs, logs and worktrees use, and remove what is old')
    .option('--older-than <days>', 'remove what was not used for this many days (default: 30)', days)
    .option('--interrupted', 'include interrupted sessions that could be resumed')
    .option(
      '--work',
      'include work of agents that exists nowhere else: private refs, folders of removed worktrees',
    )
    .option('--dry-run', 'only list')
    .option('-y, --yes', 'remove without asking')
    .option('--json', 'print JSON')
    .action(async (options) => setExitCode(await (await import('./commands/gc.ts')).gc(options, io)));
}

function days(text: string): number {
  const value = Number(text.replace(/d(ays)?$/, ''));
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('It must be a number of days, 0 or more.');
}

export function addEmulate(program: Command, io: CommandIo): void {
  program
    .command('emulate')
    .description('serve the Messages API on this machine, with answers from a scenario file')
    .option('--scenario <file>', 'rules that say what to answer (YAML or JSON)')
    .option('--cassette <file>', 'recorded answers, played back exactly')
    .option('--record <file>', 'pass requests on to --upstream and record its answers as a cassette')
    .option('--upstream <url>', 'the provider to record from, such as https://api.anthropic.com')
    .option('--port <number>', 'port on 127.0.0.1 (default: any free one)', portNumber)
    .option('--log <file>', 'append every request, body verbatim, as one JSON line')
    .option('--require-key <key>', 'answer 401 unless this key is sent')
    .option('--first-token-ms <number>', 'time to the first token', wholeNumber)
    .option('--tokens-per-second <number>', 'speed of the answer after the first token', wholeNumber)
    .action(async (options) => (await import('./commands/emulate.ts')).emulate(options, io));
}

export function addDemo(program: Command, io: CommandIo): void {
  program
    .command('demo')
    .description('watch agents work on a small repository: no key, no network')
    .addArgument(
      new Argument(
        '[story]',
        'forks: one prompt, five agents, a kill, a resume, a merge (default); operate: a list of eight tasks, with a conflict',
      ).choices(['forks', 'operate']),
    )
    .option('--keep', 'keep the folder')
    .action(async (story, options) => {
      if (story === 'operate') await (await import('./commands/demo-operate.ts')).demoOperate(options, io);
      else await (await import('./commands/demo.ts')).demo(options, io);
    });
}

export function addTrust(program: Command, io: CommandIo): void {
  program
    .command('trust')
    .description('trust this repository: its settings may allow tools, its agent types count')
    .option('--revoke', 'stop trusting it')
    .option('--show', 'show what is trusted and what has changed; change nothing')
    .option('--full', 'list each command that cannot be followed, also where the program is listed already')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./commands/trust.ts')).trust(options, io));
}

export function addSetup(program: Command, io: CommandIo, setExitCode: (code: number) => void): void {
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

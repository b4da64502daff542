/** The grammar of what can be asked of a run from any terminal: commands below `ramet operate`. */
import { Argument, type Command, Option } from 'commander';
import type { OperatorAction } from '../../schema/operator-events.ts';
import { SESSION_MODES } from '../../schema/status.ts';
import type { RequestFlags } from '../commands/operate-request.ts';
import type { CommandIo } from '../io.ts';
import { positiveNumber, wholeNumber } from '../run-options.ts';

const SESSION = 'the session of the run (default: the only run here that can be meant)';
const TASK = 'the id of a task';

export function addRequests(operate: Command, io: CommandIo, setExitCode: (code: number) => void): void {
  const load = (): Promise<typeof import('../commands/operate-request.ts')> =>
    import('../commands/operate-request.ts');
  const ask = async (action: OperatorAction, flags: RequestFlags): Promise<void> =>
    setExitCode(await (await load()).ask(action, flags, io));
  const below = (name: string, description: string): Command =>
    operate.command(name).description(description).option('--session <session>', SESSION);
  below('status', 'show the tasks of a run, what it waits for and what needs a person')
    .option('--json', 'print JSON')
    .action(async (flags) => (await load()).status(flags, io));
  below('add', 'add a task in words, or the tasks of a file that the run does not have yet')
    .argument('<task>', 'what to do, in several words; or a task file or folder')
    .option('--optional', 'include optional tasks')
    .option('--bullets', 'read list items as tasks if no line has a box')
    .option('--tag <name>', 'which list of a JSON file that has several')
    .action(async (file, flags) => setExitCode(await (await load()).add(file, flags, io)));
  addAsk(
    below(
      'ask',
      'ask a model about a run; it looks, and does what you ask: pause, resume, stop, skip, retry',
    ),
  ).action(async (prompt: string[], flags) => {
    setExitCode(await (await load()).askModel(prompt.join(' '), flags, io));
  });
  below('pause', 'start nothing new until the run is resumed; what is under way finishes').action((flags) =>
    ask({ kind: 'pause' }, flags),
  );
  below('resume', 'let a paused run start tasks again (--resume continues a run that nobody runs)').action(
    (flags) => ask({ kind: 'resume' }, flags),
  );
  for (const [kind, description] of [
    ['skip', 'leave a task out; its agents are stopped and their work is kept'],
    ['retry', 'try a task again that failed, is frozen or was skipped; or ask its reviewers again'],
    ['start', 'let a task start that waits for a person'],
  ] as const)
    below(kind, description)
      .argument('<task>', TASK)
      .action((task, flags) => ask({ kind, task }, flags));
  below('approve', 'approve the commit of a task in place of its reviewers')
    .argument('<task>', TASK)
    .action(async (task, flags) => setExitCode(await (await load()).approve(task, flags, io)));
  below('answer', 'answer a question about permission that an agent asks')
    .argument('<question>', 'its name, as "ramet operate status" shows it')
    .addArgument(
      new Argument('<answer>', 'allow it once, always, or not').choices(['once', 'always', 'denied']),
    )
    .action((question, answer, flags) => ask({ kind: 'answer', question, answer }, flags));
}

function addAsk(command: Command): Command {
  return command
    .argument('<prompt...>', 'a question or an order, such as "why did T004 fail? try it again"')
    .option('--model <model>', 'a model id, or haiku, sonnet, opus or fable')
    .option('--max-turns <number>', 'limit of model responses; one closing turn follows', wholeNumber)
    .option('--max-budget-usd <dollars>', 'stop when this much is spent', positiveNumber)
    .addOption(
      new Option('--permission-mode <mode>', 'what the model may do; plan: it only looks').choices([
        ...SESSION_MODES,
      ]),
    )
    .addOption(
      new Option('--output-format <format>', 'format of the result')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    );
}

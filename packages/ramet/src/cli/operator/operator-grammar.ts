/** The grammar of the commands for task files. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ISOLATIONS } from '../../schema/operator-events.ts';
import { CONFLICT_POLICIES, MERGE_STRATEGIES, SESSION_MODES } from '../../schema/status.ts';
import type { CommandIo } from '../io.ts';
import { positiveNumber, ruleList, wholeNumber } from '../run-options.ts';
import { addRequests } from './request-grammar.ts';

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
  const operate = program
    .command('operate')
    .description(
      'run the tasks of a file, or of a goal in words: agents in worktrees, merged and checked commits',
    )
    .argument('[file]', `${FILE}; or a goal in quotes, for which an agent writes the file first`)
    .option(
      '--lint',
      'only explain how each line was read and what is wrong; exit with 1 if there are errors',
    )
    .option('--json', 'with --lint: print JSON')
    .option('--bullets', 'read list items as tasks if no line has a box')
    .option('--tag <name>', 'which list of a JSON file that has several')
    .option('--optional', 'include optional tasks')
    .option('--yes', 'with a goal: run the tasks without a question')
    .option('--out <file>', 'with a goal: where its tasks are written (default: a name from the goal)')
    .option(
      '--resume [session]',
      'continue a run that was interrupted; the latest one if no session is named',
    )
    .option('--again', 'start also if a run of the same file is not over')
    .option('--into <branch>', 'where results land (default: the branch that is checked out)')
    .option('--parallel <number>', 'how many agents work at once, or auto (default: 4)', width)
    .option('--policy <policy>', 'what lands: best-effort (default), all, quorum:K or first')
    .option('--attempts <number>', 'with --policy first: how many agents compete for a task', wholeNumber)
    .option('--check <command>', 'must succeed on the merged files (default: setting merge.check)')
    .option('--no-check', 'merge without a check, whatever the settings say')
    .option('--check-seconds <seconds>', 'how long a check may take', wholeNumber)
    .addOption(
      new Option(
        '--pattern, --isolation <pattern>',
        'where agents work: a worktree each, one checkout with declared files (partition) or without (none), reading only (propose), a clone each, members of a team (default: auto)',
      ).choices(['auto', ...ISOLATIONS]),
    )
    .addOption(new Option('--strategy <strategy>', 'how branches are merged').choices([...MERGE_STRATEGIES]))
    .addOption(
      new Option(
        '--on-conflict <policy>',
        'retry the task (default), resolve with another agent, or leave it to a person',
      ).choices([...CONFLICT_POLICIES]),
    )
    .option('--resolve-model <model>', 'with --on-conflict resolve: the model of that agent')
    .option('--resolve-budget-usd <dollars>', 'what it may spend on one conflict', positiveNumber)
    .option(
      '--review <types>',
      'agent types, such as code-review, that must approve each commit before it is merged',
      names,
    )
    .option('--review-model <model>', 'the model of those agents')
    .option('--retries <number>', 'how often a failed task is tried again (default: 2)', count)
    .option('--max-budget-usd <dollars>', 'start nothing more when this much is spent', positiveNumber)
    .option('--model <model>', 'the model of the agents that do tasks; a task may name its own')
    .option('--plan-model <model>', 'with a goal: the model of the agent that writes the tasks')
    .option('--update-checkout', 'also move a target that is checked out, if that checkout is clean')
    .option('--no-marks', 'do not mark done tasks in the file')
    .addOption(
      new Option('--permission-mode <mode>', 'what agents may do (default: acceptEdits)').choices([
        ...SESSION_MODES,
      ]),
    )
    .option(
      '--allowedTools <rules>',
      'what agents may do without a question, such as "Bash(npm test:*)"',
      ruleList,
    )
    .option('--disallowedTools <rules>', 'what agents may never do', ruleList)
    // The names that these two had first.
    .addOption(new Option('--allow <rules>').argParser(ruleList).hideHelp())
    .addOption(new Option('--deny <rules>').argParser(ruleList).hideHelp())
    .addOption(
      new Option(
        '--output-format <format>',
        'text, one JSON object at the end, or a JSON line for each event',
      )
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .option('--report <file>', 'write the report here too (it is always kept in the folder of the session)')
    .action(async (file, { allowedTools, disallowedTools, ...options }) => {
      const allow = joined(options.allow, allowedTools);
      const deny = joined(options.deny, disallowedTools);
      const flags = { ...options, ...(allow && { allow }), ...(deny && { deny }) };
      setExitCode(await (await import('../commands/operate.ts')).operate(file, flags, io));
    });
  addRequests(operate, io, setExitCode);
}

function names(text: string): string[] {
  const list = text.split(',').map((name) => name.trim());
  if (list.every((name) => name !== '')) return list;
  throw new InvalidArgumentError('It must be names of agent types with commas between them.');
}

function joined(some: string[] | undefined, others: string[] | undefined): string[] | undefined {
  return some === undefined || others === undefined ? (some ?? others) : [...some, ...others];
}

function width(text: string): number | 'auto' {
  return text === 'auto' ? text : wholeNumber(text);
}

function count(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of at least 0.');
}

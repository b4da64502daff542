/**
 * From a goal to a task file: an agent of the type Plan reads the repository and writes the list, the parser checks it, and
 * errors go back to the agent a few times. It only reads; the file is written here, and nothing of it is run.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import type { AgentResult } from '../../../engine/shapes.ts';
import { runGit } from '../../../git/run-git.ts';
import { RECIPE_MODEL } from '../../../model/catalog.ts';
import type { TaskList } from '../../../operator/tasks/listed-task.ts';
import { RametError, systemCode, UserMistake } from '../../../schema/errors.ts';
import { addCost } from '../../../schema/usage.ts';
import { childEnvironment } from '../../../system/child-environment.ts';
import { type Caller, type CallOptions, callerOf } from '../../calls/caller.ts';
import { findPlace } from '../../place.ts';
import { openSession, type Session } from '../../session/session.ts';
import { sessionSettings } from '../../session/setup/session-settings.ts';
import { goalPrompt, problemPrompt } from './goal-prompt.ts';
import { type Proposal, readProposal } from './read-proposal.ts';

const MOST_ROUNDS = 3;
const LONGEST_SLUG = 40;
const LONGEST_GOAL = 20_000;

export interface ProposalOptions extends CallOptions {
  /** Where the file is written; by default a name from the goal, in the current directory. */
  out?: string | undefined;
  model?: string | undefined;
  /** Of the agent that plans; the setting `operate.models.planner`, or else `model`, when absent. */
  planModel?: string | undefined;
  maxBudgetUsd?: number | undefined;
  /** The branch that the tasks will be merged into: it must be there before the agent is paid. */
  into?: string | undefined;
}

export type ProposalOutcome =
  | { kind: 'written'; file: string; list: TaskList; session: string; costUsd: number | null; rounds: number }
  /** The agent did not come to an end of its own. */
  | { kind: 'ended'; result: AgentResult; session: string };

export async function proposeTasks(goal: string, options: ProposalOptions = {}): Promise<ProposalOutcome> {
  if (goal.length > LONGEST_GOAL)
    throw new UserMistake(
      'goal_too_long',
      `a goal has at most ${LONGEST_GOAL} characters: put the rest into a file and name it`,
    );
  const { cwd, env, signal, note, progress } = callerOf(options);
  const file = chosenFile(goal, cwd, options.out);
  if (options.into !== undefined) await requireBranch(options.into, { cwd, env });
  await using session = await openSession({
    ...{ cwd, env, team: false, title: `plan: ${goal}`, permissionMode: 'plan' },
    ...(options.model !== undefined && { model: options.model }),
    ...(options.maxBudgetUsd !== undefined && { budget: { usd: options.maxBudgetUsd } }),
  });
  for (const notice of session.notices) note(notice);
  if (session.model === RECIPE_MODEL)
    throw new UserMistake(
      'no_planner',
      'the recipe model cannot plan: set ANTHROPIC_API_KEY or --model, or write the task file yourself',
    );
  const { settings } = await sessionSettings({ cwd, env });
  const model = options.planModel ?? settings.operate?.models?.planner;
  const root = findPlace({ cwd, env }).repository?.root;
  progress(
    `an agent reads the repository and writes the tasks (${model ?? session.model}, session ${session.id})`,
  );
  return await negotiate(session, goal, {
    ...{ signal, progress, model },
    read: (answer) => readProposal(answer, file, { cwd, root }),
    file,
    cwd,
  });
}

async function requireBranch(branch: string, { cwd, env }: Pick<Caller, 'cwd' | 'env'>): Promise<void> {
  const args = ['rev-parse', '--quiet', '--verify', `refs/heads/${branch}^{commit}`];
  const { code } = await runGit(args, { cwd, env: childEnvironment(env) });
  if (code !== 0)
    throw new UserMistake(
      'no_target',
      `there is no branch "${branch}" with a commit to merge into: name one with --into`,
    );
}

interface Negotiation {
  /** Undefined for the session's own. */
  model: string | undefined;
  signal: AbortSignal;
  progress(line: string): void;
  read(answer: string): Promise<Proposal>;
  file: string;
  cwd: string;
}

async function negotiate(
  session: Session,
  goal: string,
  { signal, progress, model, read, file, cwd }: Negotiation,
): Promise<ProposalOutcome> {
  let costUsd: number | null = 0;
  let handle = await session.spawn({
    ...{ subagent_type: 'Plan', description: 'write the task list', prompt: goalPrompt(goal) },
    ...(model !== undefined && { model }),
  });
  for (let rounds = 1; ; rounds++) {
    const result = await ended(handle, signal);
    costUsd = addCost(costUsd, result.costUsd);
    if (result.status !== 'done') return { kind: 'ended', result, session: session.id };
    const { text, list, errors } = await read(result.text);
    const [first] = errors;
    if (first === undefined) {
      write(resolve(cwd, file), text, goal);
      return { kind: 'written', file, list, session: session.id, costUsd, rounds };
    }
    if (rounds === MOST_ROUNDS)
      throw new RametError(
        'no_plan',
        'terminal',
        `the agent wrote no usable task list in ${MOST_ROUNDS} rounds (line ${first.line}: ${first.message}): see ramet show ${session.id}, or say the goal in other words`,
      );
    progress(
      `the list has ${errors.length === 1 ? 'an error' : `${errors.length} errors`}: the agent corrects it`,
    );
    handle = await session.tell(handle.id, problemPrompt(errors));
  }
}

async function ended(
  handle: Awaited<ReturnType<Session['spawn']>>,
  signal: AbortSignal,
): Promise<AgentResult> {
  const stop = (): void => handle.stop(String(signal.reason));
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await handle.result;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Never one that is there. */
function chosenFile(goal: string, cwd: string, out: string | undefined): string {
  if (out !== undefined) {
    if (!/\.ya?ml$/i.test(out))
      throw new UserMistake('bad_out', `${out} is no name for the task file: it must end in .yaml`);
    if (!existsSync(dirname(resolve(cwd, out))))
      throw new UserMistake('bad_out', `cannot write ${out}: its folder is not there`);
    if (existsSync(resolve(cwd, out)))
      throw new UserMistake(
        'out_exists',
        `${out} is there already: name another file with --out, or run it: ramet operate ${out}`,
      );
    return out;
  }
  const slug = slugOf(goal);
  for (let number = 1; ; number++) {
    const file = `${slug}${number === 1 ? '' : `-${number}`}.tasks.yaml`;
    if (!existsSync(resolve(cwd, file))) return file;
  }
}

function slugOf(goal: string): string {
  const words =
    goal
      .normalize('NFKD')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const slug = words.reduce(
    (sum, word) => (sum.length + word.length < LONGEST_SLUG ? `${sum}-${word}` : sum),
    '',
  );
  return slug.slice(1) || 'goal';
}

function write(path: string, text: string, goal: string): void {
  const heading = `# ${goal.replace(/\s+/g, ' ').slice(0, 200)}\n`;
  try {
    writeFileSync(path, heading + text, { flag: 'wx' });
  } catch (error) {
    const reason = systemCode(error) ?? String(error);
    throw new UserMistake(
      'cannot_write',
      `cannot write ${relative('.', path) || basename(path)}: ${reason}`,
      { cause: error },
    );
  }
}

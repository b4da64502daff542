/** What members do with the team's tasks, carried out, in the words that their models read (TEAM-3). */
import { quoteMessage } from '../../conversation/quoted-text.ts';
import { Cancelled } from '../../schema/errors.ts';
import type { TaskProof, TeamTask, TeamTaskState } from '../../schema/team.ts';
import type { ProcessIdentity } from '../../system/processes/process-identity.ts';
import { headOf, visibleLine } from '../../system/text/visible-text.ts';
import type { StoredTeam } from '../../team/store/team-store.ts';
import type { TaskDesk, TaskUpdate } from '../../tools/agent-desk.ts';
import { failure, type ToolOutcome } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import { hookSaid } from '../agent/notices.ts';
import { stillYours, type TaskNews } from './task-news.ts';
import { proofText } from './task-proof.ts';

const MOST_LISTED = 200;
const LONGEST_SUBJECT = 120;

/** What the desk needs of the team's host. */
interface TaskHost {
  readonly team: StoredTeam;
  readonly process: ProcessIdentity;
  readonly news: Pick<TaskNews, 'tellFree'>;
}

/** Who asks for something of the team. */
export interface TeamAsker {
  /** The call that asks, in the team. */
  readonly call: string;
  name(): string;
  /** The call that asks is on disk. */
  recorded(): Promise<void>;
}

interface TaskAsker extends TeamAsker {
  /** Where its conversation is. */
  position(): number;
  /** What its conversation shows from there on. */
  proof(position: number): TaskProof;
  /** The hooks that have a say: what they have against a task; null where there are none. */
  hooks(event: TaskEvent): ((task: TeamTask) => Promise<string | null>) | null;
}

type TaskEvent = 'TaskCreated' | 'TaskCompleted';

export function taskDesk(host: TaskHost, asker: TaskAsker): TaskDesk {
  const { tasks, calls } = host.team;
  return {
    async create({ subject, description, blocked_by: needs, owner }) {
      await asker.recorded();
      const by = asker.name();
      const hooks = asker.hooks('TaskCreated');
      const order = { subject, description, needs, owner, isProposed: hooks !== null };
      const made = calls.once(asker.call, () => tasks.create(by, order));
      if ('problem' in made) return refused(made);
      const { task } = made;
      // Also of a call that is made again, in whatever process: nobody claims it before the hooks have answered.
      if (tasks.isProposed(task.number)) {
        const said = (await hooks?.(task)) ?? null;
        if (said !== null) {
          tasks.refuse(task.number, by);
          return failure(`${NOT_LISTED}\n${said}`);
        }
        tasks.accept(task.number);
      } else if (tasks.find(task.number) === undefined) return failure(NOT_LISTED);
      // What it needs may have been completed while a hook ran.
      const listed = tasks.find(task.number) ?? task;
      if (listed.status === 'pending' && listed.blockedBy.length === 0) host.news.tellFree([listed], by);
      return { content: `Task ${task.number} is on the list. ${lineOf(listed)}` };
    },
    async get(number) {
      const task = tasks.find(number);
      return task === undefined
        ? failure(`There is no task ${number}. TaskList shows them.`)
        : { content: wholeOf(task) };
    },
    async list() {
      return { content: taskListText(tasks.all()) };
    },
    async update(change) {
      await asker.recorded();
      const by = asker.name();
      const edited = isEdit(change) ? calls.once(`${asker.call}:edit`, () => edit(host, by, change)) : null;
      if (edited !== null && (edited.isError === true || change.status === undefined)) return edited;
      if (change.status === undefined) return failure('Nothing to change: give a status, or what to edit.');
      const refusal = change.status === 'completed' ? await refusalOf(host, asker, change) : null;
      if (refusal !== null) return refusal;
      if (change.status === 'failed' && (change.note ?? '').trim() === '')
        return failure('Say in note why it failed: what was tried, and what is missing.');
      return setStatus(host, { ...asker, by }, change, change.status);
    },
  };
}

const NOT_LISTED = 'The task is not on the list: a hook refused it.';

/** Why a task is not completed now, by its owner or by the lead; null for one that may be, and where the record has the reason. */
async function refusalOf(
  { team: { tasks } }: TaskHost,
  asker: TaskAsker,
  { task: number, evidence }: TaskUpdate,
): Promise<ToolOutcome | null> {
  const task = tasks.endable(number, asker.name());
  if (task === null) return null;
  if ((evidence ?? '').trim() === '')
    return failure('Say in evidence what proves it: a command and its result, the commit, the files.');
  const said = (await asker.hooks('TaskCompleted')?.(task)) ?? null;
  return said === null ? null : failure(`Task ${number} is not completed: a hook says so.\n${said}`);
}

/** Null where no hook has a say. */
export function taskHooks(
  agent: Agent,
  event: TaskEvent,
  named: { teammate_name: string; team_name: string },
  signal: AbortSignal,
): ReturnType<TaskAsker['hooks']> {
  const { hooks, redact } = agent.runtime;
  if (hooks?.has(agent, event) !== true) return null;
  return async ({ number, subject, description }) => {
    const about = { task_id: String(number), task_subject: subject, task_description: description };
    const { block, stop } = await hooks.run(agent, event, { ...about, ...named }, signal);
    if (signal.aborted) throw new Cancelled();
    if (event === 'TaskCompleted') agent.here.halt ??= stop ?? null;
    return block === undefined ? null : redact(hookSaid(event, block));
  };
}

function refused({ problem }: { problem: string }): ToolOutcome {
  return failure(`${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`);
}

/** Whether more than the status changes. */
function isEdit({ subject, description, add_blocked_by: addNeeds, owner }: TaskUpdate): boolean {
  return [subject, description, addNeeds, owner].some((field) => field !== undefined);
}

function edit({ team: { tasks } }: TaskHost, by: string, change: TaskUpdate): ToolOutcome {
  const { task, subject, description, add_blocked_by: addNeeds, owner } = change;
  const edited = tasks.edit(task, by, { subject, description, addNeeds, owner: owner === '' ? null : owner });
  return 'problem' in edited ? refused(edited) : { content: `Changed. ${lineOf(edited.task)}` };
}

function setStatus(
  host: TaskHost,
  { by, call, position, proof }: TaskAsker & { by: string },
  { task, evidence, note }: TaskUpdate,
  status: TeamTaskState,
): ToolOutcome {
  const { tasks, calls } = host.team;
  if (status === 'in_progress') {
    const claimed = tasks.claim(task, by, { ...host.process, position: position() });
    if ('problem' in claimed) return refused(claimed);
    const others = tasks.heldBy(by).filter((number) => number !== task);
    const said = [`Task ${task} is yours.`, wholeOf(claimed.task), ...others.map(stillYours)];
    return { content: said.join('\n') };
  }
  if (status === 'pending') {
    const freed = calls.once(call, () => tasks.release(task, by, note ?? `released by ${by}`));
    if ('problem' in freed) return refused(freed);
    host.news.tellFree([freed.task], by);
    return { content: `Released. ${lineOf(freed.task)}` };
  }
  const ended = calls.once(call, () => {
    const seen = tasks.find(task)?.owner === by ? proof(tasks.positionOf(task)) : undefined;
    return tasks.end(task, by, { status, evidence, proof: seen, note });
  });
  if ('problem' in ended) return refused(ended);
  host.news.tellFree(ended.freed, by);
  const next = ended.freed.map(({ number }) => number);
  const freed =
    next.length === 0 ? '' : ` It frees ${next.length === 1 ? 'task' : 'tasks'} ${next.join(', ')}.`;
  return { content: `Task ${task} is ${status}.${freed}` };
}

function lineOf({ number, status, subject, owner, blockedBy }: TeamTask): string {
  const who = owner === null ? '' : `, ${status === 'pending' ? 'for' : 'by'} ${owner}`;
  const waits = blockedBy.length === 0 ? '' : `, waits for ${blockedBy.join(', ')}`;
  return `${number}. [${status}${who}${waits}] ${quoteMessage(visibleLine(headOf(subject, LONGEST_SUBJECT)))}`;
}

function wholeOf(task: TeamTask): string {
  const { description, needs, createdBy, evidence, proof, note } = task;
  return [
    lineOf(task),
    `made by ${createdBy}${needs.length === 0 ? '' : `; needs ${needs.join(', ')}`}`,
    ...(description === '' ? [] : [saidText('description', description)]),
    ...(evidence === null ? [] : [saidText('evidence', evidence)]),
    ...(proof === null ? [] : [`Seen by the engine: ${quoteMessage(proofText(proof))}`]),
    ...(note === null ? [] : [saidText('note', note)]),
  ].join('\n');
}

/** What members wrote has an element of its own: it cannot pass for what the engine has seen. */
function saidText(what: 'description' | 'evidence' | 'note', text: string): string {
  return `<task-text what="${what}">\n${quoteMessage(text.toWellFormed())}\n</task-text>`;
}

/** Only what is open is listed where that alone is wanted, and where there is not room for all. */
export function taskListText(tasks: readonly TeamTask[], isOpenOnly = false): string {
  if (tasks.length === 0) return 'The team has no tasks.';
  const open = tasks.filter(({ status }) => status !== 'completed');
  const listed = isOpenOnly || tasks.length > MOST_LISTED ? open : tasks;
  const shown = listed.slice(0, MOST_LISTED);
  const completed = tasks.length - open.length;
  const unlisted = completed > 0 && listed === open ? ' (not listed)' : '';
  const head = `${tasks.length} tasks, ${completed} completed${unlisted}${shown.length === 0 ? '.' : ':'}`;
  const rest = listed.length - shown.length;
  return [head, ...shown.map(lineOf), ...(rest === 0 ? [] : [`and ${rest} more that are open`])].join('\n');
}

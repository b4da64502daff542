/** Teams as people read them. */
import type { TodoItem } from '../schema/status.ts';
import { LEAD, type ShownMember, type TaskProof, type TeamTask, type WaitingPlan } from '../schema/team.ts';
import { excerpt, fitText, printable, table } from './text/format.ts';

interface ShownTeam {
  readonly name: string;
  readonly session: string;
  readonly host: number | null;
  readonly isRun: boolean;
  readonly members: readonly ShownMember[];
  readonly tasks: readonly TeamTask[];
  readonly plans: readonly WaitingPlan[];
}

const SUBJECT_LENGTH = 72;

export function teamListText(teams: readonly ShownTeam[]): string {
  const rows = teams.map(({ name, session, host, members, tasks }) => {
    const completed = tasks.filter(({ status }) => status === 'completed').length;
    return [
      printable(name),
      session,
      host === null ? 'no process' : `process ${host}`,
      counted(members.length - 1, 'member'),
      statesText(members.filter((member) => member.name !== LEAD)),
      `${completed} of ${tasks.length} tasks completed`,
    ];
  });
  return table([['TEAM', 'SESSION', 'HOST', 'MEMBERS', 'NOW', 'TASKS'], ...rows]);
}

/** With `columns`, for a place that cuts rows at its edge: what each member does comes first, and long names are cut. */
export function teamText(team: ShownTeam, columns: number | null = null): string {
  const { name, session, host, members, tasks, plans } = team;
  const where = host === null ? unhosted(team) : `process ${host}`;
  const rows = members.map(({ name: member, state, cause, agent, type, unread, plan, branch }) => {
    const news = [unread === 0 ? '' : `${unread} unread`, plan === null ? '' : `plan ${plan}`];
    const what = news.filter(Boolean).join(', ');
    const rest = [agent ?? '', printable(type), printable(branch ?? '')];
    const shown = printable(member);
    const name = columns === null ? shown : fitText(shown, Math.max(8, Math.floor(columns / 3)));
    const now = stateText({ state, cause });
    return columns === null ? [`  ${name}`, now, ...rest, what] : [`  ${name}`, now, what, ...rest];
  });
  return `${printable(name)}  session ${session}  ${printable(where)}\n\nmembers\n${table(rows)}\n${plans.map(planText).join('')}${taskTableText(tasks)}`;
}

/** A team that someone has stopped waits for nobody: only who wants more of it resumes it. */
function unhosted({ name, session, isRun, members }: ShownTeam): string {
  if (isRun) return `no process hosts it; ramet operate status --session ${session} shows its run`;
  const others = members.filter((member) => member.name !== LEAD);
  return others.length > 0 && others.every(({ state }) => state === 'stopped')
    ? `it was stopped; ramet team resume ${name} lets its members work again`
    : `no process hosts it: ramet team resume ${name} resumes it`;
}

/** `blocked: permission`. That a process has ended says no more than `interrupted` does. */
function stateText({ state, cause }: Pick<ShownMember, 'state' | 'cause'>): string {
  return cause === null || cause === 'process_ended' ? state : `${state}: ${printable(cause)}`;
}

/** `2 running, 1 idle`, in the order in which the states first occur. */
function statesText(members: readonly ShownMember[]): string {
  const groups = Map.groupBy(members, ({ state }) => state);
  return Array.from(groups, ([state, { length }]) => `${length} ${state}`).join(', ');
}

/** Whole: who approves it has to read it. */
function planText({ member, text }: WaitingPlan): string {
  const lines = text.split('\n').map((line) => `  ${printable(line)}\n`);
  return `plan of ${printable(member)}, which waits: ramet team approve ${printable(member)}\n${lines.join('')}\n`;
}

/** The members in one row, for those who follow a team. */
export function teamRow({ name, members }: Pick<ShownTeam, 'name' | 'members'>): string {
  const each = members.map(({ name: member, state, cause, unread }) => {
    const what = member === LEAD ? '' : ` ${stateText({ state, cause })}`;
    return `${printable(member)}${what}${unread === 0 ? '' : `, ${unread} unread`}`;
  });
  return `${printable(name)}: ${each.join(' · ')}`;
}

/** The tasks of a team as rows that stay in sight. */
export function taskTodos(tasks: readonly TeamTask[]): TodoItem[] {
  return tasks.map(({ number, status, owner, subject, blockedBy }) => {
    const waits = blockedBy.length === 0 ? '' : `, waits for ${blockedBy.join(', ')}`;
    const who = owner === null ? '' : ` (${owner}${waits})`;
    const failed = status === 'failed' ? ' failed' : '';
    return {
      content: `${number}${failed} ${excerpt(subject, SUBJECT_LENGTH)}${who || (waits && ` (${waits.slice(2)})`)}`,
      status: status === 'failed' ? 'pending' : status,
    };
  });
}

export function taskTableText(tasks: readonly TeamTask[]): string {
  if (tasks.length === 0) return 'no tasks\n';
  const rows = tasks.map(({ number, status, owner, subject, blockedBy, evidence, proof, note }) => {
    const waits = blockedBy.length === 0 ? '' : `waits for ${blockedBy.join(', ')}`;
    const said = [proof === null ? '' : seenText(proof), evidence ?? note ?? waits]
      .filter(Boolean)
      .join(': ');
    return [
      `  ${number}`,
      status,
      printable(owner ?? ''),
      excerpt(subject, SUBJECT_LENGTH),
      excerpt(said, SUBJECT_LENGTH),
    ];
  });
  return `tasks\n${table(rows)}`;
}

/** What the engine has seen, before what the member says. */
function seenText({ files, commands }: TaskProof): string {
  const failed = commands.filter(({ exit }) => exit !== 0).length;
  const ran = counted(commands.length, 'command');
  // Commands may have changed files, and the engine does not see which.
  const changed = files.length === 0 && commands.length > 0 ? '' : `${counted(files.length, 'file')}, `;
  return `${changed}${ran}${failed === 0 ? '' : ` (${failed} failed)`}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** `ramet team`: the teams of this repository, messages to their members, and their tasks. */
import { UserMistake } from '../../schema/errors.ts';
import {
  answerPlan,
  listTeams,
  reopenTeam,
  type StoppedTeam,
  sendToTeam,
  showTeam,
  stopTeam,
  TEAM_BEGINS,
} from '../../sdk/calls/teams.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { taskTableText, teamListText, teamText } from '../../views/team-text.ts';
import { printable } from '../../views/text/format.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';
import { paintGroups, paintTable, styleFor } from '../output/painted.ts';
import type { PrintOptions } from '../print-options.ts';

interface TeamFlags {
  json?: boolean;
  team?: string;
}

export function listAll({ json }: TeamFlags, io: CommandIo): void {
  const teams = listTeams(callFrom(io));
  if (json) io.out(jsonLine({ teams }));
  else if (teams.length === 0) io.out('no team here: ramet team create NAME makes one\n');
  else io.out(paintTable(teamListText(teams), styleFor(io)));
}

export function showOne(name: string | undefined, { json }: TeamFlags, io: CommandIo): void {
  const team = showTeam(name, callFrom(io));
  io.out(json ? jsonLine(team) : paintGroups(teamText(team), styleFor(io)));
}

export function showTasks(name: string | undefined, { json }: TeamFlags, io: CommandIo): void {
  const { tasks } = showTeam(name, callFrom(io));
  io.out(json ? jsonLine({ tasks }) : paintGroups(taskTableText(tasks), styleFor(io)));
}

export function send(to: string, words: readonly string[], { json, team }: TeamFlags, io: CommandIo): void {
  const sent = sendToTeam({ team, to, text: words.join(' ') }, callFrom(io));
  if (json) {
    io.out(jsonLine(sent));
    return;
  }
  io.out(`${printable(`sent to ${sent.to.join(', ')}`)}\n`);
  if (!sent.isHosted) io.note(whenRead(sent.team, io));
}

/** Only the operator resumes the team of a run, and a run that is over is not resumed. */
function whenRead(team: string, io: CommandIo): string {
  const { session, isRun } = showTeam(team, callFrom(io));
  return isRun
    ? `no process works on the run of the team: it is read only if tasks are left for ramet operate --resume ${session} (ramet operate status --session ${session} says so)`
    : `no process hosts the team: it is read after ramet team resume ${team}`;
}

export function answer(
  member: string,
  approve: boolean,
  { json, team, reason }: TeamFlags & { reason?: string },
  io: CommandIo,
): void {
  const answered = answerPlan({ team, member, approve, feedback: reason }, callFrom(io));
  if (json) {
    io.out(jsonLine({ ...answered, approved: approve }));
    return;
  }
  const plan = answered.plan.split('\n').map((line) => `  ${line}\n`);
  io.out(printable(`${approve ? 'approved' : 'rejected'} the plan of ${answered.member}:\n${plan.join('')}`));
  if (!answered.isHosted) io.note(whenRead(answered.team, io));
}

/** Its members, then the session of its lead. */
export async function stopMembers(
  name: string | undefined,
  { json, member }: TeamFlags & { member?: string },
  io: CommandIo,
): Promise<number> {
  const stopped = await stopTeam({ team: name, member }, callFrom(io));
  const { session, host } = showTeam(stopped.team, callFrom(io));
  if (member === undefined && host !== null && stopped.ended) {
    const { stop } = await import('../../sdk/calls/stop.ts');
    await stop(session, callFrom(io));
  }
  if (json) io.out(jsonLine(stopped));
  else io.out(`${printable(stoppedText(stopped))}\n`);
  return stopped.ended ? EXIT.done : EXIT.failed;
}

function stoppedText({ asked, ended }: StoppedTeam): string {
  if (asked.length === 0) return 'nobody was left to stop';
  return ended ? `stopped ${asked.join(', ')}` : `asked ${asked.join(', ')}; not all have ended yet`;
}

/** As `ramet resume` does it. */
export async function resumeTeam(
  name: string | undefined,
  options: TeamFlags & PrintOptions,
  io: CommandIo,
): Promise<number> {
  const session = reopenTeam(name, callFrom(io));
  const json = options.json === true || options.outputFormat === 'json';
  const runs = json ? { ...options, outputFormat: 'json' as const } : options;
  try {
    const { resume } = await import('../commands/resume.ts');
    return await resume(session, runs, io);
  } catch (error) {
    if (error instanceof UserMistake && error.code === 'nothing_to_do') return atRest(session, json, io);
    if (!(error instanceof UserMistake) || error.code !== 'no_prompt') throw error;
    if (!hasLetters(session, io)) return atRest(session, json, io, 'its lead has had no prompt yet');
    const { carryOut } = await import('../commands/print.ts');
    return carryOut(TEAM_BEGINS, runs, session, io);
  }
}

/** Without a message to read and without a prompt, a model would be asked, and paid, for nothing. */
function hasLetters(session: string, io: CommandIo): boolean {
  return showTeam(session, callFrom(io)).members.some(({ unread }) => unread > 0);
}

/** Its process was killed before it had a prompt or after everything was done, or nobody has asked for anything since. */
function atRest(
  session: string,
  json: boolean | undefined,
  io: CommandIo,
  why = 'nothing was left to do',
): number {
  showOne(session, { ...(json !== undefined && { json }) }, io);
  if (!json) io.note(`${why}: ramet -p --resume ${session} "..." gives its lead a prompt`);
  return EXIT.done;
}

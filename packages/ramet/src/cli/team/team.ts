/** `ramet team`: the teams of this repository, messages to their members, and their tasks. */
import { listTeams, sendToTeam, showTeam } from '../../sdk/calls/teams.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { taskTableText, teamListText, teamText } from '../../views/team-text.ts';
import { printable } from '../../views/text/format.ts';
import { type CommandIo, callFrom } from '../io.ts';
import { paintGroups, paintTable, styleFor } from '../output/painted.ts';

interface TeamFlags {
  json?: boolean;
  team?: string;
}

export function listAll({ json }: TeamFlags, io: CommandIo): void {
  const teams = listTeams(callFrom(io));
  if (json) io.out(jsonLine({ teams }));
  else if (teams.length === 0) io.out('no team here: ramet --team NAME begins one\n');
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
  if (!sent.isHosted) io.note(`no process hosts the team: it is read after ramet team resume ${sent.team}`);
}

/** As `ramet resume` does it. */
export async function resumeTeam(
  name: string | undefined,
  { json }: TeamFlags,
  io: CommandIo,
): Promise<number> {
  const { session } = showTeam(name, callFrom(io));
  const { resume } = await import('../commands/resume.ts');
  return resume(session, { outputFormat: 'text', ...(json && { json }) }, io);
}

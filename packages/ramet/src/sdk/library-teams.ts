/** What the library can do with memory and with teams, without a session: what `ramet memory` and `ramet team` do. */
import type { MemoryScope } from '../memory/files/memory-places.ts';
import type { SessionId } from '../schema/ids.ts';
import { checkArgument, checkOptions, FLAG, FUNCTION, NAME, oneOf } from './calls/argument-kinds.ts';
import type { CallOptions } from './calls/caller.ts';
import { CALL } from './calls/check-arguments.ts';
import type { SentLetter, StoppedTeam, TeamReport } from './calls/teams.ts';
import type { EditedMemory, ExplainedLine, MemoryReport, UndoneMemory } from './memory/memory-calls.ts';

const SCOPES: readonly MemoryScope[] = ['project', 'local', 'user'];

/** All files of memory of this checkout and the changes to them; `which` is a scope, or a file as it is listed. */
export async function showMemory(options?: CallOptions & { which?: string }): Promise<MemoryReport> {
  checkOptions('showMemory', options, { ...CALL, which: NAME });
  const { which, ...call } = options ?? {};
  return (await import('./memory/memory-calls.ts')).showMemory(which, call);
}

/** Where lines of memory came from: `wanted` is a part of the text, or `FILE:LINE`. */
export async function explainMemory(wanted: string, options?: CallOptions): Promise<ExplainedLine[]> {
  checkArgument('explainMemory', 'the line', wanted, NAME);
  checkOptions('explainMemory', options, CALL);
  return (await import('./memory/memory-calls.ts')).explainMemory(wanted, options);
}

/** Adds a note in the words of a person. */
export async function saveMemoryNote(
  note: string,
  options?: CallOptions & { scope?: MemoryScope },
): Promise<EditedMemory> {
  checkArgument('saveMemoryNote', 'the note', note, NAME);
  checkOptions('saveMemoryNote', options, { ...CALL, scope: oneOf(SCOPES) });
  const { scope, ...call } = options ?? {};
  return (await import('./memory/memory-calls.ts')).addMemoryNote({ note, ...(scope && { scope }) }, call);
}

/** `which` is a scope, or a file as it is listed; `edit` gets its text and returns what it should be. */
export async function editMemory(
  which: string,
  edit: (text: string) => string | Promise<string>,
  options?: CallOptions,
): Promise<EditedMemory> {
  checkArgument('editMemory', 'the file', which, NAME);
  checkArgument('editMemory', 'the edit', edit, FUNCTION);
  checkOptions('editMemory', options, CALL);
  return (await import('./memory/memory-calls.ts')).editMemory(which, async (text) => edit(text), options);
}

/** Takes a change back, as `showMemory` names it; the last that can be undone when absent. */
export async function undoMemory(options?: CallOptions & { change?: string }): Promise<UndoneMemory> {
  checkOptions('undoMemory', options, { ...CALL, change: NAME });
  const { change, ...call } = options ?? {};
  return (await import('./memory/memory-calls.ts')).undoMemory(change, call);
}

/** Which team is meant; the only one here, or the newest, when absent. */
type TeamCall = CallOptions & { team?: string };
const TEAM = { ...CALL, team: NAME };

/** The teams of this repository. */
export async function listTeams(options?: CallOptions): Promise<TeamReport[]> {
  checkOptions('listTeams', options, CALL);
  return (await import('./calls/teams.ts')).listTeams(options);
}

/** Members, tasks and plans that wait. */
export async function showTeam(options?: TeamCall): Promise<TeamReport> {
  checkOptions('showTeam', options, TEAM);
  const { team, ...call } = options ?? {};
  return (await import('./calls/teams.ts')).showTeam(team, call);
}

/** Writes to a member, `lead` or `*`, from outside of the team. */
export async function sendToTeam(to: string, text: string, options?: TeamCall): Promise<SentLetter> {
  checkArgument('sendToTeam', 'the receiver', to, NAME);
  checkArgument('sendToTeam', 'the text', text, NAME);
  checkOptions('sendToTeam', options, TEAM);
  const { team, ...call } = options ?? {};
  return (await import('./calls/teams.ts')).sendToTeam({ team, to, text }, call);
}

/** Answers the plan of a member as a person. Rejected, it plans again with what `feedback` says. */
export async function answerPlan(
  member: string,
  options?: TeamCall & { approve?: boolean; feedback?: string },
): Promise<{ team: string; member: string; isHosted: boolean }> {
  checkArgument('answerPlan', 'the member', member, NAME);
  checkOptions('answerPlan', options, { ...TEAM, approve: FLAG, feedback: NAME });
  const { team, approve = false, feedback, ...call } = options ?? {};
  return (await import('./calls/teams.ts')).answerPlan({ team, member, approve, feedback }, call);
}

/** Ends members, all if none is named: asked first, enforced within 30 seconds. */
export async function stopTeam(options?: TeamCall & { member?: string }): Promise<StoppedTeam> {
  checkOptions('stopTeam', options, { ...TEAM, member: NAME });
  const { team, member, ...call } = options ?? {};
  return (await import('./calls/teams.ts')).stopTeam({ team, member }, call);
}

/** Lets members that were stopped work again; `openSession({ resume })` with the session it gives continues the team. */
export async function reopenTeam(options?: TeamCall): Promise<SessionId> {
  checkOptions('reopenTeam', options, TEAM);
  const { team, ...call } = options ?? {};
  return (await import('./calls/teams.ts')).reopenTeam(team, call);
}

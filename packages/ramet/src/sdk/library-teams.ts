/** What the library can do with memory and with teams, without a session: what `ramet memory` and `ramet team` do. */
import type { MemoryScope } from '../memory/files/memory-places.ts';
import type { SessionId } from '../schema/ids.ts';
import { checkArgument, checkOptions, FLAG, FUNCTION, NAME, oneOf } from './calls/argument-kinds.ts';
import type { CallOptions } from './calls/caller.ts';
import { CALL } from './calls/check-arguments.ts';
import type { SentLetter, StoppedTeam, TeamReport } from './calls/teams.ts';
import type { EditedMemory, ExplainedLine, MemoryReport, UndoneMemory } from './memory/memory-calls.ts';

const memory = (): Promise<typeof import('./memory/memory-calls.ts')> => import('./memory/memory-calls.ts');
const teams = (): Promise<typeof import('./calls/teams.ts')> => import('./calls/teams.ts');

const SCOPES: readonly MemoryScope[] = ['project', 'local', 'user'];

/** All files of memory of this checkout and the changes to them; `which` is a scope, or a file as it is listed. */
export async function showMemory(options?: CallOptions & { which?: string }): Promise<MemoryReport> {
  checkOptions('showMemory', options, { ...CALL, which: NAME });
  return (await memory()).showMemory(options?.which, options);
}

/** Where lines of memory came from: `wanted` is a part of the text, or `FILE:LINE`. */
export async function explainMemory(wanted: string, options?: CallOptions): Promise<ExplainedLine[]> {
  checkArgument('explainMemory', 'the line', wanted, NAME);
  checkOptions('explainMemory', options, CALL);
  return (await memory()).explainMemory(wanted, options);
}

/** Adds a note in the words of a person. */
export async function saveMemoryNote(
  note: string,
  options?: CallOptions & { scope?: MemoryScope },
): Promise<EditedMemory> {
  checkArgument('saveMemoryNote', 'the note', note, NAME);
  checkOptions('saveMemoryNote', options, { ...CALL, scope: oneOf(SCOPES) });
  const { scope } = options ?? {};
  return (await memory()).addMemoryNote({ note, ...(scope && { scope }) }, options);
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
  return (await memory()).editMemory(which, async (text) => edit(text), options);
}

/** Takes a change back, as `showMemory` names it; the last that can be undone when absent. */
export async function undoMemory(options?: CallOptions & { change?: string }): Promise<UndoneMemory> {
  checkOptions('undoMemory', options, { ...CALL, change: NAME });
  return (await memory()).undoMemory(options?.change, options);
}

/** Which team is meant; the only one here, or the newest, when absent. */
type TeamCall = CallOptions & { team?: string };
const TEAM = { ...CALL, team: NAME };

/** The teams of this repository. */
export async function listTeams(options?: CallOptions): Promise<TeamReport[]> {
  checkOptions('listTeams', options, CALL);
  return (await teams()).listTeams(options);
}

/** Members, tasks and plans that wait. */
export async function showTeam(options?: TeamCall): Promise<TeamReport> {
  checkOptions('showTeam', options, TEAM);
  return (await teams()).showTeam(options?.team, options);
}

/** Writes to a member, `lead` or `*`, from outside of the team. */
export async function sendToTeam(to: string, text: string, options?: TeamCall): Promise<SentLetter> {
  checkArgument('sendToTeam', 'the receiver', to, NAME);
  checkArgument('sendToTeam', 'the text', text, NAME);
  checkOptions('sendToTeam', options, TEAM);
  return (await teams()).sendToTeam({ team: options?.team, to, text }, options);
}

/** Answers the plan of a member as a person. Rejected, it plans again with what `feedback` says. */
export async function answerPlan(
  member: string,
  options?: TeamCall & { approve?: boolean; feedback?: string },
): Promise<{ team: string; member: string; plan: string; isHosted: boolean }> {
  checkArgument('answerPlan', 'the member', member, NAME);
  checkOptions('answerPlan', options, { ...TEAM, approve: FLAG, feedback: NAME });
  const { team, approve = false, feedback } = options ?? {};
  return (await teams()).answerPlan({ team, member, approve, feedback }, options);
}

/** Ends members, all if none is named: asked first, enforced within 30 seconds. */
export async function stopTeam(options?: TeamCall & { member?: string }): Promise<StoppedTeam> {
  checkOptions('stopTeam', options, { ...TEAM, member: NAME });
  return (await teams()).stopTeam({ team: options?.team, member: options?.member }, options);
}

/** Lets members that were stopped work again; `openSession({ resume })` with the session it gives continues the team. */
export async function reopenTeam(options?: TeamCall): Promise<SessionId> {
  checkOptions('reopenTeam', options, TEAM);
  return (await teams()).reopenTeam(options?.team, options);
}

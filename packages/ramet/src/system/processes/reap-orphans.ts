/**
 * Ends the process groups that killed processes left behind, by what `process-register.ts` noted (RES-8).
 *
 * Invariants
 * 1. A group is ended only when the process that started it is gone, and when it is proved to be the same group: its
 *    leader has the start time that was noted, or, the leader being gone, a member carries the agent's id in its
 *    environment. A pid that somebody else has got since is left alone.
 * 2. A note goes when nothing is left that it could be about.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { livingGroups, terminateGroups } from './process-group.ts';
import { findProcess, isProcessAlive, type ProcessIdentity } from './process-identity.ts';
import { AGENT_VARIABLE, groupOfNote, type RunningGroup, removeNote } from './process-register.ts';

/** The groups that were ended. Costs one look at a directory when there are none. */
export async function reapOrphans(directory: string): Promise<RunningGroup[]> {
  const notes = orphansIn(directory);
  const members = memberLookup();
  const ours = notes.filter(({ group }) => isSameGroup(group, members));
  const left = await terminateGroups(ours.map(({ group }) => group.leader.pid));
  for (const note of notes) {
    // One that cannot be ended, such as a process that hangs in the system, is tried again next time.
    if (!ours.includes(note) || !left.includes(note.group.leader.pid)) removeNote(note.file);
  }
  return ours.map(({ group }) => group);
}

/** The living members of a group: the system is looked at once, for whoever asks first. */
function memberLookup(): (group: number) => readonly number[] {
  let groups: Map<number, number[]> | undefined;
  return (group) => {
    try {
      groups ??= livingGroups();
    } catch {
      groups = new Map();
    }
    return groups.get(group) ?? [];
  };
}

function orphansIn(directory: string): { file: string; group: RunningGroup }[] {
  const hosts = new Map<string, boolean>();
  const lives = (host: ProcessIdentity): boolean => {
    const key = `${host.pid} ${host.started}`;
    const alive = hosts.get(key) ?? isProcessAlive(host);
    hosts.set(key, alive);
    return alive;
  };
  return namesIn(directory).flatMap((name) => {
    const group = groupOfNote(name);
    return group === null || lives(group.host) ? [] : [{ file: join(directory, name), group }];
  });
}

/** Nothing was started here yet, or nobody may look: both leave nothing to do. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** The system gives a pid to nobody while it still names a group, so another process under it means the group is gone. */
function isSameGroup(
  { leader, agent }: RunningGroup,
  membersOf: (group: number) => readonly number[],
): boolean {
  if (leader.started === null) return false;
  const found = findProcess(leader.pid);
  if (found !== null) return found.started === leader.started && found.group === leader.pid;
  return membersOf(leader.pid).some((pid) => worksFor(pid, agent));
}

function worksFor(pid: number, agent: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    return environment.includes(`${AGENT_VARIABLE}=${agent}`);
  } catch {
    return false;
  }
}

/**
 * A member that was added before there was work for it: a row of the roster, and no agent yet. It begins with its first
 * message, or with a task that became free.
 */
import { unknownMemberType } from '../../agents/prompts/built-in.ts';
import { ADDED_EARLY } from '../../agents/prompts/teammate.ts';
import type { TeamMember } from '../../schema/team.ts';
import type { StoredTeam } from '../../team/store/team-store.ts';
import type { Agent } from '../agent/agent.ts';
import { openCallsOf } from '../calls/finish-calls.ts';
import type { AgentFamily } from '../children/family.ts';
import { type SpawnOutcome, spawnAgent } from '../children/spawn.ts';
import { type JoiningMember, memberType } from './family-team.ts';

/** More of them talk to each other more than they work. */
const MOST_ADVISED = 5;

/** Says why it cannot be added; null when it is. */
export function addWaiting(
  { roster }: StoredTeam,
  { parts }: AgentFamily,
  { name, type }: Pick<TeamMember, 'name' | 'type'>,
): string | null {
  const found = memberType(parts.definitions, type);
  if (found === undefined) return unknownMemberType(type, parts.definitions);
  return roster.add({ name, type: found.name, agent: null })?.problem ?? null;
}

/** The engine tells it what woke it after this. */
export function beginWaiting(
  family: AgentFamily,
  lead: Agent,
  { name, type }: Pick<TeamMember, 'name' | 'type'>,
): Promise<SpawnOutcome> {
  return spawnAgent(family, lead, {
    ...{ subagent_type: type, name, description: name, prompt: ADDED_EARLY },
    ...{ run_in_background: true, call: null },
  });
}

/** Once, with the first that is one too many. */
export function warnOfMany({ roster }: StoredTeam, lead: Agent): void {
  const { count } = roster;
  if (count !== MOST_ADVISED + 1) return;
  lead.warn(
    'many_members',
    `the team has ${count} members: three to five pay for most work, since each one more reads and writes messages of all others`,
  );
}

/** Members that are about to start for the first time. */
export class JoiningMembers {
  readonly #team: StoredTeam;
  readonly #lead: Agent;
  readonly #names = new Map<string, { isWaiting: boolean }>();

  constructor(team: StoredTeam, lead: Agent) {
    [this.#team, this.#lead] = [team, lead];
  }

  /** Says why it cannot be one. */
  add({ name, type, agent, plansFirst }: JoiningMember): string | null {
    const { roster } = this.#team;
    const isWaiting = roster.find(name)?.agent === null;
    const problem = roster.add({ name, type, agent, plan: plansFirst ? 'required' : undefined })?.problem;
    if (problem !== undefined) return problem;
    this.#names.set(name, { isWaiting });
    if (!isWaiting) warnOfMany(this.#team, this.#lead);
    return null;
  }

  /** It does not start after all. */
  remove(name: string): void {
    // One that was waiting waits on.
    if (this.#names.get(name)?.isWaiting === true) this.#team.roster.setAgent(name, null);
    else this.#team.roster.remove(name);
    this.#names.delete(name);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Whether it is one of them. */
  begins(name: string): boolean {
    return this.#names.delete(name);
  }
}

/** Members that a call of the lead, which is made again, gives their tasks: until then nothing else begins them. */
export class AskedMembers {
  readonly #names = new Set<string>();

  reserve(lead: Agent): void {
    for (const name of askedFor(lead)) this.#names.add(name);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** For a request of the lead: its open calls have been made again, or answered. Whether anybody was reserved. */
  release(): boolean {
    const hadSome = this.#names.size > 0;
    this.#names.clear();
    return hadSome;
  }
}

/**
 * The names that open calls of the lead ask for. A killed process left them: they are made again, however often a process is
 * killed before that, and give their members their tasks.
 */
function askedFor(lead: Agent): string[] {
  const { calls = [], results } = openCallsOf(lead) ?? {};
  return calls.flatMap(({ id, input }) => {
    const isNamed = typeof input === 'object' && input !== null && 'name' in input;
    return isNamed && results?.has(id) !== true ? [String(input.name)] : [];
  });
}

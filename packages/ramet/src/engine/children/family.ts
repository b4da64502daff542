/**
 * The agents of a session: who lives, who may start whom, and where each waits. It owns the caps (LAUNCH-3), the
 * capacity, and the numbers that agents are named by; making a child is `spawn.ts`, its life `run-child.ts`, what tools
 * may ask `desk.ts`. An agent that has ended is not kept: whatever is asked of it later is read from the journal.
 *
 * Invariants
 * 1. A child is refused before anything of it is recorded or sent, with its reason; else it runs, or waits its turn.
 * 2. Agents are numbered in the order in which they were asked for, also after a restart.
 */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import type { PromptHead } from '../../conversation/conversation.ts';
import { type FrozenBlock, freezeBlock } from '../../conversation/frozen-block.ts';
import { EventPlaces } from '../../journal/event-places.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { LONGEST_TIMER_MS } from '../../schema/clock.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { RecordedServers } from '../../schema/events.ts';
import { type AgentId, agentId, type SessionId } from '../../schema/ids.ts';
import type { Tool } from '../../tools/tool.ts';
import { type Agent, hosted } from '../agent/agent.ts';
import type { AgentEvent } from '../agent/agent-event.ts';
import type { AgentLimits } from '../agent/agent-limits.ts';
import { Capacity, HeldCapacity } from '../agent/capacity.ts';
import type { AgentExecutor } from '../agent/executor.ts';
import type { AgentSpec } from '../agent/runtime.ts';
import type { Spending } from '../budget/budget.ts';
import type { FamilyCoordinator } from '../coordinator/phase-rules.ts';
import { keepingWarm } from '../exchange/keep-warm.ts';
import type { FamilyTeam } from '../team/family-team.ts';
import type { AgentHandle } from './child-handle.ts';

/** How often the watch looks, as a share of the limit. */
const SHARE = 0.25;

/** Notices agents that have been silent for longer than the stall limit (AGENT-7): once for each silence. */
export class StallWatch implements Disposable {
  readonly #limitMs: number;
  readonly #onStall: (agent: Agent, silentMs: number) => void;
  readonly #lastSign = new Map<Agent, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(limitMs: number, onStall: (agent: Agent, silentMs: number) => void) {
    this.#limitMs = limitMs;
    this.#onStall = onStall;
  }

  /** The agent has just done something, or been told to. */
  noteLife(agent: Agent): void {
    this.#lastSign.set(agent, agent.runtime.clock.now());
    if (this.#timer !== null) return;
    this.#timer = setInterval(() => this.look(), Math.min(this.#limitMs * SHARE, LONGEST_TIMER_MS));
    this.#timer.unref();
  }

  /** It has ended, or waits for others: silence means nothing now. */
  forget(agent: Agent): void {
    this.#lastSign.delete(agent);
    if (this.#lastSign.size === 0) this[Symbol.dispose]();
  }

  look(): void {
    for (const [agent, since] of this.#lastSign) {
      const silentMs = agent.runtime.clock.now() - since;
      if (silentMs < this.#limitMs) continue;
      this.#lastSign.set(agent, Number.POSITIVE_INFINITY);
      this.#onStall(agent, silentMs);
    }
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

const RESERVED: ReadonlySet<string> = new Set(['main', 'lead', 'all', '*']);

/** Who is called like another one's id would get its messages. */
const LIKE_AN_ID = /^\w+\.\d+$/;

/** Of whom a child has its tools. */
export interface ToolHeir {
  /** The parent's. */
  readonly tools: readonly Tool[];
  /** The child only reads. */
  readonly readsOnly: boolean;
}

/** A resumed agent, as those who bring tools need to know it. */
export interface RecordedOrder {
  /** What names come to. */
  readonly tools: readonly Tool[];
  readonly parent: ToolHeir;
  readonly isFork: boolean;
  /** Its type as it is now; undefined when it is gone. */
  readonly definition: AgentDefinition | undefined;
  /** One line about what it has lost; it follows the name of the agent. */
  tell(line: string): void;
}

/** What a child is told about the place it works in. */
export interface ChildSurroundings {
  /** The project's instructions as the main agent was given them, byte for byte. */
  instructions(): readonly FrozenBlock[];
  environment(facts: {
    cwd: string;
    model: string;
    tools: readonly Tool[];
    definition: AgentDefinition;
    isMember: boolean;
  }): Promise<string>;
}

/** Skills that a type names. */
export interface LoadedSkills {
  readonly text: string;
  /** Those that cannot be loaded, a line each. */
  readonly problems: readonly string[];
}

export interface FamilyParts {
  readonly session: SessionId;
  readonly executor: AgentExecutor;
  /** The one for agents with a process of their own, loaded when it is first needed. */
  ownProcess?(): Promise<AgentExecutor>;
  /** The types there are now: those of files come and go (TYPE-3). */
  readonly definitions: readonly AgentDefinition[];
  /** Brings `definitions` up to date, before a type is looked up in them. */
  refreshDefinitions?(name: string): Promise<void>;
  /** The tools of an agent of a type, where they depend on more than their names; `tools` is what names come to. */
  toolsOfType?(type: AgentDefinition, tools: readonly Tool[], parent: ToolHeir): readonly Tool[];
  /** The same for a resumed agent: never more than `serversOf` has recorded. */
  toolsOfRecorded?(recorded: RecordedServers | undefined, order: RecordedOrder): readonly Tool[];
  /** What an agent with these tools may use of MCP servers, for its record. */
  serversOf?(tools: readonly Tool[]): RecordedServers | undefined;
  /** Why a type of that name cannot be used although it exists; null otherwise. */
  whyWithheld?(name: string): string | null;
  /** The texts of skills, for types that name some. */
  loadSkills?(names: readonly string[]): Promise<LoadedSkills>;
  readonly limits: AgentLimits;
  /** Of the whole session: every agent's spending counts against it (RES-2). */
  readonly spending: Spending;
  readonly surroundings: ChildSurroundings;
  /** A model id for a name or tier, for a child of an agent on `model`; throws a UserMistake for one nobody serves. */
  resolveModel(name: string, parentModel: string): string;
  /** The highest number that an agent of the session has. */
  readonly lastNumber: number;
  /** How many agents models have asked for, in earlier processes of the session. */
  readonly asked: number;
  /** The sink of the session: what each of its agents tells, in order. */
  emit(spec: AgentSpec, event: AgentEvent): void;
  /** The session's journal, for agents that have ended. The caller closes it. */
  openReader(): JournalReader;
}

export class AgentFamily implements Disposable {
  readonly parts: FamilyParts;
  readonly capacity: Capacity;
  readonly stalls: StallWatch;
  /** Frozen heads of fresh agents, by what they are made of. */
  readonly heads: Map<string, PromptHead> = new Map();
  /** Where the events of its agents are, for those that are continued. */
  readonly places: EventPlaces = new EventPlaces();
  /** Set when the session has a team. */
  team: FamilyTeam | null = null;
  /** Begins a team with the first member of a session that has none; null where there can be none. */
  startTeam: (() => Promise<void>) | null = null;
  /** Set when the main agent coordinates workers. */
  coordinator: FamilyCoordinator | null = null;
  readonly #agents = new Map<AgentId, Agent>();
  readonly #handles = new Map<AgentId, AgentHandle>();
  #lastNumber: number;
  #asked: number;

  constructor(parts: FamilyParts) {
    this.parts = parts;
    this.capacity = new Capacity(parts.limits.concurrent);
    this.#lastNumber = parts.lastNumber;
    this.#asked = parts.asked;
    this.stalls = new StallWatch(parts.limits.stallMs, (agent, silentMs) => {
      agent.record({ type: 'agent.stalled', silentMs });
    });
  }

  /** Makes a living agent known; the main agent needs no capacity. */
  admit(agent: Agent, handle: AgentHandle | null): void {
    this.#agents.set(agent.spec.id, agent);
    if (handle !== null) this.#handles.set(agent.spec.id, handle);
    let warm: Disposable | null = null;
    agent.here.capacity = new HeldCapacity(this.capacity, handle !== null, (waits) => {
      warm?.[Symbol.dispose]();
      warm = waits
        ? keepingWarm(hosted(agent), {
            onSpent: (usage, costUsd) => agent.here.spending?.add(usage, costUsd),
          })
        : null;
      if (waits) this.stalls.forget(agent);
      else if (handle !== null) this.stalls.noteLife(agent);
      agent.setStatus(waits ? 'waiting' : 'running', waits ? 'children' : null);
    });
    agent.here.sink = (event) => {
      if (event.type === 'status_changed') {
        // One that waits for a time that is known is not stalled before.
        if (event.until !== undefined) this.stalls.forget(agent);
        else if (handle !== null && event.status === 'running') this.stalls.noteLife(agent);
      }
      this.parts.emit(agent.spec, event);
    };
  }

  forget({ spec }: Agent): void {
    this.#agents.delete(spec.id);
    this.#handles.delete(spec.id);
  }

  find(id: AgentId): Agent | undefined {
    return this.#agents.get(id);
  }

  /** A running child, by id or by name. */
  findHandle(nameOrId: string): AgentHandle | undefined {
    const direct = this.#handles.get(nameOrId);
    if (direct !== undefined) return direct;
    for (const handle of this.#handles.values()) if (handle.name === nameOrId) return handle;
    return undefined;
  }

  get running(): readonly AgentHandle[] {
    return [...this.#handles.values()];
  }

  /** The texts of the skills that a type names; null for none. */
  async skillsFor({ skills = [] }: AgentDefinition): Promise<LoadedSkills | null> {
    return skills.length === 0 ? null : ((await this.parts.loadSkills?.(skills)) ?? null);
  }

  /** What agents of one type have in common before anything of their own: instructions, and skills of the type. */
  sharedOpening(
    child: Agent,
    { instructions }: AgentDefinition,
    skills: LoadedSkills | null,
    /** What members of a team are told: they often begin together, and it is long. */
    notes: string | null,
  ): FrozenBlock[] {
    for (const problem of skills?.problems ?? []) child.warn('skill_missing', problem);
    const text = child.runtime.redact(skills?.text ?? '');
    return [
      ...(instructions ? this.parts.surroundings.instructions() : []),
      ...(text === '' ? [] : [freezeBlock({ type: 'text', text })]),
      ...(notes === null ? [] : [freezeBlock({ type: 'text', text: notes })]),
    ];
  }

  newId(): AgentId {
    this.#lastNumber += 1;
    return agentId(this.parts.session, this.#lastNumber);
  }

  /** Counts one more agent that a model asked for; says why not when that is one too many. */
  countAsked(): string | null {
    const { total } = this.parts.limits;
    if (this.#asked >= total) {
      return `this session has started all ${total} agents it may (setting agents.total). Do the rest yourself`;
    }
    this.#asked += 1;
    return null;
  }

  [Symbol.dispose](): void {
    this.stalls[Symbol.dispose]();
  }
}

/** What agents may be called: a name finds one agent, and never another one's id. */
export function refuseBadName(name: string | undefined): void {
  if (name === undefined) return;
  if (!RESERVED.has(name) && /^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u.test(name) && !LIKE_AN_ID.test(name)) return;
  throw new UserMistake(
    'bad_name',
    `"${name}" cannot be an agent's name: use letters, digits, spaces, dots, dashes; not an id, nor ${[...RESERVED].join(', ')}`,
  );
}

export function refuseTakenName(family: AgentFamily, name: string | undefined): void {
  const holder = name === undefined ? undefined : family.findHandle(name);
  if (holder !== undefined)
    throw new UserMistake(
      'name_taken',
      `the name "${name}" is taken by the running agent ${holder.id}: choose another`,
    );
}

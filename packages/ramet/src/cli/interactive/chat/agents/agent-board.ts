/**
 * The children that are at work. What each is and has spent is the projection of what is recorded, as `ramet ps` has it;
 * live events add who is at work, the words for its calls and the clock of a wait. It knows no screen.
 */
import {
  type AgentOverview,
  admitAgent,
  agentOfStart,
  emptyBoard,
  extendBoard,
  type StatusBoard,
} from '../../../../journal/projections/status.ts';
import { timeLeft } from '../../../../schema/clock.ts';
import type { ToolUseBlock } from '../../../../schema/content.ts';
import type { JournalEvent } from '../../../../schema/events.ts';
import type { AgentId } from '../../../../schema/ids.ts';
import type { CallDetails } from '../../../../schema/tool-access.ts';
import type { SessionEvent } from '../../../../sdk/session/session.ts';
import {
  agentLabel,
  agentTree,
  endingOf,
  liveStatusOf,
  type TreePlace,
} from '../../../../views/agent-label.ts';
import { duration, safeLine, visibleLine } from '../../../../views/text/format.ts';
import type { TextStyle } from '../../screen/text-style.ts';

const LONGEST = 500;

export interface BoardAgent extends AgentOverview, LiveFacts {}

/** What no record holds. */
interface LiveFacts {
  /** Of a worktree of its own. */
  readonly branch: string | null;
  /** Titles of the calls that run, by id, the oldest first. */
  readonly calls: Map<string, string>;
  /** How many milliseconds it will still wait, where that is known. */
  left: (() => number) | null;
  /** It is writing an answer. */
  readonly isAnswering?: boolean;
}

export class AgentBoard {
  #board: StatusBoard = emptyBoard();
  /** Those at work. */
  readonly #live = new Map<AgentId, LiveFacts>();
  readonly #isAnswering: (id: AgentId) => boolean;

  constructor(isAnswering: (id: AgentId) => boolean = () => false) {
    this.#isAnswering = isAnswering;
  }

  get size(): number {
    return this.#live.size;
  }

  /** Children under their parents, siblings in the order in which they were asked for. */
  get tree(): readonly TreePlace<BoardAgent>[] {
    const agents = Array.from(this.#live.keys(), (id) => this.find(id)).filter(
      (agent) => agent !== undefined,
    );
    return agentTree(agents.sort((one, other) => numberOf(one) - numberOf(other)));
  }

  find(id: AgentId): BoardAgent | undefined {
    const overview = this.#board.agents.get(id);
    const live = this.#live.get(id);
    return overview && live && { ...overview, ...live, isAnswering: this.#isAnswering(id) };
  }

  /** How many of those at work it is below; 0 for a child of the main agent. */
  levelOf(id: AgentId): number {
    const parent = this.find(id)?.parent;
    return parent != null && this.#live.has(parent) ? this.levelOf(parent) + 1 : 0;
  }

  /** Takes what is recorded, before the live event that tells of it. */
  recorded(agent: AgentId | null, event: JournalEvent, time: number = Date.now()): void {
    extendBoard(this.#board, { seq: this.#board.seq + 1, time, agent, event });
    const live = agent === null ? undefined : this.#live.get(agent);
    if (live === undefined || event.type !== 'status.changed') return;
    live.left = event.leftMs === undefined ? null : timeLeft(event.leftMs);
  }

  take(event: SessionEvent): void {
    const { agentId: id } = event;
    if (event.type === 'agent_started') this.#admit(event);
    const calls = this.#live.get(id)?.calls;
    if (event.type === 'tool_started') calls?.set(event.call.id, callTitle(event.call, event.details));
    if (event.type === 'tool_completed' || event.type === 'tool_withdrawn') calls?.delete(event.call.id);
    if (event.type !== 'agent_ended') return;
    this.#live.delete(id);
    this.#board.agents.delete(id);
    this.#board.tools.delete(id);
  }

  clear(): void {
    this.#live.clear();
    this.#board = emptyBoard();
  }

  /** Also of an agent that an earlier process started: then its start is not among what is recorded here. */
  #admit(event: Extract<SessionEvent, { type: 'agent_started' }>): void {
    const { agentId: id, origin, carried, progress = null } = event;
    admitAgent(this.#board, { ...agentOfStart(id, event, Date.now()), progress, ...carried });
    this.#live.set(id, { branch: origin?.worktree?.branch ?? null, calls: new Map(), left: null });
  }
}

function numberOf({ id }: BoardAgent): number {
  return Number(id.slice(id.lastIndexOf('.') + 1));
}

/** What it does, or why it does nothing: `Bash npm test`, `blocked: permission`; before it its progress line. */
export function doingOf(agent: BoardAgent, now: number = Date.now()): string {
  const { status, progress } = agent;
  const doing = activityOf(agent, now);
  return progress === null || status !== 'running' ? doing : `${safeLine(progress)} · ${doing}`;
}

function activityOf(agent: BoardAgent, now: number): string {
  const { status, cause, left, calls, activity, stalledMs } = agent;
  const silent = stalledMs === null ? '' : ` (silent for ${duration(stalledMs)})`;
  if (status !== 'running') return `${liveStatusOf({ status, cause, leftMs: left?.() }, now)}${silent}`;
  if (activity?.kind === 'retrying') return 'waiting to try again';
  const [first] = calls.values();
  if (first === undefined) return agent.isAnswering === true ? 'answering' : `thinking${silent}`;
  return `${first}${calls.size > 1 ? ` (+${calls.size - 1})` : ''}${silent}`;
}

/** `Bash npm test`: a call in a few words, the tool and its title for the call, or the first text of its input. */
export function callTitle(
  { name, input }: Pick<ToolUseBlock, 'name' | 'input'>,
  details: CallDetails | undefined,
): string {
  const fields = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const texts = fields.filter((field): field is [string, string] => typeof field[1] === 'string');
  const said = details?.title ?? texts[0]?.[1] ?? '';
  return visibleLine(`${name} ${said.slice(0, LONGEST)}`);
}

/** What stays in the output of an event of a child; asked before the board knows of it. */
export function linesAbout(event: SessionEvent, board: AgentBoard, style: TextStyle): string[] {
  const id = event.agentId;
  const line = agentLine(event, board.find(id), board.levelOf(id), style);
  const lines = line === null ? [] : [line];
  if (event.type !== 'agent_started' || event.origin?.background !== true) return lines;
  const { agentType: type, name, origin } = event;
  return [...lines, inBackgroundLine({ id, type, name, description: origin.description }, style)];
}

/**
 * The lines about children in the transcript: one when a child begins in the background, stalls or ends. Pure.
 *
 * Null for what needs no line. `agent` is as the board had it before the event.
 */
export function agentLine(
  event: SessionEvent,
  agent: BoardAgent | undefined,
  level: number,
  style: TextStyle,
): string | null {
  if (agent === undefined) return null;
  const indent = '  '.repeat(level);
  const label = safeLine(agentLabel(agent, 0));
  if (event.type === 'stalled') {
    return `${indent}${style.yellow(`! ${label}: silent for ${duration(event.silentMs)}`)}`;
  }
  if (event.type !== 'agent_ended') return null;
  const { ending, figures } = endingOf(event);
  const mark = event.status === 'done' ? style.green('✓') : style.red('✗');
  return `${indent}${mark} ${label}: ${safeLine(ending)}${style.dim(` (${figures})`)}`;
}

export function inBackgroundLine(agent: Parameters<typeof agentLabel>[0], style: TextStyle): string {
  return style.dim(`→ ${safeLine(agentLabel(agent, 0))}: in the background`);
}

/**
 * The children that are at work, as their events tell it: what each is, does and has spent. An agent is on the board
 * from its start to its end. It knows no screen.
 */
import { timeLeft } from '../../../schema/clock.ts';
import type { ToolUseBlock } from '../../../schema/content.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { AgentStatus } from '../../../schema/status.ts';
import type { CallDetails } from '../../../schema/tool-access.ts';
import { addCost, addUsage, NO_USAGE, type Usage } from '../../../schema/usage.ts';
import type { SessionEvent } from '../../../sdk/session/session.ts';
import { visibleLine } from '../../../system/text/visible-text.ts';
import { agentLabel, agentTree, endingOf, liveStatusOf, type TreePlace } from '../../../views/agent-label.ts';
import { duration } from '../../../views/text/format.ts';
import { safeLine, type TextStyle } from '../screen/text-style.ts';

const LONGEST = 500;

export interface BoardAgent {
  readonly id: AgentId;
  readonly parent: AgentId | null;
  readonly type: string;
  readonly name: string | null;
  readonly description: string | null;
  /** Of a worktree of its own. */
  readonly branch: string | null;
  readonly status: AgentStatus;
  readonly cause: string | null;
  /** How many milliseconds it will still wait, where that is known. */
  readonly left: (() => number) | null;
  /** Titles of the calls that run, by id, the oldest first. */
  readonly calls: ReadonlyMap<string, string>;
  /** Its last request failed, and is to be sent again. */
  readonly retries: boolean;
  /** How long nothing had happened, once that counts as stalled; null when something happens. */
  readonly silentMs: number | null;
  /** Its latest progress line. */
  readonly progress: string | null;
  readonly turns: number;
  readonly usage: Usage;
  readonly costUsd: number | null;
}

export class AgentBoard {
  readonly #agents = new Map<AgentId, BoardAgent>();

  get size(): number {
    return this.#agents.size;
  }

  /** Children under their parents, siblings in the order in which they were asked for. */
  get tree(): readonly TreePlace<BoardAgent>[] {
    const byNumber = [...this.#agents.values()].sort((one, other) => numberOf(one) - numberOf(other));
    return agentTree(byNumber);
  }

  find(id: AgentId): BoardAgent | undefined {
    return this.#agents.get(id);
  }

  /** How many of those at work it is below; 0 for a child of the main agent. */
  levelOf(id: AgentId): number {
    const parent = this.#agents.get(id)?.parent;
    return parent != null && this.#agents.has(parent) ? this.levelOf(parent) + 1 : 0;
  }

  take(event: SessionEvent): void {
    const { agentId: id, parentAgentId: parent } = event;
    if (event.type === 'agent_started') {
      const { agentType: type, name, description, worktree, carried, progress = null } = event;
      const branch = worktree?.branch ?? null;
      this.#agents.set(id, { ...AT_WORK, ...carried, id, parent, type, name, description, branch, progress });
      return;
    }
    const agent = this.#agents.get(id);
    if (agent === undefined) return;
    if (event.type === 'agent_ended') this.#agents.delete(id);
    else this.#agents.set(id, { ...agent, ...NO_TROUBLE, ...changeBy(event, agent) });
  }

  clear(): void {
    this.#agents.clear();
  }
}

function numberOf({ id }: BoardAgent): number {
  return Number(id.slice(id.lastIndexOf('.') + 1));
}

const NO_TROUBLE = { retries: false, silentMs: null } as const;

const AT_WORK = {
  ...NO_TROUBLE,
  status: 'running',
  cause: null,
  left: null,
  calls: new Map(),
  progress: null,
  turns: 0,
  usage: NO_USAGE,
  costUsd: 0,
} as const satisfies Partial<BoardAgent>;

function changeBy(event: SessionEvent, agent: BoardAgent): Partial<BoardAgent> {
  switch (event.type) {
    case 'assistant':
      return {
        turns: agent.turns + 1,
        usage: addUsage(agent.usage, event.usage),
        costUsd: addCost(agent.costUsd, event.costUsd),
      };
    case 'tool_started':
      return { calls: new Map(agent.calls).set(event.call.id, callTitle(event.call, event.details)) };
    case 'tool_completed': {
      const calls = new Map(agent.calls);
      calls.delete(event.call.id);
      return { calls };
    }
    case 'progress':
      return { progress: event.line };
    case 'status_changed':
      return {
        status: event.status,
        cause: event.cause,
        left: event.leftMs === undefined ? null : timeLeft(event.leftMs),
      };
    case 'request_failed':
      return { retries: event.retryInMs !== null };
    case 'stalled':
      return { silentMs: event.silentMs };
    default:
      return {};
  }
}

/** What it does, or why it does nothing: `Bash npm test`, `blocked: permission`; before it its progress line. */
export function doingOf(agent: BoardAgent, now: number = Date.now()): string {
  const { status, progress } = agent;
  const doing = activityOf(agent, now);
  return progress === null || status !== 'running' ? doing : `${safeLine(progress)} · ${doing}`;
}

function activityOf(agent: BoardAgent, now: number): string {
  const { status, cause, left, calls, retries, silentMs } = agent;
  const silent = silentMs === null ? '' : ` (silent for ${duration(silentMs)})`;
  if (status !== 'running') return `${liveStatusOf({ status, cause, leftMs: left?.() }, now)}${silent}`;
  if (retries) return 'waiting to try again';
  const [first] = calls.values();
  if (first === undefined) return `thinking${silent}`;
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
  const { ending, figures } = endingOf(event.result);
  const mark = event.result.status === 'done' ? style.green('✓') : style.red('✗');
  return `${indent}${mark} ${label}: ${safeLine(ending)}${style.dim(` (${figures})`)}`;
}

export function inBackgroundLine(agent: Parameters<typeof agentLabel>[0], style: TextStyle): string {
  return style.dim(`→ ${safeLine(agentLabel(agent, 0))}: in the background`);
}

/**
 * The agents of `ramet demo` as their process tells of them with `--output-format stream-json`: who there is, what each does now
 * and what it has used. On a terminal they are rows that are drawn again; elsewhere each step is a line.
 */
import * as z from '../../schema/zod.ts';
import { dollars, excerpt, fitText, percent, tokens } from '../../views/text/format.ts';
import { callTitle } from '../interactive/chat/agents/agent-board.ts';
import { createScreen } from '../interactive/screen/screen.ts';
import type { CommandIo } from '../io.ts';
import { styleFor } from '../output/painted.ts';

const FRAME_MS = 80;
const NAME_WIDTH = 12;
/** Of the columns for turns, tokens, cache and cost. */
const FIGURES_WIDTH = 36;
const WIDEST = 100;
const LONGEST_STEP = 58;

const count = z.optional(z.number());
const usage = z.object({
  input_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
});

/** As much of a line as is shown. */
const shownLine = z.object({
  type: z.string(),
  subtype: z.optional(z.string()),
  agent_id: z.string(),
  parent_agent_id: z.nullable(z.string()),
  name: z.optional(z.nullable(z.string())),
  status: z.optional(z.string()),
  cause: z.optional(z.nullable(z.string())),
  worktree: z.optional(z.object({ branch: z.optional(z.nullable(z.string())) })),
  message: z.optional(z.unknown()),
  total_cost_usd: z.optional(z.nullable(z.number())),
  result: z.optional(z.string()),
});
type ShownLine = z.infer<typeof shownLine>;

const response = z.object({
  usage,
  content: z.array(
    z.object({ type: z.string(), name: z.optional(z.string()), input: z.optional(z.unknown()) }),
  ),
});

interface ShownAgent {
  readonly name: string;
  readonly isMain: boolean;
  now: string;
  /** Its last call in words. */
  step: string | null;
  /** How it ended; null while it works. */
  ended: string | null;
  turns: number;
  tokens: number;
  prompt: number;
  cached: number;
  costUsd: number;
}

export class DemoBoard implements Disposable {
  readonly #io: CommandIo;
  readonly #agents = new Map<string, ShownAgent>();
  #screen: ReturnType<typeof createScreen> | null = null;
  #frame: NodeJS.Timeout | null = null;
  /** What the main agent said at the end. */
  answer: string | null = null;

  constructor(io: CommandIo) {
    this.#io = io;
  }

  get children(): readonly ShownAgent[] {
    return [...this.#agents.values()].filter(({ isMain }) => !isMain);
  }

  /** What follows is of another process; those that have ended stay as they are. */
  begin(): void {
    const { isTerminal, env, columns, rows } = this.#io;
    if (!isTerminal || env.TERM === 'dumb') return;
    this.#screen = createScreen((bytes) => this.#io.out(bytes), { columns: columns ?? 80, rows: rows ?? 24 });
    this.#draw();
  }

  /** Leaves the rows in the output as they are now. */
  end(): void {
    this[Symbol.dispose]();
    if (this.#io.isTerminal) this.#io.out(`${this.#rows().join('\n')}\n`);
  }

  line(text: string): void {
    const line = shownLine.safeParse(parsed(text)).data;
    if (line === undefined) return;
    const agent = this.#agentOf(line);
    if (agent === undefined) return;
    const step = take(agent, line);
    this.answer = line.result ?? this.answer;
    if (step !== null && this.#screen === null)
      this.#io.out(`  ${agent.name.padEnd(NAME_WIDTH)} ${excerpt(step, LONGEST_STEP)}\n`);
    if (this.#screen !== null) this.#frame ??= setTimeout(() => this.#draw(), FRAME_MS);
  }

  [Symbol.dispose](): void {
    if (this.#frame !== null) clearTimeout(this.#frame);
    this.#frame = null;
    this.#screen?.close();
    this.#screen = null;
  }

  #agentOf({ agent_id: id, parent_agent_id: parent, name }: ShownLine): ShownAgent | undefined {
    const known = this.#agents.get(id);
    if (known !== undefined || (parent !== null && name == null)) return known;
    const agent = newAgent(parent === null ? 'main' : (name ?? id), parent === null);
    this.#agents.set(id, agent);
    return agent;
  }

  #draw(): void {
    this.#frame = null;
    const rows = this.#rows().map((text) => ({ text, width: 0 }));
    this.#screen?.draw({ rows, cursorRow: Math.max(0, rows.length - 1), cursorColumn: 0 });
  }

  #rows(): string[] {
    const style = styleFor(this.#io);
    const width = Math.min(this.#io.columns ?? 80, WIDEST) - NAME_WIDTH - FIGURES_WIDTH - 7;
    const heading = [
      '  ',
      'AGENT'.padEnd(NAME_WIDTH + 3),
      'NOW'.padEnd(width),
      figures('TURNS', 'TOKENS', 'CACHED', 'COST'),
    ];
    const agents = [...this.#agents.values()];
    const working = this.children.filter(({ ended }) => ended === null).length;
    return [
      style.dim(heading.join('')),
      ...agents.map((agent, index) => {
        const branch = agent.isMain ? '' : index === agents.length - 1 ? '└─ ' : '├─ ';
        const now = fitText(nowOf(agent, working), width - 1).padEnd(width);
        const paint = agent.ended === null ? style.cyan : agent.ended === 'done' ? style.green : style.red;
        return `  ${`${branch}${agent.name}`.padEnd(NAME_WIDTH + 3)}${paint(now)}${figuresOf(agent)}`;
      }),
    ];
  }
}

function newAgent(name: string, isMain: boolean): ShownAgent {
  const figures = { turns: 0, tokens: 0, prompt: 0, cached: 0, costUsd: 0 };
  return { name, isMain, now: 'thinks', step: null, ended: null, ...figures };
}

/** Takes what the line says about the agent. Returns it in words if it is a step. */
function take(agent: ShownAgent, line: ShownLine): string | null {
  if (line.type === 'assistant') return takeResponse(agent, line);
  if (line.type === 'user' && agent.step !== null) agent.now = `${agent.step} ✓`;
  if (line.subtype === 'agent_started' && line.worktree !== undefined)
    return `${agent.turns > 0 ? 'resumes' : 'begins'} on branch ${line.worktree.branch}`;
  if (line.subtype !== 'agent_ended' && line.type !== 'result') return null;
  const status = line.status ?? (line.subtype === 'success' ? 'done' : 'failed');
  agent.ended = status;
  agent.now = `${status}${line.cause ? `: ${line.cause}` : ''}${line.worktree?.branch ? `, on ${line.worktree.branch}` : ''}`;
  return agent.now;
}

function takeResponse(agent: ShownAgent, line: ShownLine): string | null {
  const message = response.safeParse(line.message).data;
  if (message === undefined) return null;
  const { input_tokens: plain = 0, output_tokens: output = 0 } = message.usage;
  const { cache_creation_input_tokens: written = 0, cache_read_input_tokens: read = 0 } = message.usage;
  agent.turns += 1;
  agent.prompt += plain + written + read;
  agent.cached += read;
  agent.tokens += plain + written + read + output;
  agent.costUsd += line.total_cost_usd ?? 0;
  const calls = message.content.flatMap(({ type, name, input }) =>
    type === 'tool_use' && name !== undefined ? [callTitle({ name, input }, undefined)] : [],
  );
  agent.step = calls.length > 1 ? `starts ${calls.length} agents` : (calls[0] ?? null);
  agent.now = agent.step ?? 'reports';
  return agent.step;
}

function nowOf({ isMain, ended, now }: ShownAgent, working: number): string {
  return isMain && ended === null && working > 0
    ? `waits for ${working} ${working === 1 ? 'agent' : 'agents'}`
    : now;
}

function figuresOf({ turns, tokens: used, prompt, cached, costUsd }: ShownAgent): string {
  return figures(
    String(turns),
    tokens(used),
    percent(prompt === 0 ? null : cached / prompt),
    dollars(costUsd),
  );
}

function figures(turns: string, used: string, cached: string, cost: string): string {
  return `${turns.padStart(6)}${used.padStart(9)}${cached.padStart(9)}${cost.padStart(10)}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

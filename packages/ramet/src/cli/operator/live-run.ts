/**
 * Shows a run of the operator while it works: one block that is drawn again on a terminal, lines elsewhere, JSON lines for
 * programs. It hears what the session records, so it needs no reader of the journal.
 */
import {
  type AgentActivity,
  type AgentOverview,
  emptyBoard,
  extendBoard,
} from '../../journal/projections/status.ts';
import { applyOperatorEvent, OPERATOR_EVENTS } from '../../operator/run/apply-operator-event.ts';
import { NO_RUN, type OperatorState } from '../../operator/run/operator-state.ts';
import type { JournalEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { ProgressLines } from '../../views/operator/progress-lines.ts';
import { eventObject } from '../../views/operator/run-object.ts';
import { progressRows } from '../../views/operator/run-progress.ts';
import type { LineTone } from '../../views/operator/run-summary.ts';
import type { LiveFigures } from '../../views/operator/task-rows.ts';
import { displayWidth, printable } from '../../views/text/format.ts';
import { lineBlocks } from '../interactive/markdown/blocks.ts';
import { createScreen, type ScreenSize } from '../interactive/screen/screen.ts';
import { textStyle, wantsColours } from '../interactive/screen/text-style.ts';
import type { CommandIo } from '../io.ts';

export type OperateFormat = 'text' | 'json' | 'stream-json';

interface RunDisplay extends Disposable {
  /** `state` has the event in it. */
  event(session: string, state: OperatorState, recorded: { time: number; event: JournalEvent }): void;
  /** An agent did something. */
  agents(): void;
  note(line: string): void;
}

export class LiveRun implements Disposable {
  readonly #display: RunDisplay;
  readonly #board = emptyBoard();
  #state: OperatorState = NO_RUN;
  #session: string | null = null;
  /** Recorded before the run was known. */
  #early: { time: number; event: JournalEvent }[] = [];

  constructor(io: CommandIo, format: OperateFormat) {
    const isBlock = format === 'text' && io.isTerminal && io.env.TERM !== 'dumb';
    this.#display = isBlock ? new BlockDisplay(io, (now) => this.#figures(now)) : lineDisplay(io, format);
  }

  /** Null before the run has begun. */
  get session(): string | null {
    return this.#session;
  }

  get state(): OperatorState {
    return this.#state;
  }

  note(line: string): void {
    this.#display.note(line);
  }

  /** The run is known from now on; a resumed one has a past. */
  begin(session: string, state: OperatorState): void {
    this.#session = session;
    this.#state = state;
    for (const recorded of this.#early) this.#display.event(session, state, recorded);
    this.#early = [];
  }

  /** Everything that the session records comes here. */
  record(agent: AgentId | null, event: JournalEvent): void {
    const time = Date.now();
    if (agent !== null) {
      extendBoard(this.#board, { seq: 0, time, agent, event });
      this.#display.agents();
    } else if (OPERATOR_EVENTS.some((type) => type === event.type)) this.#hear({ time, event });
  }

  #hear(recorded: { time: number; event: JournalEvent }): void {
    if (this.#session === null) {
      this.#early.push(recorded);
      return;
    }
    this.#state = applyOperatorEvent(this.#state, recorded);
    this.#display.event(this.#session, this.#state, recorded);
  }

  #figures(now: number): { state: OperatorState; live: LiveFigures } {
    const agents = Array.from(
      this.#board.agents,
      ([id, agent]) => [id, { doing: doingOf(agent), costUsd: agent.costUsd }] as const,
    );
    return { state: this.#state, live: { now, agents: new Map(agents) } };
  }

  [Symbol.dispose](): void {
    this.#display[Symbol.dispose]();
  }
}

function doingOf({ activity, progress }: AgentOverview): string {
  return [activityText(activity), progress].filter(Boolean).join(', ');
}

function activityText(activity: AgentActivity | null): string {
  switch (activity?.kind) {
    case 'tools':
      return [...new Set(activity.names)].join(', ');
    case 'requesting':
      return 'asks the model';
    case 'retrying':
      return `tries again after ${activity.code}`;
    case undefined:
      return '';
  }
}

/** Lines on standard output; for programs JSON there, and lines only where a person watches standard error. */
function lineDisplay(io: CommandIo, format: OperateFormat): RunDisplay {
  const lines = new ProgressLines();
  return {
    event(session, state, recorded) {
      if (format === 'stream-json') io.out(`${JSON.stringify(eventObject(session, recorded))}\n`);
      const line = lines.line(state, recorded);
      if (line === null) return;
      if (format === 'text') io.out(`${line}\n`);
      else io.progress(line);
    },
    agents() {},
    note: (line) => io.note(line),
    [Symbol.dispose]() {},
  };
}

/** A frame at most so often, and one each second: times go on while nothing happens. */
const FRAME_MS = 100;
const TICK_MS = 1_000;

/** One block below what was printed before. It is gone when it is disposed of. */
class BlockDisplay implements RunDisplay {
  readonly #io: CommandIo;
  readonly #facts: (now: number) => { state: OperatorState; live: LiveFigures };
  readonly #screen: ReturnType<typeof createScreen>;
  readonly #paint: Record<LineTone, (text: string) => string>;
  #drawnColumns: number;
  #isClosed = false;
  #frame: NodeJS.Timeout | null = null;
  #tick: NodeJS.Timeout | null = null;

  constructor(io: CommandIo, facts: (now: number) => { state: OperatorState; live: LiveFigures }) {
    this.#io = io;
    this.#facts = facts;
    this.#drawnColumns = this.#size.columns;
    this.#screen = createScreen((bytes) => io.out(bytes), this.#size);
    const { green, red, cyan, yellow, dim } = textStyle(wantsColours(io.env));
    this.#paint = { good: green, bad: red, busy: cyan, care: yellow, dim, plain: (text) => text };
  }

  get #size(): ScreenSize {
    return { columns: this.#io.columns ?? 80, rows: this.#io.rows ?? 24 };
  }

  event(): void {
    if (this.#isClosed) return;
    this.#tick ??= setInterval(() => this.#draw(), TICK_MS).unref();
    this.agents();
  }

  agents(): void {
    if (this.#tick === null) return;
    this.#frame ??= setTimeout(() => this.#draw(), FRAME_MS);
  }

  note(line: string): void {
    if (this.#isClosed) {
      this.#io.note(line);
      return;
    }
    this.#screen.append(lineBlocks(`ramet: ${printable(line)}\n`));
    this.#draw();
  }

  #draw(): void {
    if (this.#frame !== null) clearTimeout(this.#frame);
    this.#frame = null;
    const { columns, rows: height } = this.#size;
    const { state, live } = this.#facts(Date.now());
    const shown = state.run === null ? [] : progressRows(state, live, { columns, rows: height });
    const rows = shown.map(({ text, tone }) => ({
      text: this.#paint[tone](text),
      width: displayWidth(text),
    }));
    const shape = { rows, cursorRow: Math.max(0, rows.length - 1), cursorColumn: 0 };
    if (columns === this.#drawnColumns) this.#screen.draw(shape);
    else this.#screen.resized(shape, { columns, rows: height });
    this.#drawnColumns = columns;
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#frame !== null) clearTimeout(this.#frame);
    if (this.#tick !== null) clearInterval(this.#tick);
    this.#tick = null;
    this.#screen.close();
  }
}

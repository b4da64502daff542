/** The rows below the output: the activity, the input, and one line of figures. Pure. */
import type { TodoItem } from '../../../schema/status.ts';
import { hitRate } from '../../../schema/usage.ts';
import type { TreePlace } from '../../../views/agent-label.ts';
import {
  displayWidth,
  dollars,
  duration,
  fitText,
  percent,
  safeLine,
  usageTokens,
} from '../../../views/text/format.ts';
import type { BoardAgent } from '../chat/agents/agent-board.ts';
import type { ContextFill } from '../chat/chat.ts';
import type { ChatTally } from '../chat/chat-tally.ts';
import { layoutInput } from '../editor/input-layout.ts';
import type { EditorState } from '../editor/line-editor.ts';
import { plainSpan, wrapLine } from '../markdown/wrapped-rows.ts';
import { statusRows } from '../status/status-rows.ts';
import { agentRows } from './agent-rows.ts';
import type { LiveRow, LiveRows, ScreenSize } from './in-sight.ts';
import { textColumns } from './kept-output.ts';
import { type Menu, menuRows } from './menu-rows.ts';
import type { TextStyle } from './text-style.ts';
import { todoRows } from './todo-rows.ts';

export interface LiveState {
  readonly editor: EditorState;
  /** The activity, and for how many milliseconds; null between turns. */
  readonly activity: { readonly text: string; readonly forMs: number } | null;
  /** What the main agent has to do. */
  readonly todos: readonly TodoItem[];
  /** The children at work. */
  readonly agents: readonly TreePlace<BoardAgent>[];
  /** Who is in the team that is followed. */
  readonly team?: string | null;
  /** What was said and is still to be heard or carried out. */
  readonly queued: readonly string[];
  /** A prompt that may follow; shown between turns. */
  readonly suggestion?: string | null;
  /** What a child asks; null when nothing, or when the question stands right above. */
  readonly question: string | null;
  /** What an "always" would allow: all of it is shown. */
  readonly rule: string | null;
  /** The keys that answer an open question: shown in place of the input, above it when there is text in it. */
  readonly answers: string | null;
  /** What is being written for the question, in place of the input. */
  readonly field: { readonly prompt: string; readonly editor: EditorState } | null;
  /** A list to choose from, below the input; it takes the room of what is above. */
  readonly menu: Menu | null;
  readonly status: string;
  /** What a command supplies in its place. */
  readonly statusLines?: StatusLines | null;
}

export interface StatusLines {
  readonly lines: readonly string[];
  readonly padding: number;
  readonly colours: boolean;
}

const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const SPINNER_MS = 100;
const LONGEST_QUEUED = 500;

export function liveRows(state: LiveState, size: ScreenSize, style: TextStyle): LiveRows {
  const columns = textColumns(size.columns);
  const row = (text: string, paint: (text: string) => string): LiveRow => {
    const fitted = fitText(text, columns);
    return { text: paint(fitted), width: displayWidth(fitted) };
  };
  const menu = state.menu === null ? [] : menuRows(state.menu, { ...size, columns }, style);
  const room = state.answers === null ? size : besideQuestion(size);
  const above = [
    ...(state.activity === null ? [] : [row(activityText(state.activity), style.cyan)]),
    ...todoRows(state.todos, room, style).map(({ text, paint }) => row(text, paint)),
    ...agentRows(state.agents, { ...room, columns }).map((text) => row(text, style.dim)),
    ...(state.team && size.rows >= 8 ? [row(`  ${safeLine(state.team)}`, style.dim)] : []),
    ...queuedTexts(state.queued, size).map((text) => row(text, style.dim)),
    ...(hasSuggestion(state, size) ? [row(state.suggestion ?? '', style.dim)] : []),
  ].slice(0, state.menu === null ? undefined : 1);
  const list = menu.map(({ text, paint }) => row(text, paint));
  const status = state.statusLines
    ? statusRows(state.statusLines.lines, { ...state.statusLines, columns, most: size.rows < 16 ? 1 : 3 })
    : [row(wholeParts(state.status, columns), style.dim)];
  const below = [...list, ...(size.rows < 4 ? [] : status)];
  if (state.answers !== null) {
    const title = state.question === null || size.rows < 8 ? [] : [row(state.question, style.yellow)];
    const rule = wrapped(state.rule ?? '', columns, size.rows - below.length - 3);
    const keys = wrapped(`? ${state.answers}`, columns, size.rows - below.length - 3);
    above.push(...title, ...[...rule, ...keys].map((text) => row(text, style.yellow)));
    if (state.editor.cells.length === 0 && state.field === null) {
      const cursorRow = above.length - 1;
      return withinScreen({ rows: [...above, ...below], cursorRow, cursorColumn: 0 }, size);
    }
  }
  const rowsLeft = Math.max(1, size.rows - above.length - below.length - 2);
  const { prompt, editor } = state.field ?? { prompt: '> ', editor: state.editor };
  const input = layoutInput(editor, { columns, maxRows: Math.min(rowsLeft, 12), prompt });
  const written = input.rows.map((text) => row(text, (shown) => shown));
  const cursorRow = above.length + input.cursorRow;
  const cursorColumn = Math.min(input.cursorColumn, columns);
  return withinScreen({ rows: [...above, ...written, ...below], cursorRow, cursorColumn }, size);
}

/** Whatever else there is comes first. */
function hasSuggestion({ suggestion, activity, answers, menu }: LiveState, { rows }: ScreenSize): boolean {
  return Boolean(suggestion) && activity === null && answers === null && menu === null && rows >= 8;
}

/** What a question is about stands above these rows: they are few while it is open. */
function besideQuestion(size: ScreenSize): ScreenSize {
  return { ...size, rows: Math.min(size.rows, 13) - 3 };
}

/** Lower than the screen, whatever a terminal says that its size is: the row of the cursor stays, and those around it. */
function withinScreen(live: LiveRows, { rows: height }: ScreenSize): LiveRows {
  const most = Math.max(1, height - 1);
  const first = Math.max(0, Math.min(live.cursorRow, live.rows.length - most));
  return { ...live, rows: live.rows.slice(first, first + most), cursorRow: live.cursorRow - first };
}

/** At most that many rows; the last says if there were more. */
function wrapped(text: string, columns: number, most: number): string[] {
  if (text === '') return [];
  const rows = wrapLine([plainSpan(text)], columns).map((row) => row.text);
  const shown = rows.slice(0, Math.max(1, most));
  return shown.length === rows.length ? rows : [...shown.slice(0, -1), `${shown.at(-1)} …`];
}

/** As many parts as have room, from the first on; no part is cut while another fits. */
function wholeParts(text: string, columns: number): string {
  const parts = text.split(' · ');
  while (parts.length > 1 && displayWidth(parts.join(' · ')) > columns) parts.pop();
  return parts.join(' · ');
}

function queuedTexts(queued: readonly string[], { rows }: ScreenSize): readonly string[] {
  const most = rows < 8 ? 0 : rows < 16 ? 1 : 3;
  const texts = queued.map((text) => `» ${safeLine(text.slice(0, LONGEST_QUEUED))} (queued)`);
  if (texts.length <= most) return texts;
  return most === 0 ? [] : [`» ${texts.length} queued`];
}

function activityText({ text, forMs }: NonNullable<LiveState['activity']>): string {
  const frame = SPINNER[Math.floor(forMs / SPINNER_MS) % SPINNER.length];
  return `${frame} ${duration(Math.floor(forMs / SPINNER_MS) * SPINNER_MS)} ${text}`;
}

export interface StatusFacts {
  readonly model: string | null;
  readonly permissionMode: string | null;
  readonly tally: ChatTally;
  readonly context: ContextFill | null;
  readonly session?: { readonly coordinator?: { readonly phase: string } } | null;
}

/** From here on a person should know what helps. */
const NEARLY_FULL = 0.9;

function contextText({ tokens, window }: ContextFill): string {
  const share = tokens / window;
  return `context ${percent(share)}${share >= NEARLY_FULL ? ': /compact' : ''}`;
}

/** The most important first: a narrow screen cuts the rest. */
export function statusText({ model, permissionMode, tally, context, session }: StatusFacts): string {
  const { responses, usage, costUsd } = tally;
  return [
    ...(permissionMode === null ? [] : [permissionMode]),
    ...(session?.coordinator === undefined ? [] : [session.coordinator.phase]),
    safeLine(model ?? 'default model'),
    ...(context === null || !Number.isFinite(context.window) ? [] : [contextText(context)]),
    dollars(costUsd),
    `${usageTokens(usage)} tokens`,
    `${responses} turn${responses === 1 ? '' : 's'}`,
    `cache ${percent(hitRate(usage))}`,
  ].join(' · ');
}

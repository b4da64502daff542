/** What stands below the output: what goes on, the input, and one line of figures. Pure. */
import { hitRate, totalTokens } from '../../schema/usage.ts';
import { dollars, duration, percent, tokens } from '../format.ts';
import type { ChatTally } from './chat.ts';
import { displayWidth, fitText } from './display-width.ts';
import { layoutInput } from './input-layout.ts';
import type { EditorState } from './line-editor.ts';
import { safeLine } from './safe-text.ts';
import type { LiveRow, LiveRows } from './screen.ts';
import type { TextStyle } from './text-style.ts';

export interface LiveState {
  readonly editor: EditorState;
  /** What goes on, and since how many milliseconds; null between turns. */
  readonly activity: { readonly text: string; readonly forMs: number } | null;
  /** The keys that answer an open question: shown in place of the input. */
  readonly answers: string | null;
  readonly status: string;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const SPINNER_MS = 100;

export function liveRows(state: LiveState, size: ScreenSize, style: TextStyle): LiveRows {
  // The last column stays free: a terminal that has written there is between two rows.
  const columns = Math.max(1, size.columns - 1);
  const row = (text: string, paint: (text: string) => string): LiveRow => {
    const fitted = fitText(text, columns);
    return { text: paint(fitted), width: displayWidth(fitted) };
  };
  const above = state.activity === null ? [] : [row(activityText(state.activity), style.cyan)];
  const below = size.rows < 4 ? [] : [row(state.status, style.dim)];
  const room = Math.max(1, size.rows - above.length - below.length - 2);
  if (state.answers !== null) {
    const asked = row(`? ${state.answers}`, style.yellow);
    return { rows: [...above, asked, ...below], cursorRow: above.length, cursorColumn: 0 };
  }
  const input = layoutInput(state.editor, { columns, maxRows: Math.min(room, 12), prompt: '> ' });
  const written = input.rows.map((text) => ({ text, width: displayWidth(text) }));
  return {
    rows: [...above, ...written, ...below],
    cursorRow: above.length + input.cursorRow,
    cursorColumn: input.cursorColumn,
  };
}

function activityText({ text, forMs }: NonNullable<LiveState['activity']>): string {
  const frame = SPINNER[Math.floor(forMs / SPINNER_MS) % SPINNER.length];
  return `${frame} ${duration(Math.floor(forMs / SPINNER_MS) * SPINNER_MS)} ${text}`;
}

export interface StatusFacts {
  readonly model: string | null;
  readonly permissionMode: string | null;
  readonly tally: ChatTally;
}

/** The most important first: a narrow screen cuts the rest. */
export function statusText({ model, permissionMode, tally }: StatusFacts): string {
  const { responses, usage, costUsd } = tally;
  return [
    safeLine(model ?? 'default model'),
    dollars(costUsd),
    `${tokens(totalTokens(usage))} tokens`,
    `${responses} turn${responses === 1 ? '' : 's'}`,
    `cache ${percent(hitRate(usage))}`,
    ...(permissionMode === null ? [] : [permissionMode]),
  ].join(' · ');
}

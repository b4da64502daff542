/** The children at work as rows below the output, at most a few, the rest as a count. Pure. */
import { purposeOf, shortId, type TreePlace } from '../../../views/agent-label.ts';
import { displayWidth, dollars, fitText, safeLine, usageTokens } from '../../../views/text/format.ts';
import { type BoardAgent, doingOf } from '../chat/agents/agent-board.ts';
import type { ScreenSize } from './screen.ts';

const MOST_ROWS = 6;
/** Rows that other things need: the activity, the input, the figures, some output. */
const KEPT_ROWS = 7;
/** Below this the figures are short. */
const NARROW = 60;

export function agentRows(
  tree: readonly TreePlace<BoardAgent>[],
  { columns, rows }: ScreenSize,
): readonly string[] {
  const room = Math.min(MOST_ROWS + 1, rows - KEPT_ROWS);
  if (tree.length === 0 || room <= 0) return [];
  const fits = tree.length <= Math.min(room, MOST_ROWS);
  const shown = fits ? tree : worthShowing(tree, room - 1);
  const hidden = tree.filter((place) => !shown.includes(place));
  const table = aligned(shown, columns);
  return hidden.length === 0 ? table : [...table, fitText(`  ${restText(hidden)}`, columns)];
}

/** Agents that wait for an answer first, those that wait their turn last; in the order of the tree. */
function worthShowing(tree: readonly TreePlace<BoardAgent>[], most: number): TreePlace<BoardAgent>[] {
  const rank = ({ agent }: TreePlace<BoardAgent>): number =>
    agent.status === 'blocked' ? 0 : agent.status === 'queued' ? 2 : 1;
  const chosen = new Set(tree.toSorted((one, other) => rank(one) - rank(other)).slice(0, most));
  return tree.filter((place) => chosen.has(place));
}

function restText(hidden: readonly TreePlace<BoardAgent>[]): string {
  const counts = Map.groupBy(hidden, ({ agent }) => agent.status);
  const parts = Array.from(counts, ([status, { length }]) => `${length} ${status}`);
  return `${hidden.length} more: ${parts.join(', ')}`;
}

function aligned(places: readonly TreePlace<BoardAgent>[], columns: number): string[] {
  const lines = places.map(({ agent, level }) => ({
    label: labelOf(agent),
    indent: '  '.repeat(Math.min(level, 3) + 1),
    doing: doingOf(agent),
    figures: columns < NARROW ? shortFigures(agent) : figures(agent),
  }));
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(displayWidth));
  const right = widest(lines.map(({ figures }) => figures));
  const free = Math.max(0, columns - right - 4);
  // What an agent is for matters as much as what it does; either takes what the other leaves.
  const doing = widest(lines.map((line) => line.doing));
  const left = Math.min(
    widest(lines.map(({ label, indent }) => indent + label)),
    Math.max(Math.ceil(free / 2), free - doing),
  );
  return lines.map((line) => {
    const name = padded(fitText(line.indent + line.label, left), left);
    const does = padded(fitText(line.doing, free - left), free - left);
    return fitText(`${name}  ${does}  ${line.figures.padStart(right)}`, columns);
  });
}

/** What it is for first: of a row that is too narrow the type is cut off. */
function labelOf(agent: BoardAgent): string {
  const purpose = purposeOf(agent);
  const place = agent.branch === null ? agent.type : `${agent.type} on ${agent.branch}`;
  return safeLine(`${shortId(agent.id)} ${purpose === '' ? place : `${purpose} (${place})`}`);
}

function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}

function figures({ turns, usage, costUsd }: BoardAgent): string {
  return `${turns} turn${turns === 1 ? '' : 's'} · ${usageTokens(usage)} tok · ${dollars(costUsd)}`;
}

function shortFigures({ turns, usage, costUsd }: BoardAgent): string {
  return `${turns}t ${usageTokens(usage)} ${dollars(costUsd)}`;
}

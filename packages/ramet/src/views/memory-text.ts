/** Memory as people read it: the files, who changed them, and where a line came from. */

import { localTime } from '../schema/local-time.ts';
import { printable, table } from './text/format.ts';

interface ShownFile {
  readonly scope: string;
  readonly path: string;
  readonly bytes: number;
  readonly lines: number;
  readonly text: string | null;
  readonly problem: string | null;
}

interface ShownChange {
  readonly id: string;
  readonly at: string;
  readonly kind: string;
  readonly session: string | null;
  readonly agent: string | null;
  readonly turn: number | null;
  readonly undoes: string | null;
  /** Of a sync: the team and its server. */
  readonly origin?: string | null;
  readonly files: readonly string[];
}

export function memoryText(files: readonly ShownFile[]): string {
  return files
    .map(({ scope, path, text, problem }) => {
      const body = (text ?? problem ?? '').replace(/\n$/, '').split('\n');
      return [`${scope}  ${path}`, ...body.map((line) => `  ${line}`)].map(printable).join('\n');
    })
    .join('\n\n')
    .concat('\n');
}

export function changeTable(changes: readonly ShownChange[], now: number): string {
  const rows = changes.map((change) => [
    change.id,
    localTime(Date.parse(change.at), now),
    sourceText(change),
    change.files.join(', '),
  ]);
  return table([['CHANGE', 'WHEN', 'WHO', 'FILES'], ...rows.map((row) => row.map(printable))]);
}

const DOING: Readonly<Record<string, string>> = {
  note: 'a note of the user',
  edit: 'edited by the user',
  extraction: 'extracted after a turn',
  'session-notes': 'notes of the session',
  pruning: 'removal of old notes',
  agent: 'saved by an agent',
  dream: 'tidied up',
  sync: 'came with a sync',
  hand: 'edited by hand',
};

function sourceText({ kind, session, agent, turn, undoes, origin = null }: ShownChange): string {
  const what = kind === 'undo' ? `undo of ${undoes}` : (DOING[kind] ?? kind);
  const who = agent === null ? (session === null ? null : `session ${session}`) : `agent ${agent}`;
  const from = origin === null ? null : `from ${origin}`;
  return [what, from, who, turn === null ? null : `turn ${turn}`].filter((part) => part !== null).join(', ');
}

interface ExplainedText {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly change: ShownChange | null;
}

export function explainedText(lines: readonly ExplainedText[], now: number): string {
  return lines
    .map(({ path, line, text, change }) => {
      const source =
        change === null
          ? 'edited by hand, since the last change by Ramet'
          : `${sourceText(change)}, ${localTime(Date.parse(change.at), now)} (${change.id})`;
      return `${printable(`${path}:${line}`)}\n  ${printable(text)}\n  ${printable(source)}\n`;
    })
    .join('');
}

interface UndoneText {
  readonly undone: ShownChange;
  readonly change: string | null;
  readonly files: readonly string[];
  readonly kept: number;
  readonly earlier: string | null;
}

export function undoneText({ undone, change, files, kept, earlier }: UndoneText): string {
  const what = `${undone.id} (${sourceText(undone)})`;
  const stay = `${kept} ${kept === 1 ? 'line stays' : 'lines stay'}, because of what was changed since`;
  if (change === null) {
    const none = `nothing of ${what} was left to take back in ${undone.files.join(', ')}`;
    const next = earlier === null ? '' : `; ramet memory undo ${earlier} takes back ${earlier}`;
    return printable(`${kept === 0 ? none : `${what} was not taken back: ${stay}`}${next}`);
  }
  const stays = kept === 0 ? '' : `; ${stay}`;
  return printable(
    `undone ${what} in ${files.join(', ')}${stays}; ramet memory undo ${change} brings it again`,
  );
}

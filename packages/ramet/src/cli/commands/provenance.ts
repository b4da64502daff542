/** `ramet blame` and `ramet diff`: who wrote what. */
import { blame as blameOf, diff as diffOf } from '../../sdk/calls/provenance.ts';
import { latestSessionId } from '../../sdk/calls/sessions.ts';
import type { BlamedLine } from '../../sdk/index.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { excerpt, printable, table } from '../../views/text/format.ts';
import { type CommandIo, callFrom } from '../io.ts';
import { paintDiff, paintFirst, styleFor } from '../output/painted.ts';

const WHY_LENGTH = 40;
const WHO_LENGTH = 24;
const COMMIT_LENGTH = 10;

/** Which agent wrote each line of a file and why, committed or not. */
export async function blame(file: string, options: { json?: boolean }, io: CommandIo): Promise<void> {
  const lines = await blameOf(file, callFrom(io));
  if (options.json) io.out(jsonLine(lines));
  else io.out(paintFirst(table(lines.map(rowOf)), styleFor(io)));
}

function rowOf({ line, text, commit, author, agent, task, subject }: BlamedLine): string[] {
  return [
    commit?.slice(0, COMMIT_LENGTH) ?? 'uncommitted',
    excerpt(agent ?? author ?? '?', WHO_LENGTH),
    excerpt(task ?? subject ?? '', WHY_LENGTH),
    String(line),
    printable(text),
  ];
}

/** What a branch adds to its base, or what an agent changed through Write and Edit; of the latest session by default. */
export async function diff(
  wanted: string | undefined,
  { json, ...options }: { base?: string; json?: boolean },
  io: CommandIo,
): Promise<void> {
  const target = wanted ?? latestSessionId(callFrom(io));
  const text = await diffOf(target, { ...options, ...callFrom(io) });
  if (json) io.out(jsonLine({ target, diff: text }));
  else io.out(io.isTerminal ? paintDiff(printable(text), styleFor(io)) : text);
}

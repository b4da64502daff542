/** `ramet gc`: what Ramet keeps for this repository, by age and size, and how to remove what is no longer needed. */
import { createInterface } from 'node:readline/promises';
import { type GarbageQuestion, listHeld, removeHeld } from '../../sdk/retention/gc.ts';
import type { Holding } from '../../sdk/retention/holding.ts';
import { duration, excerpt, printable } from '../../views/text/format.ts';
import { fittedTable, wrapLines } from '../../views/text/narrow-table.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';
import { paintFirst, paintTable, styleFor } from '../output/painted.ts';

interface GcFlags extends GarbageQuestion {
  yes?: boolean;
  json?: boolean;
}

const NAME_LENGTH = 60;

export async function gc(flags: GcFlags, io: CommandIo): Promise<number> {
  const { items, days, notices } = await listHeld({ ...flags, ...callFrom(io) });
  for (const notice of notices) io.note(printable(notice));
  const going = items.filter(({ keep }) => keep === null);
  if (flags.json) io.out(`${JSON.stringify(items.map(holdingObject))}\n`);
  else io.out(paintFirst(paintTable(overview(items, days, io.columns), styleFor(io)), styleFor(io)));
  if (going.length === 0 || flags.dryRun) {
    if (flags.dryRun && going.length > 0) io.note('nothing was removed; without --dry-run it is');
    return EXIT.done;
  }
  if (flags.yes || (await isWanted(going, io))) return removeAll(going, io);
  return EXIT.failed;
}

async function isWanted(going: readonly Holding[], io: CommandIo): Promise<boolean> {
  if (!process.stdin.isTTY || !io.isTerminal) {
    io.note('nothing was removed: there is no terminal to ask on; use --yes to remove it');
    return false;
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const items = going.length === 1 ? 'this item' : `these ${going.length} items`;
    const answer = await asking.question(`Remove ${items} for good? [y/N] `, { signal: io.signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    asking.close();
  }
}

async function removeAll(going: readonly Holding[], io: CommandIo): Promise<number> {
  const onStay = ({ kind, name }: Holding, reason: string): void =>
    io.note(`${kind} ${name} stays: ${reason}`);
  const { removed, gone, freedBytes } = await removeHeld(going, onStay, callFrom(io));
  const others = gone === 0 ? '' : `${gone} ${gone === 1 ? 'was' : 'were'} gone already, `;
  io.note(`removed ${removed} of ${going.length}, ${others}${size(freedBytes)} in all`);
  return removed + gone === going.length ? EXIT.done : EXIT.failed;
}

function overview(held: readonly Holding[], days: number, columns: number | null): string {
  const going = held.filter(({ keep }) => keep === null);
  const staying = held.filter(({ keep, young }) => keep !== null && !young);
  const young = held.filter((holding) => holding.young);
  const parts: string[] = [];
  if (going.length > 0)
    parts.push(fittedTable([HEADINGS, ...going.map((one) => row('remove', one))], columns));
  if (staying.length > 0)
    parts.push(fittedTable([HEADINGS, ...staying.map((one) => row('keep', one))], columns));
  const sum = (some: readonly Holding[]): string => size(some.reduce((bytes, one) => bytes + one.bytes, 0));
  const end = wrapLines(
    `${counted(young)} used in the last ${days} days ${young.length === 1 ? 'stays' : 'stay'} (${sum(young)}); ${counted(going)} may go (${sum(going)})\n`,
    columns,
  );
  return [...parts, end].join('\n');
}

const HEADINGS = ['', 'WHAT', 'AGE', 'SIZE', 'JOURNAL', 'ORIGINALS', 'OUTPUTS', 'NAME'];

function row(action: string, { kind, name, usedAt, bytes, parts, keep }: Holding): string[] {
  const { journal, originals, outputs } = parts ?? { journal: null, originals: null, outputs: null };
  const figures = [journal, originals, outputs].map((part) => (part === null ? '' : size(part)));
  const why = keep === null ? '' : `: ${keep}`;
  const age = duration(Math.max(0, Date.now() - usedAt));
  return [action, kind, age, size(bytes), ...figures, `${excerpt(name, NAME_LENGTH)}${printable(why)}`];
}

function counted(held: readonly Holding[]): string {
  return `${held.length} item${held.length === 1 ? '' : 's'}`;
}

function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function holdingObject({ kind, name, usedAt, bytes, parts, keep }: Holding): Record<string, unknown> {
  const used = new Date(usedAt).toISOString();
  return {
    kind,
    name,
    used,
    bytes,
    ...(parts !== null && { parts }),
    action: keep === null ? 'remove' : 'keep',
    reason: keep,
  };
}

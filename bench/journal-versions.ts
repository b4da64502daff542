/**
 * The journal of this checkout beside that of another one, for instance of an earlier commit:
 * `node bench/journal-versions.ts ../other-checkout`. Both run in this process and take turns, the first of a turn
 * changing; what counts is CPU time, user and system, of a commit, as a ratio within each round.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type * as Sessions from '../packages/ramet/src/journal/sessions.ts';
import type { JournalEvent } from '../packages/ramet/src/schema/events.ts';
import { spreadOf } from './statistics.ts';

const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '12' } },
  allowPositionals: true,
});
const [other] = positionals;
if (other === undefined)
  throw new Error('name the checkout to compare with: node bench/journal-versions.ts DIR');

type Opening = Pick<typeof Sessions, 'createSession'>;
type Journal = Awaited<ReturnType<Opening['createSession']>>;

const event: JournalEvent = { type: 'warning.raised', code: 'bench', message: 'x'.repeat(640) };

const SLICES = 20;
const SETTLING_MS = 400;

interface Kind {
  /** Commits of one slice. */
  commits: number;
  commit(journal: Journal): Promise<void>;
}

const KINDS: Record<string, Kind> = {
  'written, 1 event': { commits: 150, commit: (journal) => take(journal, 1, 0, 'written') },
  'written, 5 events': { commits: 100, commit: (journal) => take(journal, 5, 0, 'written') },
  'written, 3 events and 2 blocks': { commits: 100, commit: (journal) => take(journal, 3, 2, 'written') },
  'synced, 1 event': { commits: 20, commit: (journal) => take(journal, 1, 0, 'synced') },
  'synced, 3 events and 2 blocks': { commits: 20, commit: (journal) => take(journal, 3, 2, 'synced') },
};

function take(
  journal: Journal,
  events: number,
  blocks: number,
  durability: 'written' | 'synced',
): Promise<void> {
  for (let count = 0; count < blocks; count++) {
    const bytes = randomBytes(1_024);
    journal.storeBlock(bytes.toString('hex', 0, 32), bytes);
  }
  for (let count = 0; count < events; count++) journal.append('bench.1', event);
  return journal.commit(durability);
}

interface Figures {
  /** Microseconds of CPU of one commit. */
  cpu: number;
  /** The same of each slice: the lower of them are those in which nobody disturbed it. */
  slices: readonly number[];
  perSecond: number;
}

/** Of one version in one round. */
class Spent {
  readonly slices: number[] = [];
  ms = 0;
}

const here: Opening = await openingOf(join(import.meta.dirname, '..'));
const there: Opening = await openingOf(resolve(other));
const directory = mkdtempSync(join(tmpdir(), 'ramet-bench-versions-'));
try {
  for (const [name, kind] of Object.entries(KINDS)) await compare(name, kind);
} finally {
  rmSync(directory, { recursive: true });
}

async function openingOf(checkout: string): Promise<Opening> {
  // The path is known only now; what it exports is what the type says, in every version so far.
  return (await import(join(checkout, 'packages/ramet/src/journal/sessions.ts'))) as Opening;
}

async function compare(name: string, kind: Kind): Promise<void> {
  const rounds: { own: Figures; before: Figures }[] = [];
  // The first round warms the code up.
  for (let round = 0; round <= Number(values.rounds); round++) {
    const measured = await measureBoth(kind);
    if (round > 0) rounds.push(measured);
  }
  const cpu = spreadOf(rounds.map(({ own, before }) => own.cpu / before.cpu));
  const speed = spreadOf(rounds.map(({ own, before }) => own.perSecond / before.perSecond));
  const least = (which: 'own' | 'before'): number =>
    lowerQuarter(rounds.flatMap((round) => round[which].slices));
  const median = (figure: (round: (typeof rounds)[number]) => number): string =>
    spreadOf(rounds.map(figure)).median.toFixed(1);
  console.log(
    `${name}: CPU ${median(({ own }) => own.cpu)} against ${median(({ before }) => before.cpu)} µs a commit, ` +
      `ratio ${ratio(cpu)}, of quiet moments ${(least('own') / least('before')).toFixed(3)}; commits/s ${ratio(speed)} (${rounds.length} rounds, median and range)`,
  );
}

function lowerQuarter(samples: readonly number[]): number {
  return samples.toSorted((one, other) => one - other)[Math.floor(samples.length / 4)] ?? Number.NaN;
}

function ratio({ min, median, max }: ReturnType<typeof spreadOf>): string {
  return `${median.toFixed(3)} (${min.toFixed(3)}-${max.toFixed(3)})`;
}

/** Both journals are open, and take turns of a few milliseconds: what else the machine does hits both. */
async function measureBoth(kind: Kind): Promise<{ own: Figures; before: Figures }> {
  const open = async ({ createSession }: Opening, project: string): Promise<Journal> => {
    const journal = await createSession({ project: join(directory, project), cwd: '/' });
    await journal.commit('synced');
    return journal;
  };
  const [own, before] = [await open(here, 'own'), await open(there, 'before')];
  // A session enters the list of sessions a little later, once.
  await sleep(SETTLING_MS);
  const spent = { own: new Spent(), before: new Spent() };
  for (let slice = 0; slice < SLICES; slice++) {
    const order = slice % 2 === 0 ? (['own', 'before'] as const) : (['before', 'own'] as const);
    for (const which of order) {
      const journal = which === 'own' ? own : before;
      const [cpu, since] = [process.cpuUsage(), performance.now()];
      for (let count = 0; count < kind.commits; count++) await kind.commit(journal);
      const { user, system } = process.cpuUsage(cpu);
      spent[which].ms += performance.now() - since;
      spent[which].slices.push((user + system) / kind.commits);
    }
  }
  await own.close();
  await before.close();
  const figures = ({ slices, ms }: Spent): Figures => ({
    cpu: slices.reduce((sum, micros) => sum + micros, 0) / SLICES,
    slices,
    perSecond: (kind.commits * SLICES * 1_000) / ms,
  });
  return { own: figures(spent.own), before: figures(spent.before) };
}

/** One process of `team-claims.ts`: it gets ready, waits for the word, works, says what came of it, and waits for the others. */
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemCode } from '../packages/ramet/src/schema/errors.ts';
import { thisProcess } from '../packages/ramet/src/system/processes/process-identity.ts';
import { type StoredTeam, TeamStore } from '../packages/ramet/src/team/store/team-store.ts';

interface WorkOptions {
  index: number;
  path: string;
  tasks: number;
  processes: number;
  connections: number;
}

const WORK: Record<string, (options: WorkOptions) => () => unknown> = { claims, bare, files, race };

/** Claims as a member does: by number, and with a look at the list when what it wanted is taken. */
function claims(options: WorkOptions): () => number[] {
  const { path, index } = options;
  const list = teamIn(path).tasks;
  const [name, me] = [`worker-${index}`, thisProcess()];
  return () =>
    untilNothing(startOf(options), {
      claim: (number) => 'task' in list.claim(number, name, me),
      free: () => list.free(name),
    });
}

/** What a careful program does without Ramet: one statement, and SQLite's own wait for the lock. */
function bare(options: WorkOptions): () => number[] {
  const { path, index } = options;
  const db = new DatabaseSync(join(path, 'bare.sqlite'), { timeout: 60_000 });
  db.exec('PRAGMA synchronous = NORMAL');
  const claim = db.prepare(
    `UPDATE tasks SET status = 'in_progress', owner = ? WHERE number = ? AND status = 'pending' RETURNING number`,
  );
  const free = db.prepare(`SELECT number FROM tasks WHERE status = 'pending' ORDER BY number`);
  return () =>
    untilNothing(startOf(options), {
      claim: (number) => claim.get(`worker-${index}`, number) !== undefined,
      free: () => free.all().map(({ number }) => Number(number)),
    });
}

/** Each begins where nobody else does. */
function startOf({ index, tasks, processes }: WorkOptions): number[] {
  const all = Array.from({ length: tasks }, (_, at) => at + 1);
  const start = Math.floor((index * tasks) / processes);
  return [...all.slice(start), ...all.slice(0, start)];
}

/** A file for each task, and a lock file beside it. */
function files({ path, index, tasks }: WorkOptions): () => number[] {
  return () => {
    const taken: number[] = [];
    for (let number = 1; number <= tasks; number++) {
      const file = join(path, `${number}.json`);
      try {
        closeSync(openSync(`${file}.lock`, 'wx'));
      } catch (error) {
        if (systemCode(error) === 'EEXIST') continue;
        throw error;
      }
      const task = JSON.parse(readFileSync(file, 'utf8'));
      if (task.owner === null) {
        writeFileSync(file, JSON.stringify({ ...task, owner: index }));
        taken.push(number);
      }
      rmSync(`${file}.lock`);
    }
    return taken;
  };
}

/** Everybody wants task 1; each of its connections is a racer. */
function race({ path, index, connections }: WorkOptions): () => string[] {
  const teams = Array.from({ length: connections }, () => teamIn(path));
  const me = thisProcess();
  return () =>
    teams.map(({ tasks }, racer) => {
      const claimed = tasks.claim(1, `racer-${index}-${racer}`, me);
      return 'problem' in claimed ? claimed.problem.replace(/racer-.*/, 'another') : 'won';
    });
}

function teamIn(path: string): StoredTeam {
  const team = new TeamStore(path).find('crew');
  if (team === undefined) throw new Error('no team');
  return team;
}

interface List {
  /** Whether it is ours now. */
  claim(number: number): boolean;
  free(): number[];
}

/** Goes through the list from where it begins, and looks at it again, from anywhere, when another was faster. */
function untilNothing(start: readonly number[], { claim, free }: List): number[] {
  const taken: number[] = [];
  for (let open = start; open.length > 0; open = turned(free())) {
    const until = open.findIndex((number) => !claim(number));
    taken.push(...(until === -1 ? open : open.slice(0, until)));
  }
  return taken;
}

function turned(list: readonly number[]): number[] {
  const at = Math.floor(Math.random() * list.length);
  return [...list.slice(at), ...list.slice(0, at)];
}

const [name = '', options = '{}'] = process.argv.slice(2);
const begin = WORK[name]?.(JSON.parse(options));
process.once('message', () => process.send?.(begin?.()));
// Keeps the process alive until its parent disconnects.
process.once('disconnect', () => undefined);
process.send?.('ready');

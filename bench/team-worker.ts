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
  connections: number;
}

const WORK: Record<string, (options: WorkOptions) => () => unknown> = { claims, bare, files, race };

/** Claims until nothing is free. */
function claims({ path, index }: WorkOptions): () => number[] {
  const { tasks } = teamIn(path);
  const me = thisProcess();
  return () => untilNothing(() => tasks.claimNext(`worker-${index}`, me)?.number);
}

/** What a careful program without Ramet does: one statement, and SQLite's own wait for the lock. */
function bare({ path, index }: WorkOptions): () => number[] {
  const db = new DatabaseSync(join(path, 'bare.sqlite'), { timeout: 60_000 });
  db.exec('PRAGMA synchronous = NORMAL');
  const claim = db.prepare(
    `UPDATE tasks SET status = 'in_progress', owner = ? WHERE number =
       (SELECT number FROM tasks WHERE status = 'pending' ORDER BY number LIMIT 1) RETURNING number`,
  );
  return () => untilNothing(() => claim.get(`worker-${index}`)?.number);
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

function untilNothing(claim: () => unknown): number[] {
  const taken: number[] = [];
  for (let number = claim(); number !== null && number !== undefined; number = claim())
    taken.push(Number(number));
  return taken;
}

const [name = '', options = '{}'] = process.argv.slice(2);
const begin = WORK[name]?.(JSON.parse(options));
process.once('message', () => process.send?.(begin?.()));
// Keeps the process alive until its parent disconnects.
process.once('disconnect', () => undefined);
process.send?.('ready');

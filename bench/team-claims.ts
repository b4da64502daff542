/**
 * Claims of a team's tasks by many processes at once, as TaskUpdate makes them, beside a bare `UPDATE ... RETURNING` by as
 * many, and beside one JSON file for each task under a lock file.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TeamStore } from '../packages/ramet/src/team/store/team-store.ts';
import { atLeast, showSpread, spreadOf, verdict } from './statistics.ts';
import { teamFolder, together } from './team-place.ts';

const PROCESSES = 16;
const TASKS = 100_000;
const FILES = 5_000;
const RACING_PROCESSES = 20;
const CONNECTIONS = 50;
const ROUNDS = 3;

export async function run(): Promise<void> {
  await race();
  await claims();
}

async function race(): Promise<void> {
  using folder = teamFolder();
  makeTeam(folder.path, 1);
  const { results } = await together<string[]>(RACING_PROCESSES, 'race', {
    ...folder,
    connections: CONNECTIONS,
    ...{ tasks: 1, processes: RACING_PROCESSES },
  });
  const said = results.flat();
  const others = new Set(said.filter((word) => word !== 'won'));
  console.log(`\n${said.length} racers in ${RACING_PROCESSES} processes for one task`);
  console.log(`  the others are told: ${[...others].join('; ')}`);
  console.log(`  ${verdict('winners', said.filter((word) => word === 'won').length, 1, 'of one task')}`);
}

async function claims(): Promise<void> {
  const [ours, bare]: [Claimed[], Claimed[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await claimed('bare', TASKS, makeBare));
    ours.push(await claimed('claims', TASKS, makeTeam));
  }
  const files = await claimed('files', FILES, makeFiles);
  console.log(`\n${TASKS} claims by ${PROCESSES} processes, ${ROUNDS} rounds in turns`);
  for (const each of bare) show('bare UPDATE', each);
  for (const each of ours) show('ramet', each);
  show(`${FILES} JSON files`, files);
  const ratio = spreadOf(ours.map(({ perSecond }, round) => perSecond / (bare[round]?.perSecond ?? 0)));
  console.log(`  ${showSpread(ratio, 'of the bare speed in the same round')}`);
  const lost = Math.max(...ours.map((each) => TASKS - each.different));
  const double = Math.max(...ours.map((each) => each.all - each.different));
  const slowest = Math.min(...ours.map(({ slowestShare }) => slowestShare));
  console.log(`  ${verdict('lost in any round', lost, 0, 'claims')}`);
  console.log(`  ${verdict('double in any round', double, 0, 'claims')}`);
  console.log(`  ${atLeast('of the bare speed', ratio.median, 0.5, 'times')}`);
  console.log(`  ${atLeast('the slowest process in any round', slowest, 0.25, 'of its share')}`);
}

interface Claimed {
  all: number;
  different: number;
  perSecond: number;
  slowestShare: number;
}

async function claimed(
  work: string,
  tasks: number,
  make: (path: string, tasks: number) => void,
): Promise<Claimed> {
  using folder = teamFolder();
  make(folder.path, tasks);
  const { results, ms } = await together<number[]>(PROCESSES, work, {
    ...folder,
    tasks,
    processes: PROCESSES,
  });
  const all = results.flat();
  return {
    all: all.length,
    different: new Set(all).size,
    perSecond: (all.length / ms) * 1_000,
    slowestShare: (Math.min(...results.map(({ length }) => length)) * PROCESSES) / all.length,
  };
}

function show(name: string, { all, perSecond, slowestShare }: Claimed): void {
  const share = `slowest process ${slowestShare.toFixed(2)} of its share`;
  console.log(`  ${name.padEnd(16)}${Math.round(perSecond)} claims/s, ${all} claims, ${share}`);
}

function makeTeam(path: string, tasks: number): void {
  using store = new TeamStore(path);
  const team = store.create({ name: 'crew', session: 'aaaaaaaa', agent: null });
  if ('problem' in team) throw new Error(team.problem);
  team.tasks.create('lead', { subject: 'task 1', description: '' });
  // The others by copying: to make them one by one takes longer than to claim them.
  using db = new DatabaseSync(join(path, 'teams.sqlite'));
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${tasks})
    INSERT INTO tasks (team, number, subject, description, status, blockers, created_by)
    SELECT 1, i, 'task ' || i, '', 'pending', 0, 'lead' FROM n WHERE i <= ${tasks}`);
}

function makeBare(path: string, tasks: number): void {
  using db = new DatabaseSync(join(path, 'bare.sqlite'));
  db.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE tasks (number INTEGER PRIMARY KEY, subject TEXT, status TEXT, owner TEXT);
    CREATE INDEX free ON tasks (number) WHERE status = 'pending';
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${tasks})
    INSERT INTO tasks SELECT i, 'task ' || i, 'pending', NULL FROM n`);
}

function makeFiles(path: string, tasks: number): void {
  for (let number = 1; number <= tasks; number++) {
    writeFileSync(
      join(path, `${number}.json`),
      JSON.stringify({ number, subject: `task ${number}`, owner: null }),
    );
  }
}

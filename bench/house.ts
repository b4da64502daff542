/**
 * How easy it is to find one's way: figures about the sources beside their goals. The walk is measured, not read:
 * `ramet -p` with one fork, then `ramet cost`, run from the sources under V8's coverage.
 */
import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmulator } from 'ramet/emulator';
import { type ImportArrow, importGraph } from '../packages/ramet/test/shape/import-graph.ts';
import { lineCount } from '../packages/ramet/test/shape/main-path.ts';
import { ROOT, roomOf, SOURCE_ROOT, sourceFiles } from '../packages/ramet/test/shape/repository.ts';
import { ROOMS } from '../packages/ramet/test/shape/rooms.ts';
import { benchPlace } from './command.ts';

const MAIN = join(ROOT, SOURCE_ROOT, 'cli/main.ts');
/** A file that does a real part of the work, not one that is passed through. */
const MANY_FUNCTIONS = 5;
const SHORT_FILE_LINES = 30;
const GOALS = { busy: 60, touched: 130, short: 45, folder: 30, past: 20, engine: 15, git: 30 };
/** Rooms whose doors are counted together. */
const FILES_AND_GIT = ['files', 'git', 'sandbox'];
/** What a command is meant to import. */
const CLI_MAY = new Set(['cli', 'sdk', 'views', 'schema']);

export async function run(): Promise<void> {
  const walk = await measuredWalk();
  const busy = [...walk].filter(([, functions]) => functions >= MANY_FUNCTIONS);
  console.log('\nthe walk: ramet -p with one fork, then ramet cost, from the sources');
  show(`files in which ${MANY_FUNCTIONS} or more functions run`, busy.length, GOALS.busy);
  show('files in which any function runs', walk.size, GOALS.touched);
  showByRoom(walk);
  showShape();
}

function show(what: string, found: number, goal: number): void {
  console.log(`  ${found <= goal ? 'reached' : 'MISSED'}: ${what}: ${found} (goal: at most ${goal})`);
}

function showByRoom(walk: ReadonlyMap<string, number>): void {
  const rooms = Map.groupBy(walk, ([path]) => roomOf(path));
  for (const { name } of ROOMS) {
    const files = (rooms.get(name) ?? []).sort(([, one], [, other]) => other - one);
    if (files.length === 0) continue;
    console.log(`  ${name}: ${files.length}`);
    const inside = files.map(
      ([path, functions]) => `${path.slice(SOURCE_ROOT.length + name.length + 1)} ${functions}`,
    );
    console.log(`    ${inside.join(', ')}`);
  }
}

/** What the sources are without running them. */
function showShape(): void {
  const files = sourceFiles();
  const graph = importGraph();
  const doors = doorsByRoom(graph);
  const countOf = (...rooms: string[]): number =>
    rooms.reduce((sum, room) => sum + (doors.get(room)?.size ?? 0), 0);
  const folders = Map.groupBy(files, (path) => path.slice(0, path.lastIndexOf('/')));
  const [largest = '', inLargest = []] =
    [...folders].sort(([, one], [, other]) => other.length - one.length)[0] ?? [];
  const past = graph.filter(({ from, to }) => roomOf(from) === 'cli' && !CLI_MAY.has(roomOf(to)));
  console.log('\nrooms: files that other rooms import (doors)');
  console.log(
    `  ${ROOMS.flatMap(({ name }) => (doors.has(name) ? [`${name} ${countOf(name)}`] : [])).join(', ')}`,
  );
  show('doors of engine', countOf('engine'), GOALS.engine);
  show('doors of files, sandbox and git together', countOf(...FILES_AND_GIT), GOALS.git);
  show(`imports of cli that pass by sdk, views and schema`, past.length, GOALS.past);
  show(
    `files of ${SHORT_FILE_LINES} lines or fewer`,
    files.filter((path) => lineCount(path) <= SHORT_FILE_LINES).length,
    GOALS.short,
  );
  show(`largest folder (${largest.slice(SOURCE_ROOT.length)})`, inLargest.length, GOALS.folder);
}

function doorsByRoom(graph: readonly ImportArrow[]): Map<string, Set<string>> {
  const doors = new Map<string, Set<string>>();
  for (const { from, to } of graph) {
    if (roomOf(from) === roomOf(to)) continue;
    doors.set(roomOf(to), (doors.get(roomOf(to)) ?? new Set()).add(to));
  }
  return doors;
}

/** Source files by how many of their functions ran in either command; what only loading a file runs is not counted. */
async function measuredWalk(): Promise<Map<string, number>> {
  using place = benchPlace();
  await using emulator = await startEmulator({
    respond({ isFork, turn }) {
      if (isFork) return { text: 'Scope: part. Done.' };
      if (turn > 0) return { text: 'Done.' };
      return { tool_use: [{ name: 'Agent', input: { description: 'a part', prompt: 'Do your part.' } }] };
    },
  });
  const home = place.freshHome();
  const coverage = join(home, 'coverage');
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    RAMET_HOME: join(home, 'ramet'),
    ANTHROPIC_BASE_URL: emulator.url,
    ANTHROPIC_API_KEY: 'bench',
    NODE_V8_COVERAGE: coverage,
  };
  const from = { cwd: place.repository, env };
  await runSources(['-p', 'Do the work.', '--permission-mode', 'bypassPermissions'], from);
  await runSources(['cost'], from);
  const functions = new Map<string, Set<string>>();
  for (const name of readdirSync(coverage)) {
    addCoverage(functions, readFileSync(join(coverage, name), 'utf8'));
  }
  return new Map(Array.from(functions, ([path, ran]) => [path, ran.size]));
}

async function runSources(args: readonly string[], from: Pick<SpawnOptions, 'cwd' | 'env'>): Promise<void> {
  const child = spawn(process.execPath, [MAIN, ...args], { ...from, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`ramet ${args.join(' ')} ended with ${code}`);
}

interface ScriptCoverage {
  url: string;
  functions: { functionName: string; ranges: { startOffset: number; endOffset: number; count: number }[] }[];
}

function addCoverage(functions: Map<string, Set<string>>, text: string): void {
  // V8's own format.
  const { result } = JSON.parse(text) as { result: ScriptCoverage[] };
  for (const script of result) {
    const path = pathOf(script.url);
    if (path === null) continue;
    for (const { functionName, ranges } of script.functions) {
      const [whole] = ranges;
      // The first function of a module is the module itself.
      const isModule = functionName === '' && whole?.startOffset === 0;
      if (whole === undefined || whole.count === 0 || isModule) continue;
      functions.set(path, (functions.get(path) ?? new Set()).add(`${whole.startOffset}-${whole.endOffset}`));
    }
  }
}

/** From the root; null for what is not a source of Ramet. */
function pathOf(url: string): string | null {
  if (!url.startsWith('file:')) return null;
  const path = fileURLToPath(url).slice(join(ROOT).length + 1);
  return path.startsWith(SOURCE_ROOT) ? path : null;
}

if (import.meta.main) await run();

/**
 * Agent definitions: a fresh process loads 1,000 files, beside a floor that reads the same files plainly, in turns; and a
 * file that changes while a session would run, until the change is seen. A process each, since the code is cold at start.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DefinitionStore } from '../packages/ramet/src/agents/definitions/definition-store.ts';
import { builtInDefinitions } from '../packages/ramet/src/agents/prompts/built-in.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const FILES = 1_000;
const ROUNDS = 11;
const EDITS = 25;
const LOAD_GOAL = 120;
const SEEN_GOAL = 300;
/** Most files are plain; some need YAML. */
const ODD_EVERY = 50;

export async function run(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'ramet-bench-definitions-'));
  try {
    writeDefinitions(join(home, 'agents'));
    const floor: Load[] = [];
    const plain: Load[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      floor.push(inProcess('floor', home));
      plain.push(inProcess('load', home));
    }
    console.log(`\nloading ${FILES} definitions of 3 KB in a fresh process, ${ROUNDS} rounds`);
    show('reading them', floor);
    show('loading them', plain);
    const { median } = spreadOf(plain.map(({ ms }) => ms));
    console.log(`  ${verdict('1,000 definitions', median, LOAD_GOAL, 'ms')}`);
    for (let at = 0; at < FILES; at += ODD_EVERY) writeOdd(join(home, 'agents'), at);
    const odd = Array.from({ length: ROUNDS }, () => inProcess('load', home));
    show(`the same, ${FILES / ODD_EVERY} of them for YAML`, odd);
    await measureChange(home);
  } finally {
    rmSync(home, { recursive: true });
  }
}

interface Load {
  ms: number;
  /** What it takes on a machine with nothing else to do. */
  cpuMs: number;
}

function show(name: string, loads: readonly Load[]): void {
  console.log(`  ${name.padEnd(32)} ${showSpread(spreadOf(loads.map(({ ms }) => ms)), 'ms')}`);
  console.log(`  ${' CPU'.padEnd(32)} ${showSpread(spreadOf(loads.map(({ cpuMs }) => cpuMs)), 'ms')}`);
}

async function measureChange(home: string): Promise<void> {
  using store = storeOf(home);
  await store.refresh();
  // Watchers do not keep a process alive.
  const awake = setInterval(() => {}, 1_000);
  let seen = Promise.withResolvers<void>();
  store.watch(() => seen.resolve());
  const times: number[] = [];
  for (let edit = 0; edit < EDITS; edit++) {
    seen = Promise.withResolvers();
    const started = performance.now();
    writeFileSync(join(home, 'agents', 'agent-7.md'), definition(7, `Version ${edit}.`));
    await seen.promise;
    times.push(performance.now() - started);
  }
  clearInterval(awake);
  console.log(`a changed file among ${FILES}, until it is seen, ${EDITS} edits`);
  console.log(`  ${showSpread(spreadOf(times), 'ms')}`);
  console.log(`  ${verdict('a changed file is seen', spreadOf(times).p90, SEEN_GOAL, 'ms (p90)')}`);
}

/** What one process took, measured by itself. */
function inProcess(what: 'floor' | 'load', home: string): Load {
  const args = [import.meta.filename, what, home];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

function storeOf(home: string): DefinitionStore {
  return new DefinitionStore({
    place: { cwd: home, root: home, home, userHome: null, managed: [], plugins: [] },
    builtIn: builtInDefinitions,
    toolNames: ['Read', 'Write', 'Edit', 'Glob', 'Grep', 'Bash'],
    trust: () => ({ isTrusted: false, verdictOn: () => 'untrusted' }),
    trustStamp: () => '',
  });
}

function writeDefinitions(folder: string): void {
  mkdirSync(folder);
  for (let at = 0; at < FILES; at++)
    writeFileSync(join(folder, `agent-${at}.md`), definition(at, 'Version 0.'));
}

function definition(at: number, version: string): string {
  const body = 'You look after one part of a program and know all of it. '.repeat(50);
  return `---\nname: agent-${at}\ndescription: Looks after part ${at}. Use it when that part changes. ${version}\ntools: Read, Write, Edit, Bash, Glob, Grep\nmodel: sonnet\n---\n\n${body}\n`;
}

function writeOdd(folder: string, at: number): void {
  const text = definition(at, 'Use it.').replace('tools: Read', 'hooks: { Stop: [] }\ntools: Read');
  writeFileSync(join(folder, `agent-${at}.md`), text);
}

async function measureHere(what: string, home: string): Promise<Load> {
  const before = process.cpuUsage();
  const started = performance.now();
  if (what === 'floor') {
    const folder = join(home, 'agents');
    for (const name of readdirSync(folder)) readFileSync(join(folder, name), 'utf8');
  } else {
    using store = storeOf(home);
    await store.refresh();
    if (store.catalog.entries.length < FILES) throw new Error('definitions are missing');
  }
  const ms = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpuMs: (user + system) / 1_000 };
}

const [what, home] = process.argv.slice(2);
if (import.meta.main && home !== undefined) console.log(JSON.stringify(await measureHere(what ?? '', home)));
else if (import.meta.main) await run();

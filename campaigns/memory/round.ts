/**
 * One round: a conversation that notes what it learns, while a person edits the same memory and processes are killed; then what is
 * left is checked, and taken back.
 */
import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RequestRecord, startEmulator } from 'ramet/emulator';
import { MemoryHistory } from '../../packages/ramet/src/memory/files/memory-history.ts';
import { INDEX_FILE, type MemoryPlace } from '../../packages/ramet/src/memory/files/memory-places.ts';
import { addMemoryNote, undoMemory } from '../../packages/ramet/src/sdk/memory/memory-calls.ts';
import { undoable } from '../../packages/ramet/src/sdk/memory/named-changes.ts';
import { endProcess } from '../kill/processes.ts';
import type { Chance } from '../kill/random.ts';
import { type Run, type RunEnd, World } from '../kill/world.ts';
import { hasSecret, type MemoryEvidence, problemsOf } from './checks.ts';
import { answerOf, isAboutMemory, promptOf } from './remembering-model.ts';

/** What was killed. */
export const TARGETS = ['session', 'session while it notes', 'note', 'dream'] as const;
export type MemoryKill = (typeof TARGETS)[number];

export interface MemoryRound {
  plan: string;
  kills: MemoryKill[];
  changes: number;
  problems: string[];
  ms: number;
}

export interface MemoryRoundOptions {
  chance: Chance;
  mostSteps: number;
  keep?: string;
  stopped?: AbortSignal;
}

const LATENCY_MS = 20;
const FEWEST_STEPS = 3;
/** So that a fork costs little of what the conversation does. */
const GUIDE = 'A line that every session of this project begins with, so that its prefix is long.\n'.repeat(
  700,
);
const SETTINGS = {
  background: {
    unattended: true,
    memoryTurns: 1,
    costShare: 1,
    promptSuggestion: false,
    agentSummaries: false,
  },
  memory: { dream: { enabled: false } },
};
const KILLED_SHARE = 0.6;
const NOTING_SHARE = 0.7;
const LONGEST_LIFE_MS = 900;
/** From the request of a fork on: its answer, and what is written then. */
const LONGEST_NOTING_MS = 500;
const COMMAND_SHARE = 0.4;
const EDITS = 4;
const LAST_NOTE = 'The last note is of the end.';

export async function memoryRound(options: MemoryRoundOptions): Promise<MemoryRound> {
  const { chance, mostSteps, stopped, keep } = options;
  const emulator = await startEmulator({ latency: { baseMs: LATENCY_MS }, respond: answerOf });
  try {
    const parts = { env: {}, settings: SETTINGS, files: { 'README.md': '# Work\n', 'AGENTS.md': GUIDE } };
    await using world = new World(parts, emulator.url, { stopped });
    const steps = FEWEST_STEPS + chance.below(mostSteps - FEWEST_STEPS + 1);
    const result = await new MemoryKills(world, chance, emulator.requests).play(steps);
    if (keep !== undefined && result.problems.length > 0 && stopped?.aborted !== true) {
      cpSync(world.root, keep, { recursive: true, verbatimSymlinks: true });
      writeFileSync(join(keep, 'round.json'), JSON.stringify(result));
    }
    return result;
  } finally {
    await emulator.close();
  }
}

class MemoryKills {
  readonly #world: World;
  readonly #chance: Chance;
  readonly #requests: readonly RequestRecord[];
  readonly #kills: MemoryKill[] = [];
  readonly #lines: string[] = [];
  readonly #notes: string[] = [];
  readonly #unsure: string[] = [];
  readonly #failures: string[] = [];

  constructor(world: World, chance: Chance, requests: readonly RequestRecord[]) {
    [this.#world, this.#chance, this.#requests] = [world, chance, requests];
  }

  async play(steps: number): Promise<MemoryRound> {
    const began = performance.now();
    for (let step = 1; step <= steps; step++) await this.#step(step, step === steps);
    const evidence = await this.#collect(steps);
    const problems = problemsOf(evidence);
    const plan = `${steps} prompts, ${this.#lines.length} lines of a person`;
    const changes = evidence.changes.length;
    return { plan, kills: this.#kills, changes, problems, ms: performance.now() - began };
  }

  /** A prompt, with what a person does meanwhile. The last one is not disturbed. */
  async #step(step: number, isLast: boolean): Promise<void> {
    // One that was killed before it asked may have no prompt on record, and nothing to continue.
    const since = this.#requests.length;
    const run = this.#world.start('-p', ...(since === 0 ? [] : ['--continue']), promptOf(step));
    if (isLast) return void this.#expectSound(`prompt ${step}`, await run.ended, false);
    const beside = [this.#edit(run, step), this.#command(step)];
    const isKilled = this.#chance.holds(KILLED_SHARE) && (await this.#kill(run, since));
    const end = await run.ended;
    await Promise.all(beside);
    this.#expectSound(`prompt ${step}`, end, isKilled);
  }

  /** Whether it was killed before it had ended. */
  async #kill(run: Run, since: number): Promise<boolean> {
    const isAtNotes = this.#chance.holds(NOTING_SHARE);
    const wait = this.#chance.next() * (isAtNotes ? LONGEST_NOTING_MS : LONGEST_LIFE_MS);
    const isNoting = (): boolean => this.#requests.slice(since).some(({ body }) => isAboutMemory(body));
    if (isAtNotes) while (!run.isOver && !isNoting()) await sleep(2);
    await Promise.race([run.ended, sleep(wait)]);
    if (run.isOver) return false;
    this.#kills.push(isAtNotes ? 'session while it notes' : 'session');
    endProcess(run.pid);
    return true;
  }

  /** Programs of a person write to the file at random moments: they add to it, replace it, or keep it open. */
  async #edit(run: Run, step: number): Promise<void> {
    for (let edit = 0; edit < EDITS; edit++) {
      await Promise.race([run.ended, sleep(this.#chance.next() * LONGEST_LIFE_MS)]);
      const path = join(this.#store, INDEX_FILE);
      if (!existsSync(path)) continue;
      const line = `Line ${step}-${edit} is of a person.`;
      this.#lines.push(line);
      await this.#chance.pick([addTo, replace, writeSlowly])(path, `- ${line}\n`);
    }
  }

  /** A command beside the session that changes the same files; it may be killed too. */
  async #command(step: number): Promise<void> {
    if (!this.#chance.holds(COMMAND_SHARE)) return;
    const isNote = this.#chance.holds(KILLED_SHARE);
    const note = `Note ${step} is of a command.`;
    const run = this.#world.start('memory', ...(isNote ? ['edit', '--add', note] : ['dream', '--now']));
    if (this.#chance.holds(KILLED_SHARE)) {
      await Promise.race([run.ended, sleep(this.#chance.next() * LONGEST_LIFE_MS)]);
      if (!run.isOver) {
        this.#kills.push(isNote ? 'note' : 'dream');
        endProcess(run.pid);
        if (isNote) this.#unsure.push(note);
        return void (await run.ended);
      }
    }
    const end = await run.ended;
    this.#expectSound(isNote ? note : `dream ${step}`, end, false);
    if (isNote && end.code === 0) this.#notes.push(note);
  }

  #expectSound(what: string, { code, hung, stdout, stderr }: RunEnd, isKilled: boolean): void {
    if (hung) this.#failures.push(`${what} hangs: ${stderr}`);
    else if (code !== 0 && !isKilled)
      this.#failures.push(`${what}, code ${code}: ${JSON.stringify(stdout + stderr)}`);
  }

  get #store(): string {
    return join(this.#world.project, 'memory');
  }

  async #collect(steps: number): Promise<MemoryEvidence> {
    const { env, repository: cwd } = this.#world;
    // What killed processes have left is put in order by the next change, which also records what a person has edited.
    await addMemoryNote({ note: LAST_NOTE }, { env, cwd });
    this.#notes.push(LAST_NOTE);
    const files = filesIn(this.#store);
    using history = new MemoryHistory(this.#store);
    const changes = history.changes();
    const leaks = leaksIn(this.#store);
    return {
      ...{ steps, files, changes, leaks },
      ...{ failures: this.#failures, lines: this.#lines, notes: this.#notes, unsure: this.#unsure },
      undone: await this.#undone(),
      processes: await this.#world.leftProcesses(),
    };
  }

  /** Everything that can be taken back is, the newest first. */
  async #undone(): Promise<Map<string, string>> {
    const { env, repository: cwd } = this.#world;
    for (const change of undoable(this.#place)) await undoMemory(change, { env, cwd });
    return filesIn(this.#store);
  }

  get #place(): MemoryPlace {
    const { project, repository: root } = this.#world;
    return { home: join(this.#world.root, 'ramet'), project, root };
  }
}

function addTo(path: string, text: string): void {
  appendFileSync(path, text);
}

/** As most editors save. */
function replace(path: string, text: string): void {
  const before = readFileSync(path, 'utf8');
  const own = `${path}.person`;
  writeFileSync(own, before + text);
  renameSync(own, path);
}

async function writeSlowly(path: string, text: string): Promise<void> {
  const file = openSync(path, 'a');
  writeSync(file, text.slice(0, 4));
  await sleep(20);
  writeSync(file, text.slice(4));
  closeSync(file);
}

/** Records are no files of memory. */
function filesIn(store: string): Map<string, string> {
  const entries = readdirSync(store, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    entries
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !/\/(?:history|dream|dream-lock)\.sqlite(?:-wal|-shm|-journal)?$/.test(path))
      .map((path) => [relative(store, path), readFileSync(path, 'utf8')]),
  );
}

function leaksIn(store: string): string[] {
  return readdirSync(store, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => hasSecret(readFileSync(path)))
    .map((path) => relative(store, path));
}

/** Judges mutated scripts and hands what passes to the arenas, until enough have been run. */

import { NO_RULES } from '../../packages/ramet/src/permission/policy.ts';
import { assessCommand } from '../../packages/ramet/src/permission/shell/assess-command.ts';
import { readExactly } from '../../packages/ramet/src/permission/shell/reading/read-exactly.ts';
import { chanceOf } from '../kill/random.ts';
import { type Arena, type ArenaWay, openArena } from './arena.ts';
import { makeHostileRepository } from './hostile-repository.ts';
import { mutate } from './mutate.ts';
import { seedScripts } from './seeds.ts';

export interface ShellPlan {
  /** How many scripts the strict judge is to let pass. */
  passed: number;
  /** How many more the generous judge is. */
  walled: number;
  seed: number;
  minutes: number;
  parallel: number;
  onProgress?(line: string): void;
}

export interface FoundEffect {
  way: ArenaWay;
  script: string;
  effects: string[];
}

export interface ShellResult {
  judged: number;
  passed: number;
  walled: number;
  found: FoundEffect[];
  outOfTime: boolean;
  seconds: number;
}

const BATCH = 200;

export async function runShellCampaign(plan: ShellPlan): Promise<ShellResult> {
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1_000;
  const result: ShellResult = { judged: 0, passed: 0, walled: 0, found: [], outOfTime: false, seconds: 0 };
  const next = passingScripts(plan, result);
  const work = async (): Promise<void> => {
    const arenas = { plain: await openArena('plain'), wall: await openArena('wall') };
    try {
      while (result.passed < plan.passed || result.walled < plan.walled) {
        if (seconds() > plan.minutes * 60) result.outOfTime = true;
        if (result.outOfTime) break;
        for (const way of ['plain', 'wall'] as const) await runBatch(arenas[way], way, next, plan, result);
        plan.onProgress?.(progress(result, seconds()));
      }
    } finally {
      for (const arena of Object.values(arenas)) await arena.close();
    }
  };
  await Promise.all(Array.from({ length: plan.parallel }, work));
  return { ...result, seconds: seconds() };
}

function progress({ judged, passed, walled, found }: ShellResult, seconds: number): string {
  return `${seconds.toFixed(0)} s: ${judged} judged, ${passed} + ${walled} run, ${found.length} with an effect`;
}

type NextScripts = (way: ArenaWay, count: number) => Promise<string[]>;

async function runBatch(
  arena: Arena,
  way: ArenaWay,
  next: NextScripts,
  plan: ShellPlan,
  result: ShellResult,
): Promise<void> {
  const [done, wanted] = way === 'plain' ? [result.passed, plan.passed] : [result.walled, plan.walled];
  const scripts = await next(way, Math.min(BATCH, wanted - done));
  if (way === 'plain') result.passed += scripts.length;
  else result.walled += scripts.length;
  for (const [index, effects] of (await arena.run(scripts)).entries()) {
    if (effects.length > 0) result.found.push({ way, script: scripts[index] ?? '', effects });
  }
}

/** Scripts that are new and pass; what passes for the other way is kept for it. */
function passingScripts({ seed }: ShellPlan, result: ShellResult): NextScripts {
  const chance = chanceOf(seed);
  const seeds = seedScripts();
  const seen = new Set<string>();
  const passed: string[] = [];
  const waiting: Record<ArenaWay, string[]> = { plain: [], wall: [] };
  const place = makeHostileRepository();
  let fresh = 0;
  return async (way, count) => {
    while (waiting[way].length < count) {
      // The seeds themselves come first.
      const from = passed.length > 0 && chance.holds(0.6) ? chance.pick(passed) : chance.pick(seeds);
      const script = seeds[fresh++] ?? mutate(chance, from, seeds);
      if (seen.has(script)) continue;
      seen.add(script);
      result.judged++;
      const passes = await wayOf(script, place);
      if (passes === null) continue;
      waiting[passes].push(script);
      if (waiting.wall.length > KEPT) waiting.wall.length = KEPT;
      // What passed is a good place to go on from.
      passed[passed.length < KEPT ? passed.length : chance.below(KEPT)] = script;
    }
    return waiting[way].splice(0, count);
  };
}

const KEPT = 20_000;

/** How the script would run unasked; null when it asks. */
async function wayOf(script: string, cwd: string): Promise<ArenaWay | null> {
  // What is not read exactly never passes; to find its reasons would take most of the time.
  if ('unread' in readExactly(script, [cwd])) return null;
  const alone = await assessCommand({ mode: 'default', rules: NO_RULES }, script, cwd);
  if (alone.harmless) return 'plain';
  const behind = await assessCommand({ mode: 'default', rules: NO_RULES, wall: true }, script, cwd);
  if (!behind.harmless) return null;
  return behind.where === 'wall' ? 'wall' : 'plain';
}

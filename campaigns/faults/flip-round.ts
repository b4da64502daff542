/** A finished session with bits turned over: every view shows what it can, or says in a line what is damaged. */
import type { RoundPlan } from '../kill/plan.ts';
import type { Chance } from '../kill/random.ts';
import { Stage } from '../kill/stage.ts';
import { World } from '../kill/world.ts';
import { flipBits } from './scenarios.ts';

const RAW = /TypeError|ReferenceError|SyntaxError|Cannot read prop|Unexpected token|^\s+at .*:\d+:\d+/m;
const VIEWS = [['ps'], ['show'], ['cost'], ['logs'], ['cache', 'explain']];

export async function flipRound(plan: RoundPlan, chance: Chance): Promise<string[]> {
  await using stage = await Stage.open(plan);
  await using world = new World(plan, stage.emulator.url);
  await world.start('-p', '[task root] Do the work.', '--permission-mode', 'bypassPermissions').ended;
  const [session = ''] = world.sessions();
  flipBits(world.journalFile(session), 1 + chance.below(40), chance);
  const problems: string[] = [];
  for (const view of VIEWS) {
    const { code, text } = await world.look(...view, ...(view[0] === 'ps' ? [] : [session]));
    if (RAW.test(text)) problems.push(`ramet ${view.join(' ')} shows a raw error: ${text.slice(0, 300)}`);
    if (code !== 0 && text.trim().split('\n').length > 3)
      problems.push(`ramet ${view.join(' ')} fails with ${code} in more than a line: ${text.slice(0, 300)}`);
  }
  return problems;
}

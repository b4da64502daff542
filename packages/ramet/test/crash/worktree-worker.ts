/**
 * Does one thing with worktrees and kills itself before the step named: `worktree-worker.ts <root> <home> <what>
 * <step>`. It prints every step it comes to.
 */
import { rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { checkpoint } from '../../src/git/worktrees/changes/checkpoint.ts';
import { createWorktree } from '../../src/git/worktrees/create-worktree.ts';
import { releaseWorktree } from '../../src/git/worktrees/removal/release-worktree.ts';
import { resumeWorktree } from '../../src/git/worktrees/resume-worktree.ts';
import { openWorktreePlace } from '../../src/git/worktrees/worktree-place.ts';
import { adoptByHook } from '../fixtures/hooked-worktree.ts';

const [directory = '', home = '', what = '', fatal = ''] = process.argv.slice(2);
const env = { PATH: process.env.PATH ?? '', HOME: '/nowhere' };
const owner = { session: 'abcdefgh', agent: 'abcdefgh.1' };
const settings = { pool: what === 'remove' || what === 'restore' ? 0 : 4, setup: 'true' };

let isWatched = false;
const place = openWorktreePlace({ directory, home, env, settings, onStep });

function onStep(step: string): void {
  if (!isWatched) return;
  writeSync(1, `${step}\n`);
  if (step === fatal) process.kill(process.pid, 'SIGKILL');
}

/** What comes before the part that is watched. */
async function prepare(): Promise<string> {
  if (what === 'create') return '';
  const { worktree } = await createWorktree(place, { name: 'before', owner });
  if (what === 'claim' || what === 'restore') await releaseWorktree(place, worktree.id)?.settled;
  if (what === 'checkpoint') writeFileSync(join(worktree.path, 'work.txt'), 'first\n');
  if (what === 'checkpoint') await checkpoint(place, worktree);
  if (what === 'checkpoint') writeFileSync(join(worktree.path, 'work.txt'), 'second\n');
  return worktree.id;
}

if (what === 'many') {
  const wanted = Array.from({ length: 8 }, () =>
    createWorktree(place, { name: 'agent', owner, numbered: true }),
  );
  const created = await Promise.all(wanted);
  await Promise.all(created.slice(0, 4).map(({ worktree }) => releaseWorktree(place, worktree.id)?.settled));
  process.exit(0);
}
if (what === 'adopt' || what === 'remove by hook') {
  isWatched = what === 'adopt';
  const adopted = await adoptByHook(place, 'agent', owner);
  isWatched = true;
  const remove = async (): Promise<void> => {
    onStep('hook begun');
    rmSync(adopted.path, { recursive: true });
    onStep('hook ended');
  };
  if (what !== 'adopt') await releaseWorktree(place, adopted.id, { remove })?.settled;
  process.exit(0);
}
const id = await prepare();
isWatched = true;
if (what === 'create' || what === 'claim') await createWorktree(place, { name: 'agent', owner });
else if (what === 'restore') await resumeWorktree(place, id);
else if (what === 'checkpoint') {
  const worktree = place.registry.find(id);
  if (worktree !== null) await checkpoint(place, worktree);
} else await releaseWorktree(place, id)?.settled;

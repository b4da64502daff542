/**
 * What programs of an agent in a worktree get besides the usual variables: its slot, the ignore patterns of
 * this worktree, and how its git stores objects. Git knows such patterns only per user and per repository; as a setting in the environment they hold
 * for programs of the agent and change nothing of the user's.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOrNull } from '../repository.ts';
import { runGit } from '../run-git.ts';
import { portBase } from './pool/slots.ts';
import type { ManagedWorktree } from './worktree.ts';
import { excludeFile, type WorktreePlace } from './worktree-place.ts';

export function worktreeEnvironment(place: WorktreePlace, worktree: ManagedWorktree): Record<string, string> {
  const port = portBase(worktree.slot);
  return {
    RAMET_WORKTREE: worktree.path,
    RAMET_SLOT: String(worktree.slot),
    ...(port !== null && { RAMET_PORT_BASE: String(port) }),
    ...configVariables(place, worktree),
  };
}

/** As `-c` has it: for our own calls. */
export function excludeSettings(place: WorktreePlace, worktree: ManagedWorktree): string[] {
  const file = excludeFile(place, worktree);
  return existsSync(file) ? [`core.excludesFile=${file}`] : [];
}

/**
 * In the sandbox of an agent nobody writes packs: everything comes as loose objects, as far as that is sensible, and nothing is packed
 * behind its back.
 */
const LOOSE = [
  'gc.auto=0',
  'maintenance.auto=false',
  'fetch.unpackLimit=100000',
  'core.bigFileThreshold=2g',
] as const;

/** Appended to what the user has set the same way. */
function configVariables(place: WorktreePlace, worktree: ManagedWorktree): Record<string, string> {
  const count = Number(place.env.GIT_CONFIG_COUNT ?? 0);
  if (!Number.isInteger(count)) return {};
  const settings = [...LOOSE, ...excludeSettings(place, worktree)];
  const variables = settings.flatMap((setting, index) => {
    const [key = '', value = ''] = setting.split(/=(.*)/s);
    const at = count + index;
    return [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ];
  });
  return { GIT_CONFIG_COUNT: String(count + settings.length), ...Object.fromEntries(variables) };
}

const OWN_PART = '# of this worktree, by ramet';

/** Writes the patterns: the user's own, which the setting would hide, and one for each path. */
export async function writeExcludes(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  paths: readonly string[],
): Promise<void> {
  const file = excludeFile(place, worktree);
  const own = paths.map((path) => `/${path.replace(/[\\*?[\]!# ]/g, '\\$&')}`);
  const part = [OWN_PART, ...own, ''].join('\n');
  // A tree from the pool has them already: asking git for the user's takes as long as all the rest of a claim.
  if (paths.length === 0 || readOrNull(file)?.endsWith(part)) return;
  writeFileSync(file, `${await usersPatterns(place)}\n${part}`);
}

async function usersPatterns({ repository, env }: WorktreePlace): Promise<string> {
  const call = { cwd: repository.root, env };
  const { code, stdout } = await runGit(['config', '--path', '--get', 'core.excludesFile'], call);
  const configured = code === 0 ? stdout.trimEnd() : null;
  const folder = env.XDG_CONFIG_HOME || join(env.HOME ?? '/', '.config');
  return readOrNull(configured ?? join(folder, 'git', 'ignore'))?.trimEnd() ?? '';
}

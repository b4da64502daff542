/**
 * A checkout of which only a part is there (`git sparse-checkout`): a worktree made from it has the same part, as one
 * that git itself makes has. Read from the files that git reads.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitDirectoryOf } from '../read-refs.ts';
import { type Repository, readOrNull } from '../repository.ts';
import type { SparsePatterns } from './worktree.ts';

/** The patterns of the asking checkout; undefined where all of it is there. */
export function sparsePatternsOf({ root, commonDirectory }: Repository): SparsePatterns | undefined {
  const gitDirectory = gitDirectoryOf(root) ?? commonDirectory;
  const text = readOrNull(join(gitDirectory, 'info', 'sparse-checkout'));
  if (text === null) return undefined;
  const shared = readOrNull(join(commonDirectory, 'config')) ?? '';
  const own = readOrNull(join(gitDirectory, 'config.worktree')) ?? '';
  const isOn = (name: string): boolean => lastValue(own, name) ?? lastValue(shared, name) ?? false;
  return isOn('sparseCheckout') ? { text, isCone: isOn('sparseCheckoutCone') } : undefined;
}

function lastValue(config: string, name: string): boolean | undefined {
  const values = [...config.matchAll(new RegExp(`^\\s*${name}\\s*(?:=\\s*(\\S+))?\\s*$`, 'gim'))];
  const last = values.at(-1);
  return last === undefined ? undefined : /^(true|yes|on|1)$/i.test(last[1] ?? 'true');
}

export function isSamePart(one: SparsePatterns | undefined, other: SparsePatterns | undefined): boolean {
  return one?.text === other?.text && one?.isCone === other?.isCone;
}

/** Puts patterns into a registration, and returns what our own git calls must be told besides. */
export function applySparsePatterns(admin: string, { text, isCone }: SparsePatterns): string[] {
  mkdirSync(join(admin, 'info'), { recursive: true });
  writeFileSync(join(admin, 'info', 'sparse-checkout'), text);
  const settings = ['core.sparseCheckout=true', `core.sparseCheckoutCone=${isCone}`];
  // Where worktrees have settings of their own, later commands of the agent go by these.
  const shared = readOrNull(join(admin, '..', '..', 'config')) ?? '';
  if (lastValue(shared, 'worktreeConfig') === true) {
    const lines = settings.map((setting) => `\t${setting.slice('core.'.length).replace('=', ' = ')}\n`);
    writeFileSync(join(admin, 'config.worktree'), `[core]\n${lines.join('')}`);
  }
  return settings;
}

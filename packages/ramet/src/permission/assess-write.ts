/**
 * May this file be written? Asked for Write and Edit, and for everything a shell command would write. In
 * `acceptEdits` files of the working directory may be, except those that can run or widen rights.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import type { SessionMode } from '../schema/status.ts';
import { literalGlob } from '../system/glob-pattern.ts';
import { landingPath, pathInside, placeInside } from '../system/landing-path.ts';
import type { RuleSet } from './policy.ts';
import { offeredRule } from './rule.ts';

/** What git, shells, editors, package managers and Ramet act upon by themselves: who writes here decides what runs later. */
const DIRECTORIES =
  '.git .hg .svn .githooks .husky .ramet .claude .cursor .vscode .vs .idea .zed .fleet .nvim .devcontainer .cargo .mvn .yarn .bundle ' +
  '.direnv .mise .config .jj .ssh .gnupg .aws .docker .kube .emacs.d .ipython .gradle';
const FILES =
  '.mcp.json .claude.json .envrc .npmrc .pnpmfile.cjs .pnp.cjs .pnp.loader.mjs bunfig.toml .gitmodules .gitattributes .gitconfig ' +
  '.pre-commit-config.yaml .pre-commit-hooks.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml .overcommit.yml ' +
  '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .kshrc .cshrc .login ' +
  '.inputrc .vimrc .exrc .nvimrc .lvimrc .dir-locals.el .gdbinit .lldbinit .tmux.conf .screenrc .tool-versions .mise.toml ' +
  'mise.toml .curlrc .wgetrc .netrc .ripgreprc .ackrc .pypirc .pythonrc sitecustomize.py usercustomize.py .irbrc .pryrc ' +
  '.rprofile .bazelrc .bazeliskrc .buckconfig .jvmopts .sbtopts .nvim.lua .vimrc.local .gvimrc .emacs .pdbrc .terraformrc terraform.rc ' +
  'gradle-wrapper.properties gradle-wrapper.jar rust-toolchain rust-toolchain.toml .zlogout .xinitrc .xprofile .xsession .psqlrc ' +
  '.sqliterc .my.cnf .ghci .ocamlinit .gemrc .rspec .latexmkrc .lesskey .lessfilter';
const PROTECTED: ReadonlySet<string> = new Set(`${DIRECTORIES} ${FILES}`.split(' '));
const PROTECTED_NAMES =
  /^\.(?:yarnrc|envrc|lintstagedrc|pnpmfile|simple-git-hooks)(?:\.|$)|\.code-workspace$/;

export type WriteStanding = { trusted: true } | { trusted: false; reason: string };

/** Of rules, the directories that count like the working directory, and those that are guarded wherever they are. */
export type WriteFolders = Pick<RuleSet, 'folders' | 'guarded'>;

export function standingOfWrite(
  mode: SessionMode,
  path: string,
  cwd: string,
  { folders = [], guarded: kept = [] }: WriteFolders = {},
): WriteStanding {
  const base = [cwd, ...folders].find((folder) => placeInside(path, folder) !== null);
  if (base === undefined) return { trusted: false, reason: 'it writes outside the working directory' };
  // Who works in a worktree inside such a directory was put there.
  const within = kept.find(
    (folder) => placeInside(folder, base) !== null && placeInside(path, folder) !== null,
  );
  const guarded = within ?? guardedName(placeInside(path, base) ?? '') ?? guardedBase(base, kept);
  if (guarded !== undefined)
    return { trusted: false, reason: `it writes in ${guarded}, which decides what runs` };
  return mode === 'acceptEdits' ? { trusted: true } : { trusted: false, reason: 'it changes a file' };
}

/**
 * Whether a command's text names something that decides what runs, also one of the `kept` places below its directory. It may
 * find more than would be written.
 */
export function namesGuarded(command: string, cwd: string, kept: readonly string[] = []): boolean {
  const words = command.split(/[^\w.-]+/);
  if (guardedName(words.join(sep)) !== undefined || guardedBase(cwd, kept) !== undefined) return true;
  return kept.some((place) => {
    const inside = placeInside(place, cwd);
    return inside !== null && (inside === '' || words.includes(basename(inside)));
  });
}

function guardedName(inside: string): string | undefined {
  const names = inside.split(sep).map((name) => name.toLowerCase());
  return names.find((name) => PROTECTED.has(name) || PROTECTED_NAMES.test(name));
}

/**
 * What guards the directory itself: it may lie in one that is guarded, below the root of its repository, or be one in which git
 * keeps a repository. What Ramet keeps for agents was made for them.
 */
function guardedBase(base: string, kept: readonly string[]): string | undefined {
  const real = landingPath(base);
  if (real === null || kept.some((folder) => placeInside(real, folder) !== null)) return undefined;
  for (let place = real; ; place = dirname(place)) {
    if (existsSync(join(place, '.git'))) return guardedName(pathInside(real, place) ?? '');
    if (['HEAD', 'objects', 'refs'].every((name) => existsSync(join(place, name)))) return basename(place);
    if (dirname(place) === place) return guardedName(real);
  }
}

/**
 * The rule that would allow this file alone: from the working directory on, if that says which file it is and a person may
 * make it wider; of what decides what runs, from the root on. Null if no rule can say it.
 */
export function suggestWriteRule(path: string, cwd: string): string | null {
  const inside = placeInside(path, cwd) ?? '';
  return !inside.includes(sep) || guardedName(inside) !== undefined
    ? offeredRule(`Edit(/${literalGlob(landingPath(path) ?? path)})`)
    : offeredRule(`Edit(${literalGlob(inside.split(sep).join('/'))})`);
}

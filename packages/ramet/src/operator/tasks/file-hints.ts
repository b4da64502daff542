/**
 * Which files a task names. In a field (`Files:`) everything is a path. In prose only what can hardly be anything else:
 * a path with an extension, or in backticks one below a usual directory. `/api/users`, `text/html`, `and/or`, `@scope/name` and
 * commands are none.
 */
import { posix } from 'node:path';

export interface NamedFile {
  path: string;
  /** From 0, in the text that was read. */
  at: number;
}

const CODE = /`([^`\n]{1,300})`/g;
const WORD = /[^\s`'"()[\]{}<>,;|*=\u2192\u3001\uff0c\uff08\uff09\u300c\u300d]{3,260}/gu;
const EXTENSION = /\.[A-Za-z][A-Za-z0-9]{0,9}$/;
const PATH =
  /^(?:~\/|\.{0,2}\/|[A-Za-z]:[\\/])?[\w.@+\-[\]()$*?{},!~]+(?:[\\/][\w.@+\-[\]()$*?{},!~]+)*[\\/]?$/u;
const MIME = /^(?:application|audio|font|image|message|model|multipart|text|video)\/[\w.+-]+$/;
const SUFFIX = /(?::\d[\d:,-]*|:[A-Za-z_$][\w$.]*(?:\(\))?|#L\d+(?:-L\d+)?)$/;
const USUAL_DIRECTORIES = new Set(
  `src lib app apps packages crates cmd internal pkg tests test spec e2e docs doc scripts config configs backend frontend
  server client api web ui public assets components features modules core db database migrations infra
  terraform deploy docker templates examples bench benches bin tools ios android functions services .github .kiro`.split(
    /\s+/,
  ),
);
const USUAL_EXTENSIONS = new Set(
  `ts tsx js jsx mjs cjs mts cts json jsonc yml yaml toml md mdx py rs go rb java kt kts swift c h cc cpp hpp cs fs vb php
  html htm css scss sass less sql sh bash zsh ps1 bat tf tfvars proto graphql gql vue svelte dart ex exs erl hs elm lua r
  jl scala clj gradle xml csproj sln lock ini cfg conf env txt csv svg png mod sum feature snap prisma zig nix`.split(
    /\s+/,
  ),
);

/** Files named in the text of a task. */
export function filesInProse(text: string): NamedFile[] {
  const found: NamedFile[] = [];
  const plain = text.replace(CODE, (whole, code: string, at: number) => {
    const path = withoutSuffix(code.trim());
    if (!/\s/.test(path) && looksLikeFile(path, true)) found.push({ path, at: at + 1 });
    return ' '.repeat(whole.length);
  });
  for (const { 0: word, index } of plain.matchAll(WORD)) {
    const path = withoutSuffix(word.replace(/[.:!?\u3002]+$/, ''));
    if (looksLikeFile(path, false)) found.push({ path, at: index });
  }
  return found.toSorted((one, other) => one.at - other.at);
}

/** The values of a field such as `Files: src/a.ts, src/b.ts`; words that are no paths are left out. */
export function filesInField(text: string): NamedFile[] {
  return [...text.matchAll(WORD)].flatMap(({ 0: word, index }) => {
    const path = withoutSuffix(word.replace(/[.:!?]+$/, ''));
    if (!PATH.test(path) || !/[\\/.*]/.test(path) || MIME.test(path) || path.includes('://')) return [];
    return /^[.\d]+$/.test(path) && !path.startsWith('..') ? [] : [{ path, at: index }];
  });
}

function withoutSuffix(path: string): string {
  return path.replace(SUFFIX, '');
}

function looksLikeFile(path: string, isCode: boolean): boolean {
  // Most words end here.
  if (!/[\\/]/.test(path) && !(isCode && path.includes('.'))) return false;
  if (!PATH.test(path) || path.includes('://') || path.startsWith('//') || path.startsWith('-')) return false;
  const extension = EXTENSION.exec(path)?.[0].slice(1).toLowerCase();
  const segments = path.split(/[\\/]/).filter((segment) => segment !== '');
  if (segments.length < 2)
    return isCode && extension !== undefined && USUAL_EXTENSIONS.has(extension) && /^[\w.-]+$/.test(path);
  if (MIME.test(path) && !USUAL_EXTENSIONS.has(extension ?? '')) return false;
  if (isOutsidePath(path)) return true;
  if (path.startsWith('/')) return false;
  if (extension !== undefined)
    return isCode || USUAL_EXTENSIONS.has(extension) || USUAL_DIRECTORIES.has(segments[0] ?? '');
  if (!isCode || path.startsWith('@')) return false;
  return /[\\/]$/.test(path) || path.includes('*') || USUAL_DIRECTORIES.has(segments[0] ?? '');
}

const SYSTEM_PATH =
  /^(?:~\/|[A-Za-z]:[\\/]|\/(?:etc|usr|var|home|root|tmp|opt|bin|sbin|dev|proc|sys|Users|mnt|srv|boot)\/)/;

/** A path that leads out of any repository by its looks alone. */
function isOutsidePath(path: string): boolean {
  return SYSTEM_PATH.test(path);
}

/** The path from the root of the repository; null if it leads out of it. `folder` is where the task file is, from the root. */
export function pathInRepository(path: string, folder: string): string | null {
  if (isOutsidePath(path) || posix.isAbsolute(path)) return null;
  const straight = posix.normalize(path.replaceAll('\\', '/'));
  if (!leavesRoot(straight)) return straight;
  // `../plan.md` in specs/001/tasks.md is meant from there.
  const beside = posix.normalize(posix.join(folder === '' ? '.' : folder, straight));
  return leavesRoot(beside) ? null : beside;
}

function leavesRoot(path: string): boolean {
  return path === '..' || path.startsWith('../');
}

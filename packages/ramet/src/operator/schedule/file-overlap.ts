/** Whether two tasks may touch one file. Directories and patterns count as everything below them: rather too much than too little. */

export function filesOverlap(one: readonly string[], other: readonly string[]): boolean {
  return one.some((a) => other.some((b) => pathsOverlap(a, b)));
}

function pathsOverlap(one: string, other: string): boolean {
  const [a, b] = [fixedPart(one), fixedPart(other)];
  return isAtOrBelow(a, b) || isAtOrBelow(b, a);
}

interface FixedPart {
  /** Without a slash at the end. */
  path: string;
  /** Whether the name may go on: `src/par*`. */
  open: boolean;
}

/** What is before the first sign of a pattern. */
function fixedPart(path: string): FixedPart {
  const sign = path.search(/[*?{[]/);
  if (sign === -1) return { path: path.replace(/\/+$/, ''), open: false };
  const before = path.slice(0, sign);
  return { path: before.replace(/\/+$/, ''), open: !before.endsWith('/') };
}

function isAtOrBelow({ path }: FixedPart, directory: FixedPart): boolean {
  if (directory.path === '' || path === directory.path) return true;
  return path.startsWith(directory.open ? directory.path : `${directory.path}/`);
}

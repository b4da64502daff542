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

/** Two of the lists that may touch one file, and where; null if no two do. */
export function firstOverlap(
  lists: readonly { id: string; files: readonly string[] }[],
): { ids: [string, string]; path: string } | null {
  const all = lists.flatMap(({ id, files }) => files.map((name) => ({ id, name, part: fixedPart(name) })));
  // Sorted so that everything below a path follows it: a slash comes before all other characters.
  const key = ({ part }: (typeof all)[number]): string => part.path.replaceAll('/', '\0');
  const sorted = all
    .map((entry) => [key(entry), entry] as const)
    .sort(([one], [other]) => (one < other ? -1 : Number(one > other)));
  let above: typeof all = [];
  for (const [, entry] of sorted) {
    above = above.filter(({ part }) => isAtOrBelow(entry.part, part));
    const other = above.find(({ id }) => id !== entry.id);
    if (other !== undefined) return { ids: [other.id, entry.id], path: entry.name };
    above.push(entry);
  }
  return null;
}

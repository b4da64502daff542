/** What differs between two tables, in words, and lists of bounded length. */

/** `made` is the word for what is new. */
export function differences(
  then: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
  made: string,
): string[] {
  const names = [...new Set([...then.keys(), ...now.keys()])].sort();
  return names.flatMap((name) => {
    if (then.get(name) === now.get(name)) return [];
    return `${name} ${!then.has(name) ? `was ${made}` : now.has(name) ? 'changed' : 'was removed'}`;
  });
}

const MOST_LISTED = 5;

/** Of a long list the first. */
export function listed(names: readonly string[]): string {
  const more = names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : '';
  return `${names.slice(0, MOST_LISTED).join(', ')}${more}`;
}

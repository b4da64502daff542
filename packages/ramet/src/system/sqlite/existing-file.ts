import { pathToFileURL } from 'node:url';

/** For SQLite, which would otherwise make a file that is not there, readable to everybody. */
export function existingFile(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', 'rw');
  return url;
}

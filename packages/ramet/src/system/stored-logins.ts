/**
 * The files of logins at servers, one for each server, read without what logs in: every session looks at them, to keep
 * what they hold from agents.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export function loginFolder(home: string): string {
  return join(home, 'mcp');
}

/** Null if the file cannot be read. */
export function readLogin(path: string): Record<string, unknown> | null {
  try {
    return entriesOf(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

/** Changes with every login, renewal and logout; null before the first login. */
export function loginState(home: string): number | null {
  return statSync(loginFolder(home), { throwIfNoEntry: false })?.mtimeMs ?? null;
}

export function hasLogins(folder: string): boolean {
  return filesIn(folder).length > 0;
}

/** What gives access, by names that say what it is, in the same order each time. */
export function loginSecrets(home: string): Record<string, string> {
  const found = filesIn(loginFolder(home)).flatMap((name, index) => {
    const { client, tokens } = readLogin(join(loginFolder(home), name)) ?? {};
    const { access_token, refresh_token, id_token } = entriesOf(tokens) ?? {};
    const { client_secret, registration_access_token } = entriesOf(client) ?? {};
    return [
      [`LOGIN_${index}_TOKEN`, access_token],
      [`RENEWAL_${index}_TOKEN`, refresh_token],
      [`IDENTITY_${index}_TOKEN`, id_token],
      [`CLIENT_${index}_SECRET`, client_secret],
      [`REGISTRATION_${index}_TOKEN`, registration_access_token],
    ].filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  });
  return Object.fromEntries(found);
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort();
  } catch {
    // Gone again, or another user's: then this process cannot read what is in it either.
    return [];
  }
}

function entriesOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

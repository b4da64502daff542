/**
 * What was written at the prompt in this project, for the up key of the next session. One JSON string a line;
 * appending is one write, so two sessions at once do not tear each other's lines.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateDirectory, PRIVATE_FILE } from '../../system/home.ts';
import { replaceWhole } from '../../system/replace-whole.ts';

const MOST_ENTRIES = 500;
/** A longer prompt, mostly a paste, is remembered while the session lasts and not kept. */
const LONGEST_ENTRY = 10_000;

export interface PromptHistory {
  readonly entries: readonly string[];
  /** Keeping history is a comfort: what cannot be kept is not, and nobody is bothered with it. */
  add(text: string): void;
}

export function openPromptHistory(project: string): PromptHistory {
  const file = join(project, 'prompts.jsonl');
  const kept = readEntries(file);
  const entries = kept.slice(-MOST_ENTRIES);
  if (kept.length > MOST_ENTRIES) shorten(file, entries);
  let last = entries.at(-1);
  const keep = (text: string): void => {
    try {
      makePrivateDirectory(project);
      appendFileSync(file, `${JSON.stringify(text)}\n`, { mode: PRIVATE_FILE });
    } catch {
      // The journal reports a full or read-only disk.
    }
  };
  return {
    entries,
    add(text) {
      if (text.length > LONGEST_ENTRY || text === last) return;
      last = text;
      if (!isNote(text)) keep(text);
      else void hasSecret(text).then((isSecret) => (isSecret ? undefined : keep(text)));
    },
  };
}

/** `# note` and `/remember note`. */
function isNote(text: string): boolean {
  return /^(?:#\s|\/remember\s)/.test(text);
}

/** Memory refuses such a note, so no other file may keep it. */
async function hasSecret(text: string): Promise<boolean> {
  try {
    const { secretsIn } = await import('../../memory/secrets/secret-guard.ts');
    return secretsIn(text).length > 0;
  } catch {
    return true; // what cannot be checked is not kept
  }
}

/** Lines that are no JSON strings, such as one that a crash cut off, are passed over. */
function readEntries(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').flatMap(entryOf);
  } catch {
    return [];
  }
}

function entryOf(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'string' ? [entry] : [];
  } catch {
    return [];
  }
}

function shorten(file: string, entries: readonly string[]): void {
  try {
    replaceWhole(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), PRIVATE_FILE);
  } catch {
    // It stays as long as it is until it can be written.
  }
}

/** Cassettes on disk. What is wrong with one is the user's to mend: file, line and field. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describeError, systemCode, UserMistake } from '../../schema/errors.ts';
import type * as z from '../../schema/zod.ts';
import { describeIssues } from '../../schema/zod.ts';
import {
  type CassetteEntry,
  type CassetteHead,
  cassetteEntrySchema,
  cassetteHeadSchema,
  requestDigest,
} from './cassette.ts';

/** Entries by order; entry `n` is in line `n + 2`. */
export async function loadCassette(file: string): Promise<CassetteEntry[]> {
  const [head = '', ...lines] = (await readText(file)).split('\n');
  parseLine(cassetteHeadSchema, head, file, 1);
  // The last line ends with a line break, so what follows it is empty; without one, it was cut while it was written.
  const rest = lines.pop();
  if (rest !== '') throw damaged(file, lines.length + 2, 'the line is cut off');
  return lines.map((line, index) => {
    const entry = parseLine(cassetteEntrySchema, line, file, index + 2);
    if (requestDigest(entry.method, entry.path, entry.request) === entry.digest) return entry;
    throw damaged(file, index + 2, 'the request does not fit its digest');
  });
}

function parseLine<Shape>(schema: z.ZodMiniType<Shape>, line: string, file: string, number: number): Shape {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    const hint = number === 1 ? 'no cassette' : `not JSON (${describeError(error)})`;
    throw damaged(file, number, hint);
  }
  const outcome = schema.safeParse(value);
  if (outcome.success) return outcome.data;
  throw damaged(
    file,
    number,
    `${number === 1 ? 'no cassette of this version: ' : ''}${describeIssues(outcome.error)}`,
  );
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const reason = systemCode(error) === 'ENOENT' ? 'no such file' : (systemCode(error) ?? 'cannot be read');
    throw new UserMistake('cassette_unreadable', `cassette ${file}: ${reason}`, { cause: error });
  }
}

function damaged(file: string, line: number, problem: string): UserMistake {
  return new UserMistake('cassette_invalid', `cassette ${file}:${line}: ${problem}`);
}

export interface CassetteWriter {
  append(entry: CassetteEntry): void;
  close(): void;
}

/** A file that is there is not touched: a recording that fails half-way must not cost the one before. */
export function createCassette(file: string, head: CassetteHead): CassetteWriter {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'wx', 0o600);
  } catch (error) {
    const there = systemCode(error) === 'EEXIST';
    const reason = there
      ? 'is there already: record to a new file'
      : `cannot be written: ${describeError(error)}`;
    throw new UserMistake('cassette_unwritable', `cassette ${file} ${reason}`, { cause: error });
  }
  writeSync(descriptor, `${JSON.stringify(head)}\n`);
  return {
    append: (entry) => void writeSync(descriptor, `${JSON.stringify(entry)}\n`),
    close: () => closeSync(descriptor),
  };
}

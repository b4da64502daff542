/** A flag that takes JSON: as it is, or in a file. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeError, systemCode, UserMistake } from '../schema/errors.ts';

/** What begins as a value does is one; anything else names a file. */
const BEGINS_A_VALUE = /^\s*[[{"]|^\s*(?:true|false|null)\s*$/;

export function jsonArgument(flag: string, text: string, cwd: string): unknown {
  const isJson = BEGINS_A_VALUE.test(text);
  const written = isJson ? text : fileText(flag, text, cwd);
  try {
    return JSON.parse(written);
  } catch (error) {
    const where = isJson ? flag : `${flag}: ${text}`;
    throw new UserMistake('bad_json', `${where} is no JSON: ${describeError(error)}`);
  }
}

function fileText(flag: string, path: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, path), 'utf8');
  } catch (error) {
    const reason =
      systemCode(error) === 'ENOENT'
        ? `there is no file ${path}; JSON begins with {`
        : `${path} cannot be read: ${describeError(error)}`;
    throw new UserMistake('bad_json', `${flag}: ${reason}`);
  }
}

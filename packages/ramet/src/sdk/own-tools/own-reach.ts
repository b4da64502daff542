/** Whether rules can judge what an own tool says that a call reaches. A form that is not known would be held by no rule. */
import { hostOfUrl } from '../../permission/rule.ts';
import { describeError } from '../../schema/errors.ts';
import { isPlain, told } from '../calls/argument-kinds.ts';

/** Null where all is well. */
export function problemOfReach(reach: () => unknown): string | null {
  try {
    const given = reach();
    // It is refused either way: what a promise becomes is nobody's.
    if (given instanceof Promise) given.catch(() => {});
    return isReach(given)
      ? problemOfTexts(Object(given))
      : `access.reaches gave ${reachText(given)}; return ${FORM}`;
  } catch (error) {
    return `access.reaches failed: ${describeError(error)}`;
  }
}

const FORM =
  'an object with none or some of reads and writes (lists of paths), command and url (texts), at once and not with a promise';
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  reads: isTexts,
  writes: isTexts,
  command: (value) => typeof value === 'string',
  url: (value) => typeof value === 'string',
};

function isReach(value: unknown): boolean {
  return (
    isPlain(value) &&
    Object.entries(Object(value)).every(
      ([field, one]) => one === undefined || (Object.hasOwn(FIELDS, field) && FIELDS[field]?.(one) === true),
    )
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function reachText(value: unknown): string {
  if (value instanceof Promise) return 'a promise';
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !isPlain(value))
    return told(value);
  return (JSON.stringify(value) ?? String(value)).slice(0, 200);
}

function problemOfTexts({ command, url }: { command?: string; url?: string }): string | null {
  if (command?.trim() === '')
    return 'access.reaches gave a blank command: leave it out where a call runs none';
  if (url === undefined || isWhole(url)) return null;
  return `access.reaches gave the url ${reachText(url)}: return a whole address, which begins with https:// or http://`;
}

/** Only what every parser takes for the same host: rules judge that one, and the tool may have a parser of its own. */
function isWhole(url: string): boolean {
  return /^https?:\/\/[^\s\\/?#]+(?:[/?#]|$)/i.test(url) && hostOfUrl(url) !== null;
}

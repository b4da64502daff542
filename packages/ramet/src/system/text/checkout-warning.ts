/**
 * The changes of a checkout that nobody known made, as one short text (WORK-9). The list has the dangerous kinds first;
 * what does not fit is counted, never dropped silently. The texts hold names and reasons that anybody may have chosen.
 */
import { headOf } from './visible-text.ts';

const MOST_CHANGES = 6;
const LONGEST_CHANGE = 240;

export function checkoutWarning(changes: readonly string[]): string {
  const told = changes.slice(0, MOST_CHANGES).map((text) => {
    return text.length <= LONGEST_CHANGE ? text : `${headOf(text, LONGEST_CHANGE)}...`;
  });
  const more = changes.length - told.length;
  const isCut = more > 0 || changes.some(({ length }) => length > LONGEST_CHANGE);
  const rest = more > 0 ? `; and ${more} more` : '';
  return `Ramet does not know who changed it: ${told.join('; ')}${rest}${isCut ? ' (ramet ps lists all)' : ''}`;
}

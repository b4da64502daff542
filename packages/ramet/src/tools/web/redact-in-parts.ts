/**
 * Takes secrets out of a long text without holding others up: part by part, cut at line ends, and never inside a private
 * key. A text without line ends is done in one piece.
 */
import { setImmediate as breathe } from 'node:timers/promises';

/** A few milliseconds each. */
const PART = 250_000;
/** No private key is longer. */
const KEY = 20_000;

export async function redactInParts(text: string, redact: (text: string) => string): Promise<string> {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.length - at <= PART ? text.length : cutBefore(text, at + PART, at);
    parts.push(redact(text.slice(at, end)));
    at = end;
    await breathe();
  }
  return parts.join('');
}

/** The last line end before `limit` that no key goes across; the end of the text where there is none. */
function cutBefore(text: string, limit: number, from: number): number {
  const tail = text.slice(Math.max(from, limit - KEY), limit);
  const open = tail.lastIndexOf('-----BEGIN ');
  const goesOn = open > tail.lastIndexOf('-----END ');
  const line = tail.lastIndexOf('\n', goesOn ? open : tail.length) + 1;
  return line > 0 && limit - tail.length + line > from ? limit - tail.length + line : text.length;
}

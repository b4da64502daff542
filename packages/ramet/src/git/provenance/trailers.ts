/**
 * The lines at the end of a commit message that say which agent made it, in which session and for what (WORK-6). Git
 * reads them too: `git log --format='%(trailers:key=Ramet-Agent)'`.
 */
export interface Provenance {
  /** Id of the agent. */
  agent?: string | undefined;
  session?: string | undefined;
  /** What it was asked to do, in a line. */
  task?: string | undefined;
}

const KEYS = { agent: 'Ramet-Agent', session: 'Ramet-Session', task: 'Ramet-Task' } as const;
const LONGEST_VALUE = 200;
const TRAILER = /^[A-Za-z][A-Za-z0-9-]*: \S/;

/** The message with trailers; what it has of them already stays as it is. */
export function withTrailers(message: string, provenance: Provenance): string {
  const present = parseTrailers(message);
  const lines = fields().flatMap((field) => {
    const value = oneLine(provenance[field] ?? '');
    return value === '' || present[field] !== undefined ? [] : [`${KEYS[field]}: ${value}`];
  });
  const text = message.trimEnd();
  if (lines.length === 0) return `${text}\n`;
  return `${text}${endsInTrailers(text) ? '\n' : '\n\n'}${lines.join('\n')}\n`;
}

export function parseTrailers(message: string): Provenance {
  const text = message.trim();
  const found: Provenance = {};
  if (!endsInTrailers(text)) return found;
  const block = lastParagraph(text);
  for (const field of fields()) {
    const value = new RegExp(`^${KEYS[field]}: *(.+)$`, 'mi').exec(block)?.[1]?.trim();
    if (value !== undefined) found[field] = value;
  }
  return found;
}

function fields(): (keyof typeof KEYS)[] {
  return ['agent', 'session', 'task'];
}

/** A value must not end the line: what follows would be read as another trailer. */
export function oneLine(value: string): string {
  const line = value.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim();
  return line.length > LONGEST_VALUE ? `${line.slice(0, LONGEST_VALUE - 1)}…` : line;
}

function endsInTrailers(text: string): boolean {
  // The first paragraph is the subject, whatever it looks like.
  return /\n\s*\n/.test(text) && isTrailerBlock(lastParagraph(text));
}

function isTrailerBlock(paragraph: string): boolean {
  return paragraph.split('\n').every((line) => TRAILER.test(line) || /^\s+\S/.test(line));
}

function lastParagraph(text: string): string {
  return text.split(/\n\s*\n/).at(-1) ?? '';
}

/**
 * What a MEMORY.md contains: first the user's own notes, then what was observed, by topic. It is short, because every
 * session begins with it: a topic that has become long moves to a file beside it, and the index names that file.
 *
 * Invariants
 * 1. Only a note of the user stands under the heading for those: no other text can get there through this file.
 * 2. An entry is one line of plain text: it can be no heading, and it says nothing twice.
 */
export const NOTES_HEADING = '## Notes of the user';

/** Of a MEMORY.md, this much is read when a session begins. */
export const INDEX_LINES = 200;
export const INDEX_BYTES: number = 25 * 1024;

/** Before that, topics move out. */
const FULL_LINES = 150;
const FULL_BYTES = 16 * 1024;
const LONGEST_ENTRY = 500;

export interface MemoryFact {
  readonly topic: string;
  readonly text: string;
}

/** Adds a note in the user's own words; a note that is there already is not added again. */
export function withNote(index: string | null, note: string): string {
  return withEntries(index ?? '', NOTES_HEADING, [entryOf(note)]);
}

/** The same with a section of its own, behind all others. */
export function withNoteAtEnd(index: string | null, note: string): string {
  return `${(index ?? '').replace(/\n*$/, '\n\n')}${NOTES_HEADING}\n${entryOf(note)}\n`;
}

/** The index with new facts, and topic files that it has moved entries to, by name. With `isBeside` all of them go to topic files. */
export function withFacts(
  index: string | null,
  facts: readonly MemoryFact[],
  readTopic: (file: string) => string | null,
  isBeside = false,
): { index: string; topics: Map<string, string> } {
  let text = index ?? '';
  const topics = new Map<string, string>();
  for (const { topic, text: fact } of facts) {
    const file = topicFile(topic);
    const moved = topics.get(file) ?? readTopic(file) ?? (isBeside ? '' : null);
    const entry = withoutHtml(entryOf(fact));
    if (moved === null) text = withEntries(text, headingOf(topic), [entry]);
    else topics.set(file, withEntries(moved, headingOf(topic), [entry]));
  }
  return isBeside ? { index: text, topics } : withinLimits(text, readTopic, topics);
}

/** A tag in it could hide what comes behind it. */
function withoutHtml(entry: string): string {
  const parts = entry.split(/(`+[^`]*`+)/);
  return parts
    .map((part, at) => (at % 2 === 1 ? part : part.replace(/(?<!\\)<(?=[a-z/!?])/gi, '\\<')))
    .join('');
}

/** Moves the largest topics of an index that is too long to files beside it. */
export function withinLimits(
  index: string,
  readTopic: (file: string) => string | null,
  topics: Map<string, string> = new Map(),
): { index: string; topics: Map<string, string> } {
  let text = index;
  for (let largest = largestTopic(text); isFull(text) && largest !== null; largest = largestTopic(text)) {
    const { topic, entries } = largest;
    const file = topicFile(topic);
    topics.set(file, withEntries(topics.get(file) ?? readTopic(file) ?? '', headingOf(topic), entries));
    text = replaceEntries(text, headingOf(topic), [`- more in ${file}`]);
  }
  return { index: text, topics };
}

/** A heading that a reader may take for the user's, whatever is around these words and between them. */
const LIKE_THE_USERS = /note.*user/;

/** Small letters, digits and dashes: it is also the name of a file. */
export function topicName(topic: string): string {
  const name = topic
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return name === '' || name === 'memory' || LIKE_THE_USERS.test(name) ? 'general' : name;
}

function topicFile(topic: string): string {
  return `${topicName(topic)}.md`;
}

function headingOf(topic: string): string {
  return `## ${topicName(topic)}`;
}

function entryOf(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const plain = line.replace(/^(?:[-*+#>]+\s+)+/, '');
  return `- ${plain.slice(0, LONGEST_ENTRY).toWellFormed()}`;
}

/** Where a section begins and ends; null for a heading that is missing. */
function sectionOf(lines: readonly string[], heading: string): { start: number; end: number } | null {
  const start = lines.findIndex((line) => line.trim().toLowerCase() === heading.toLowerCase());
  if (start === -1) return null;
  const next = lines.findIndex((line, index) => index > start && /^#{1,2}\s/.test(line));
  let end = next === -1 ? lines.length : next;
  while (end > start + 1 && lines[end - 1]?.trim() === '') end -= 1;
  return { start, end };
}

function withEntries(text: string, heading: string, entries: readonly string[]): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const section = sectionOf(lines, heading);
  // What an agent observed is not yet the word of the user.
  const said = heading === NOTES_HEADING ? lines.slice(section?.start ?? lines.length, section?.end) : lines;
  const known = new Set(said.map(sameness));
  const added = entries.filter((entry) => !known.has(sameness(entry)));
  if (added.length === 0) return text;
  if (section !== null) lines.splice(section.end, 0, ...added);
  else if (heading === NOTES_HEADING) {
    // After what a person has written before the first heading.
    const first = lines.findIndex((line) => /^##\s/.test(line));
    const at = first === -1 ? lines.length : first;
    const gap = at > 0 && lines[at - 1]?.trim() !== '' ? [''] : [];
    lines.splice(at, 0, ...gap, heading, ...added, ...(first === -1 ? [] : ['']));
  } else lines.push(...(lines.length === 0 ? [] : ['']), heading, ...added);
  return `${lines.join('\n')}\n`;
}

function replaceEntries(text: string, heading: string, entries: readonly string[]): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const section = sectionOf(lines, heading);
  if (section !== null) lines.splice(section.start + 1, section.end - section.start - 1, ...entries);
  return `${lines.join('\n')}\n`;
}

function isFull(text: string): boolean {
  return text.split('\n').length > FULL_LINES || Buffer.byteLength(text) > FULL_BYTES;
}

/** Names the file that a topic has moved to. */
export function isPointer(entry: string): boolean {
  return /^- more in \S+\.md$/.test(entry);
}

/** Only of entries that Ramet writes: what a person has put there in another form stays. */
function largestTopic(text: string): { topic: string; entries: string[] } | null {
  const lines = text.split('\n');
  const sections = lines.flatMap((line) => {
    const topic = /^## ([a-z0-9][a-z0-9-]*)$/.exec(line)?.[1];
    const section = topic === undefined ? null : sectionOf(lines, line);
    if (topic === undefined || section === null) return [];
    const entries = lines.slice(section.start + 1, section.end).filter((entry) => entry.trim() !== '');
    const isOwn = entries.length > 1 && entries.every((entry) => entry.startsWith('- '));
    return isOwn ? [{ topic, entries: entries.filter((entry) => !isPointer(entry)) }] : [];
  });
  return sections.sort((a, b) => b.entries.length - a.entries.length)[0] ?? null;
}

/** A date, and where a line was seen, at its end: how it came here, and no part of what it says. */
export function withoutMarks(line: string): string {
  return line.replace(/(?: \((?:seen in|after) [^()]{1,200}\))?(?: \(\d{4}-\d{2}-\d{2}\))?$/, '');
}

/** Signs that make another fact of the same words: `C++` and `C#`, `<` and `>`, `!=` and `=`, `-1`, `%`, `$`. */
export const TELLING_SIGN = '[\\p{Sm}\\p{Sc}#%&@^]|!(?==)|(?<![\\p{L}\\p{N}])-(?=\\p{N})';
const SAID = new RegExp(`[\\p{L}\\p{N}]+|(?:${TELLING_SIGN})+`, 'gu');

/** What two entries must share to say the same: letters, digits and telling signs, without the marks at the end. */
export function sameness(line: string): string {
  return (withoutMarks(line).replace(/^- /, '').toLowerCase().match(SAID) ?? []).join(' ');
}

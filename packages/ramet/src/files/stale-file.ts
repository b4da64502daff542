/** Why an agent may not change a file now, in words: who came between, when, with what, and how to continue. */
import type { LastWrite } from './file-ledger.ts';

export const READ_AGAIN = 'Nothing was written. Read it again, then repeat the change on what is there now.';

const LONGEST_QUOTE = 80;

export interface StaleFile {
  path: string;
  /** The agent that is refused. */
  agent: string;
  /** The writer of the present content, if known. */
  writer: LastWrite | null;
  /** Milliseconds since the epoch. */
  now: number;
}

export function notRead({ path, agent, writer, now }: StaleFile): string {
  const origin = writer === null ? '' : ` (written ${changedBy(writer, agent, now)})`;
  return `${path} exists${origin} and you have not read it. Nothing was written. Read it first, then repeat.`;
}

export function changedSince({ path, agent, writer, now }: StaleFile): string {
  const who = writer === null ? 'outside Ramet' : changedBy(writer, agent, now);
  return `${path} was changed ${who} since you read it. ${READ_AGAIN}`;
}

export function deletedSince({ path, agent, writer, now }: StaleFile): string {
  const who = writer === null ? 'outside Ramet' : changedBy(writer, agent, now);
  return `${path} was deleted ${who} since you read it. Nothing was written. Write it again if it should exist.`;
}

/** With what changed between the version that was seen and what is there, where both are known and are text. */
export async function withExcerpt(
  reason: string,
  before: Uint8Array | null,
  after: Uint8Array,
): Promise<string> {
  if (before === null) return reason;
  const { changeExcerpt } = await import('./change-excerpt.ts');
  const excerpt = changeExcerpt(before, after);
  return excerpt === null ? reason : `${reason}\nWhat changed since you read it:\n${excerpt}`;
}

/** Stands for the command of a file that the user has put back. */
export const UNDO = '/undo';

/** `by agent s.2 of session s ("its task") 12 s ago`. The reader's own session goes without saying. */
function changedBy(writer: LastWrite, reader: string, now: number): string {
  if (writer.command === UNDO) return `by the user's undo ${ago(now - writer.time)}`;
  const [session, own] = [sessionOf(writer.agent), sessionOf(reader)];
  const whose = writer.agent === reader ? 'your own command' : `agent ${writer.agent}`;
  const where = session === own ? '' : ` of session ${session}`;
  const task = writer.task === null || writer.agent === reader ? '' : ` ("${quoted(writer.task)}")`;
  const how = writer.command === null ? '' : ` with \`${quoted(writer.command)}\``;
  return `by ${whose}${where}${task}${how} ${ago(now - writer.time)}`;
}

export function sessionOf(agent: string): string {
  const dot = agent.lastIndexOf('.');
  return dot === -1 ? agent : agent.slice(0, dot);
}

export function quoted(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE).toWellFormed()}…` : line;
}

function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min ago` : `${Math.round(minutes / 60)} h ago`;
}

/**
 * The messages of a team. A message is one row, however many receive it; each member has a cursor, which moves when what is
 * before it is in a request to its model.
 *
 * Invariants
 * 1. `seq` rises with every message that is sent, so a receiver reads in the order of sending.
 * 2. One call sends at most one message: repeated after a crash, it finds its own.
 * 3. Only what every receiver has been told is pruned, those that are stopped included, and never the last messages of a sender, by which invariant 2 holds:
 *    the calls of one response may all be made again.
 */
import { EVERYBODY, type MessageKind, type TeamMessage } from '../../schema/team.ts';
import { keyOf, unknownName } from '../rules/team-names.ts';
import { missedBy, READ_BY_ALL } from './absences.ts';
import { type Problem, type Roster, textOf } from './roster.ts';
import type { TeamDatabase } from './team-database.ts';

const LONGEST_MESSAGE_BYTES = 64 * 1024;
const MOST_UNREAD = 10_000;
const NOBODY = 'nobody else in this team reads messages';
const STOPPED = 'has been stopped and reads nothing until the team is resumed (ramet team resume)';
const PRUNE_EVERY = 500;
/** Of each sender: more than one response can send. */
const KEPT_OF_SENDER = 100;
/** Bounds of what one look brings: it becomes part of one request. */
const MOST_AT_ONCE = 100;
/** Of text in any script at most half of the smaller context windows. */
export const MOST_BYTES_AT_ONCE: number = 128 * 1024;

export interface NewMessage {
  /** A member's name; null for a person or a program outside the team. */
  from: string | null;
  /** A name, `lead`, or `*`. */
  to: string;
  text: string;
  /** Names the call that sends it, in this team. */
  call: string;
  kind?: MessageKind | undefined;
}

export interface SentMail {
  seq: number;
  /** Whom it reaches. */
  receivers: string[];
}

export class Mailboxes {
  readonly #db: TeamDatabase;
  readonly #team: number;
  readonly #roster: Roster;

  constructor(db: TeamDatabase, team: number, roster: Roster) {
    this.#db = db;
    this.#team = team;
    this.#roster = roster;
  }

  send({ from, to, text, call, kind }: NewMessage): SentMail | Problem {
    const problem = messageProblem(text);
    if (problem !== null) return { problem };
    return this.#db.write('synced', () => {
      const earlier = this.#db.row('SELECT seq FROM messages WHERE team = ? AND call = ?', this.#team, call);
      const receivers = this.#receiversOf(from, to);
      // Who received it may have ended since.
      if (earlier !== undefined)
        return { seq: Number(earlier.seq), receivers: 'names' in receivers ? receivers.names : [to] };
      if ('problem' in receivers) return receivers;
      const seq = this.#insert({ from, to, text, call, kind });
      if (seq % PRUNE_EVERY === 0) this.#prune();
      return { seq, receivers: receivers.names };
    });
  }

  #receiversOf(from: string | null, to: string): { names: string[] } | Problem {
    const others = this.#others(from);
    if (to === EVERYBODY) return others.length === 0 ? { problem: NOBODY } : { names: others };
    if (from !== null && keyOf(from) === keyOf(to)) return { problem: 'that is you: name another member' };
    const member = this.#roster.find(to);
    if (member === undefined) return { problem: unknownName(to, this.receiversFor(from)) };
    const { name, state, unread } = member;
    if (state === 'stopping' || state === 'stopped') {
      const how = state === 'stopping' ? 'is shutting down and reads nothing more' : STOPPED;
      const there = others.length === 0 ? NOBODY : `there are ${this.receiversFor(from).join(', ')}`;
      return { problem: `${name} ${how}; ${there}` };
    }
    if (unread >= MOST_UNREAD) {
      return { problem: `${name} has ${unread} unread messages: wait until it has read some` };
    }
    return { names: [name] };
  }

  #others(from: string | null): string[] {
    return this.#roster.names().filter((name) => from === null || keyOf(name) !== keyOf(from));
  }

  /** Whom it can write to, in words. */
  receiversFor(from: string | null): string[] {
    return [...this.#others(from), `${EVERYBODY} (everybody)`];
  }

  #insert({ from, to, text, call, kind }: NewMessage): number {
    const row = this.#db.row(
      'INSERT INTO messages (team, call, sender, receiver, text, kind) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq',
      ...[this.#team, call, from === null ? null : keyOf(from), to === EVERYBODY ? to : keyOf(to)],
      ...[text.toWellFormed(), kind ?? null],
    );
    return Number(row?.seq);
  }

  /**
   * What a member has not been told, in the order of sending: what follows its cursor, and follows `after`, the last
   * message that its own record already has. Bounded: the rest comes with the next look. The first comes in any case.
   */
  unread(name: string, after = 0, mostBytes: number = MOST_BYTES_AT_ONCE): TeamMessage[] {
    const key = keyOf(name);
    const rows = this.#db.rows(
      `SELECT seq, text, kind, coalesce(sender_name.name, message.sender) AS sender FROM (
         SELECT * FROM (SELECT * FROM messages WHERE team = ?1 AND receiver = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4)
         UNION ALL
         SELECT * FROM (SELECT * FROM messages WHERE team = ?1 AND receiver = '*' AND seq > ?3 AND sender IS NOT ?2
           AND NOT ${missedBy('?1', '?2')} ORDER BY seq LIMIT ?4)
       ) AS message LEFT JOIN members AS sender_name ON sender_name.team = ?1 AND sender_name.key = message.sender
       ORDER BY seq LIMIT ?4`,
      ...[this.#team, key, Math.max(after, this.cursor(name)), MOST_AT_ONCE],
    );
    let bytes = 0;
    return rows
      .map(({ seq, text, kind, sender }) => ({
        ...{ seq: Number(seq), text: String(text), from: textOf(sender) },
        // Only this file writes the column.
        kind: textOf(kind) as MessageKind | null,
      }))
      .filter(({ text }, index) => {
        bytes += Buffer.byteLength(text);
        return index === 0 || bytes <= mostBytes;
      });
  }

  /** The words of one message; null when it is no longer kept. */
  textOf(seq: number): string | null {
    const sql = 'SELECT text FROM messages WHERE team = ? AND seq = ?';
    return textOf(this.#db.row(sql, this.#team, seq)?.text);
  }

  /** The last message that was in a request to the member's model. */
  /** Whether what this call has sent to a member was in no request to its model yet. */
  isUnread(name: string, call: string): boolean {
    const sql = 'SELECT 1 FROM messages WHERE team = ? AND receiver = ? AND call = ? AND seq > ?';
    return this.#db.row(sql, this.#team, keyOf(name), call, this.cursor(name)) !== undefined;
  }

  cursor(name: string): number {
    const sql = 'SELECT cursor FROM members WHERE team = ? AND key = ?';
    return Number(this.#db.row(sql, this.#team, keyOf(name))?.cursor ?? 0);
  }

  /** Everything up to `seq` was in a request. A cursor never moves back. */
  advance(name: string, seq: number): void {
    const sql = 'UPDATE members SET cursor = ? WHERE team = ? AND key = ? AND cursor < ?';
    this.#db.change(sql, seq, this.#team, keyOf(name), seq);
  }

  #prune(): void {
    this.#db.row(
      `WITH kept AS MATERIALIZED (SELECT key, (SELECT seq FROM messages WHERE team = ?1 AND sender = members.key
           ORDER BY seq DESC LIMIT 1 OFFSET ?2) AS seq FROM members WHERE team = ?1)
       DELETE FROM messages WHERE team = ?1
         AND (sender IS NULL OR seq <= (SELECT kept.seq FROM kept WHERE kept.key = messages.sender))
         AND seq <= CASE receiver
           WHEN '*' THEN ${READ_BY_ALL}
           ELSE coalesce((SELECT cursor FROM members WHERE team = ?1 AND key = receiver), seq)
           END`,
      ...[this.#team, KEPT_OF_SENDER - 1],
    );
  }
}

/** What is wrong with the words of a message; null if nothing is. */
export function messageProblem(text: string): string | null {
  const bytes = Buffer.byteLength(text);
  if (text.trim() === '') return 'the message is empty';
  if (bytes <= LONGEST_MESSAGE_BYTES) return null;
  return `the message has ${bytes} bytes, and at most ${LONGEST_MESSAGE_BYTES} are allowed: write it to a file and send the path`;
}

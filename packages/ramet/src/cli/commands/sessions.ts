/** `ramet sessions`: lists, renames, removes and exports the sessions of this repository. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeError, systemCode, UserMistake } from '../../schema/errors.ts';
import { deleteSessions, listSessions, renameSession } from '../../sdk/calls/sessions.ts';
import { whyNone } from '../../sdk/calls/status.ts';
import { findPlace } from '../../sdk/place.ts';
import { sessionMarkdown } from '../../views/session-markdown.ts';
import { sessionObject, sessionTable } from '../../views/session-rows.ts';
import { tellDamage } from '../../views/session-view.ts';
import { transcriptObject, viewTranscript } from '../../views/transcript.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';
import { paintTable, styleFor } from '../output/painted.ts';

export function listed(options: { json?: boolean; limit: number }, io: CommandIo): void {
  const sessions = listSessions({ ...callFrom(io), limit: options.limit });
  if (options.json) io.out(`${JSON.stringify(sessions.map(sessionObject))}\n`);
  else if (sessions.length === 0) io.out(`${whyNone(callFrom(io), 0)}\n`);
  else io.out(paintTable(sessionTable(sessions, io.columns, Date.now()), styleFor(io)));
}

export function renamed(wanted: string, words: readonly string[], io: CommandIo): void {
  const { session, title } = renameSession(wanted, words.join(' '), callFrom(io));
  io.out(`session ${session} is now "${title}"\n`);
}

export function removed(wanted: readonly string[], options: { force?: boolean }, io: CommandIo): number {
  const outcomes = deleteSessions(wanted, { ...options, ...callFrom(io) });
  for (const { session, reason } of outcomes) {
    if (reason === null) io.out(`removed session ${session}\n`);
    else io.note(`session ${session} stays: ${reason}`);
  }
  return outcomes.every(({ reason }) => reason === null) ? EXIT.done : EXIT.failed;
}

export interface ExportFlags {
  format: 'markdown' | 'json';
  output?: string;
  force?: boolean;
}

export function exported(wanted: string | undefined, flags: ExportFlags, io: CommandIo): void {
  using view = viewTranscript(wanted, findPlace(io).project);
  const texts =
    flags.format === 'json'
      ? [`${JSON.stringify(transcriptObject(view, { full: true }))}\n`]
      : sessionMarkdown(view);
  if (flags.output === undefined) for (const text of texts) io.out(text);
  else {
    const file = resolve(io.cwd, flags.output);
    write(file, [...texts].join(''), flags.force ?? false);
    io.note(`session ${view.entry.session} is in ${file}`);
  }
  tellDamage(view, io);
}

function write(file: string, text: string, force: boolean): void {
  try {
    writeFileSync(file, text, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    const reason =
      systemCode(error) === 'EEXIST' ? 'it exists: name another file, or use --force' : describeError(error);
    throw new UserMistake('not_exported', `cannot write ${file}: ${reason}`, { cause: error });
  }
}

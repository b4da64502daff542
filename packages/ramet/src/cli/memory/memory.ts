/** `ramet memory`: what sessions remember, as a person sees and changes it. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RametError, UserMistake } from '../../schema/errors.ts';
import {
  addMemoryNote,
  type EditedMemory,
  editMemory,
  explainMemory,
  MEMORY_SCOPES,
  showMemory,
  undoMemory,
} from '../../sdk/memory/memory-calls.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { changeTable, explainedText, memoryText, undoneText } from '../../views/memory-text.ts';
import { printable } from '../../views/text/format.ts';
import { type CommandIo, callFrom } from '../io.ts';
import { paintGroups, paintTable, styleFor } from '../output/painted.ts';

interface MemoryFlags {
  json?: boolean;
  changes?: boolean;
  add?: string;
}

export async function show(
  which: string | undefined,
  { json, changes }: MemoryFlags,
  io: CommandIo,
): Promise<void> {
  const report = await showMemory(which, callFrom(io));
  if (json) io.out(jsonLine(changes ? { changes: report.changes } : report));
  else if (changes)
    io.out(
      report.changes.length === 0
        ? 'memory has no changes yet\n'
        : paintTable(changeTable(report.changes, Date.now()), styleFor(io)),
    );
  else if (report.files.length === 0)
    io.out(
      'nothing is remembered here yet: # at the prompt saves a note, ramet memory edit opens an editor\n',
    );
  else io.out(paintGroups(memoryText(report.files), styleFor(io)));
}

export async function edit(which: string, { json, add }: MemoryFlags, io: CommandIo): Promise<void> {
  const done = add === undefined ? await editByHand(which, io) : await addNote(which, add, io);
  if (json) {
    io.out(jsonLine(done));
    return;
  }
  const what = done.change === null ? 'nothing changed in' : `saved as ${done.change}:`;
  io.out(`${printable(`${what} ${done.path}`)}\n`);
  if (done.kept > 0)
    io.note(
      `${done.kept === 1 ? 'a line was' : `${done.kept} lines were`} changed by an agent meanwhile: yours are there`,
    );
}

function addNote(which: string, note: string, io: CommandIo): ReturnType<typeof addMemoryNote> {
  const scope = MEMORY_SCOPES.find((one) => one === which);
  if (scope === undefined)
    throw new UserMistake('bad_scope', `notes are added to ${MEMORY_SCOPES.join(', ')}, not to ${which}`);
  return addMemoryNote({ note, scope }, callFrom(io));
}

/** What was written stays in a file where it cannot be saved. */
async function editByHand(which: string, io: CommandIo): Promise<EditedMemory> {
  const write = inEditor(io);
  let written: string | null = null;
  const edit = async (text: string): Promise<string> => {
    const edited = await write(text);
    written = edited === text ? null : edited;
    return edited;
  };
  try {
    return await editMemory(which, edit, callFrom(io));
  } catch (error) {
    if (written === null || !(error instanceof RametError)) throw error;
    const kept = keptAside(written, io);
    if (kept === null) throw error;
    throw new UserMistake('not_saved', `${error.message}; what you wrote is in ${kept}`, { cause: error });
  }
}

/** Null where nothing can be written. */
function keptAside(text: string, { env }: CommandIo): string | null {
  try {
    const file = join(mkdtempSync(join(env.TMPDIR || tmpdir(), 'ramet-memory-')), 'memory.md');
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  } catch {
    return null;
  }
}

function inEditor(io: CommandIo): (text: string) => Promise<string> {
  return async (text) => {
    if (!io.isTerminal && !io.env.EDITOR && !io.env.VISUAL)
      throw new UserMistake('no_editor', 'no terminal for an editor: add a note with --add, or set EDITOR');
    const { editText } = await import('../interactive/screen/external-editor.ts');
    const edited = await editText(text, io);
    if ('problem' in edited) throw new UserMistake('not_edited', edited.problem);
    // The editor's text comes without its end.
    if (edited.text === text.replace(/\n+$/, '')) return text;
    return edited.text === '' ? '' : `${edited.text}\n`;
  };
}

export function why(words: readonly string[], { json }: MemoryFlags, io: CommandIo): void {
  const lines = explainMemory(words.join(' '), callFrom(io));
  io.out(json ? jsonLine({ lines }) : explainedText(lines, Date.now()));
}

export async function undo(change: string | undefined, { json }: MemoryFlags, io: CommandIo): Promise<void> {
  const undone = await undoMemory(change, callFrom(io));
  io.out(json ? jsonLine(undone) : `${undoneText(undone)}\n`);
}

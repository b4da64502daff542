/** A note in the user's own words, put where it takes no line of anybody else with it. */
import { withNote, withNoteAtEnd } from './memory-index.ts';
import { forgeryIn } from './refuse-forged-notes.ts';

export function withOwnNote(index: string | null, note: string): string {
  const after = withNote(index, note);
  const forgery = forgeryIn({ before: index, after }, { words: ownWords([note]), byPerson: true });
  return forgery === null ? after : withNoteAtEnd(index, note);
}

/** Notes alone, as a text that has them under their heading. */
export function ownWords(notes: readonly string[]): string | null {
  return notes.reduce<string | null>(withNote, null);
}

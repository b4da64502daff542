/** What a name leads to that a command gives to a program, in each directory that it may be in. */
import type { ScriptCommand } from '../../permission/shell/script-words.ts';
import { enteredPaths, linkedPaths } from './linked-paths.ts';
import { packageFiles, type SearchGround, stemFiles } from './module-files.ts';
import { PLACES } from './programs/known-programs.ts';
import type { ReachFinds } from './reach-finds.ts';
import { isDirectory, isTemporary } from './repository-look.ts';
import { isName, namesIn } from './word-names.ts';

const MOST_DIRECTORIES = 24;

export class NamedFinds {
  readonly #found: ReachFinds;
  readonly #ground: SearchGround;

  constructor(found: ReachFinds, ground: SearchGround) {
    this.#found = found;
    this.#ground = ground;
  }

  /** Whether it may be a file of the repository. */
  isOwn(name: string): boolean {
    return [...this.#ground.directories].some((directory) =>
      linkedPaths(directory, name).some(this.#ground.isOurs),
    );
  }

  isOwnModule(name: string): boolean {
    return stemFiles(name, this.#ground).length > 0 || packageFiles(name, this.#ground).length > 0;
  }

  /** Without its ending. */
  stems(text: string): void {
    for (const path of stemFiles(text, this.#ground)) this.#found.add(path, false);
  }

  /** All of it, if that is what the name leads to. */
  folder(name: string): void {
    if (!isName(name)) return;
    for (const directory of this.#ground.directories)
      for (const path of linkedPaths(directory, name))
        if (this.#ground.isOurs(path) && isDirectory(path)) this.#found.folders.add(path);
  }

  /** Every directory that a name, or names one after the other, lead to; false where there are too many. */
  enterAll(directories: Set<string>, names: ReadonlySet<string>): boolean {
    const found = [...directories];
    for (const directory of found)
      for (const path of [...names].flatMap((name) => enteredPaths(directory, name))) {
        if (directories.has(path) || !(this.#ground.isOurs(path) || isTemporary(path))) continue;
        if (directories.size >= MOST_DIRECTORIES) return false;
        directories.add(path);
        found.push(path);
      }
    return true;
  }

  /** Folders and modules that a variable names. */
  assigned({ name, texts }: ScriptCommand['assignments'][number]): void {
    const isPlace = PLACES.test(name);
    for (const text of texts.flatMap((one) => one.split(/[:;\s]/)).flatMap(namesIn)) {
      // `lib/?.lua`
      if (isPlace && text.includes('?')) this.pattern(text);
      else if (isPlace || text.includes('/')) this.folder(text);
    }
    if (isPlace) for (const text of texts) this.stems(text);
  }

  pattern(text: string): void {
    const before = text.slice(0, text.search(/[*?[]/));
    const folder = before.includes('/') ? before.slice(0, before.lastIndexOf('/') + 1) : '.';
    this.folder(folder);
    // Agents write there, too.
    if (isTemporary(folder) && isDirectory(folder)) this.#found.folders.add(folder.replace(/\/+$/, ''));
  }
}

/** Rules that make has without a Makefile: what it makes a file of, by their names. It makes its Makefiles by them, too. */
import { basename, dirname, join } from 'node:path';
import { type SearchGround, stemFiles } from '../module-files.ts';
import type { ReachFinds } from '../reach-finds.ts';

/** Sources that make knows how to make a program of. */
const SOURCE = /\.(?:[cCfFhlmoprsSwyv]|cc|cpp|mod|sh|def|sym|web|tex|texi|texinfo|sv)$|,v$/;
/** A script is copied, and brings nothing that it is compiled of. */
const COPIED = /\.sh$|,v$/;

export function ownRules(names: readonly string[], ground: SearchGround, found: ReachFinds): void {
  for (const name of names.filter((one) => /[\w]/.test(one) && !one.startsWith('-'))) {
    const sources = [name, name.replace(/\.\w+$/, '')]
      .flatMap((one) => stemFiles(one, ground))
      .filter((path) => SOURCE.test(path) && basename(path) !== basename(name));
    for (const path of sources) {
      found.add(path);
      found.unknown.add('make');
      if (!COPIED.test(path)) found.built.add('make');
    }
    for (const path of archived(name))
      for (const directory of ground.directories) found.add(join(directory, path));
  }
}

/** Where RCS and SCCS keep it. */
function archived(name: string): string[] {
  const [folder, file] = [dirname(name), basename(name)];
  return [
    `${file},v`,
    join('RCS', `${file},v`),
    join('RCS', file),
    `s.${file}`,
    join('SCCS', `s.${file}`),
  ].map((one) => join(folder, one));
}

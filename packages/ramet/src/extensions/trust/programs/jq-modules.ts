/** Modules that code of jq imports: `import "m" as $m`, `include "m" {search: "lib"}`, also behind `-f`, and what these import in turn. */
import { dirname, join } from 'node:path';
import type { ScriptWord } from '../../../permission/shell/script-words.ts';
import { linkedPaths } from '../linked-paths.ts';
import type { SearchGround } from '../module-files.ts';
import type { StartedProgram } from '../started-programs.ts';
import { contentOf } from '../trusted-content.ts';

export const JQ: RegExp = /^(?:jq|gojq|jaq)$/;
const IMPORT = /\b(?:import|include)\s*"((?:[^"\\]|\\.)+)"([^;]*)/g;
const SEARCHED = /"((?:[^"\\]|\\.)+)"/g;
const MOST_MODULES = 100;

export function jqModules({ name, rest }: StartedProgram, ground: SearchGround): readonly string[] {
  if (!JQ.test(name)) return [];
  const texts = rest.flatMap((word) => word.texts);
  const folders = texts.flatMap((text, at) =>
    texts[at - 1] === '-L' ? [text] : (/^-L(.+)$/.exec(text)?.slice(1) ?? []),
  );
  const [...starts] = ground.directories;
  const places = [
    ...new Set(starts.flatMap((start) => [start, ...folders.flatMap((one) => linkedPaths(start, one))])),
  ];
  const found = new Set<string>();
  const read = (code: string, from: readonly string[]): void => {
    for (const [, module = '', more = ''] of code.matchAll(IMPORT)) {
      const searched = Array.from(more.matchAll(SEARCHED), ([, folder = '']) => folder);
      const folders = [...from, ...from.flatMap((one) => searched.flatMap((to) => linkedPaths(one, to)))];
      for (const path of folders.flatMap((one) => namedBy(module, one)))
        if (!found.has(path) && found.size < MOST_MODULES && ground.isOurs(path)) {
          const inner = contentOf(path)?.bytes.toString('utf8');
          if (inner === undefined) continue;
          found.add(path);
          read(inner, [...new Set([dirname(path), ...places])]);
        }
    }
  };
  for (const text of texts) {
    if (text.includes('"')) read(text, places);
    for (const path of places.flatMap((one) => filesBehind(text, one))) {
      const code = ground.isOurs(path) ? contentOf(path)?.bytes.toString('utf8') : undefined;
      if (code !== undefined && IMPORTS.test(code)) read(code, [...new Set([dirname(path), ...places])]);
    }
  }
  return [...found];
}

/** Files that hold its code. */
export function jqFiles(words: readonly ScriptWord[]): { files: readonly string[]; isOpen: boolean } {
  const isFile = (at: number): boolean => /^(?:-[a-zA-Z]*f|--from-file)$/.test(words[at - 1]?.start ?? '');
  return {
    files: words.flatMap(({ texts, start }, at) =>
      isFile(at) ? texts : (/^--from-file=(.+)$/.exec(start)?.slice(1) ?? []),
    ),
    isOpen: words.some(({ open }, at) => open !== null && isFile(at)),
  };
}

const IMPORTS = /\b(?:import|include)\s*"/;

/** `-f x`, `-fx`, `--from-file=x`: any of its words may be it. */
function filesBehind(text: string, directory: string): string[] {
  if (/[\n"|]/.test(text) || text.length > 500) return [];
  const names = text.startsWith('-') ? [text.replace(/^-\w*f|^--from-file=/, '')] : [text];
  return names.filter((one) => one !== '').flatMap((one) => linkedPaths(directory, one));
}

/** jq looks for `a/b.jq`, and then for `a/b/b.jq`. */
function namedBy(module: string, folder: string): string[] {
  const last = module.slice(module.lastIndexOf('/') + 1);
  const all = linkedPaths(folder, module);
  return all.flatMap((path) => [
    ...['.jq', '.json'].flatMap((ending) => [`${path}${ending}`, join(path, `${last}${ending}`)]),
    join(path, 'jq', 'main.jq'),
  ]);
}

/** Where a compiler is told to write: by words of its command, and by its configuration. */
import { basename, dirname, resolve } from 'node:path';
import type { ScriptWord } from '../../../permission/shell/script-words.ts';
import { readSmallText } from '../../../system/regular-file.ts';
import type { SearchGround } from '../module-files.ts';
import { namesIn } from '../word-names.ts';
import { isConfigurationOf } from './known-programs.ts';

const TYPESCRIPT = /^(?:ts|js)config[\w.-]*\.json$/;
const CONFIGURATION = /\.(?:json|jsonc|toml|ya?ml|[cm]?[jt]s)$/;
const DEEPEST = 4;

export function compilerPlaces(tool: string, words: readonly ScriptWord[], ground: SearchGround): string[] {
  const { directories, isOurs, list } = ground;
  const names = words.flatMap(({ texts }) => texts.flatMap(namesIn)).filter(isBelow);
  const named = [...directories].flatMap((one) => names.map((name) => resolve(one, name))).filter(isOurs);
  const files = [...directories, ...named].flatMap((folder) =>
    list(folder)
      .filter(({ name }) => TYPESCRIPT.test(name) || isConfigurationOf(tool, name))
      .map(({ name }) => resolve(folder, name)),
  );
  const told = new Set([...named.filter((path) => CONFIGURATION.test(path)), ...files]);
  const outputs = [...told].flatMap((file) =>
    [...outputsIn(file, 0)].filter(isBelow).map((text) => resolve(dirname(file), text)),
  );
  // Not a whole checkout.
  return [...named, ...outputs].filter((path) => isOurs(path) && isOurs(dirname(path)));
}

/** In the place where a command or a configuration is, a compiler writes beside its sources. */
function isBelow(name: string): boolean {
  return /[^./]/.test(name);
}

const KEYS = /(?:^|[^\w$])["']?([A-Za-z_$][\w$-]*)["']?\s*[:=]/g;
/** Names of settings that say where output goes, in the ways of many tools. */
const TELLS = /out|dest|dist|^(?:declaration)?dir$|^(?:path|file|target|entry_?file_?names?)$/i;
const TEXT = /["'`]([^"'`\n]+)["'`]/g;

function* outputsIn(file: string, depth: number): Generator<string> {
  const text = textOf(file);
  const keys = [...text.matchAll(KEYS)];
  for (const [at, { 0: whole, 1: key = '', index }] of keys.entries()) {
    const value = text.slice(index + whole.length, keys[at + 1]?.index);
    const texts = Array.from(value.matchAll(TEXT), ([, one = '']) => one);
    if (TELLS.test(key)) yield* texts;
    if (key !== 'extends' || depth >= DEEPEST) continue;
    for (const one of texts)
      for (const path of [one, `${one}.json`])
        for (const inner of outputsIn(resolve(dirname(file), path), depth + 1))
          yield resolve(dirname(resolve(dirname(file), path)), inner);
  }
}

function textOf(file: string): string {
  try {
    return CONFIGURATION.test(basename(file)) ? readSmallText(file) : '';
  } catch {
    return '';
  }
}

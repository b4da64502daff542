/** What variables and options give git besides the configuration of the repository: files of settings, settings, and another repository. */
import { join } from 'node:path';
import type { ScriptCommand } from '../../../permission/shell/script-words.ts';
import { linkedPaths } from '../linked-paths.ts';
import type { GitGiven } from './git-config.ts';

/** Where a file of settings lies in what a variable names. */
const HOLDS: Readonly<Record<string, string>> = {
  GIT_CONFIG_GLOBAL: '',
  GIT_CONFIG_SYSTEM: '',
  GIT_CONFIG: '',
  HOME: '.gitconfig',
  XDG_CONFIG_HOME: 'git/config',
  GIT_DIR: 'config',
  GIT_COMMON_DIR: 'config',
};
/** They count whole. */
const FOLDERS: Readonly<Record<string, string>> = {
  GIT_DIR: 'hooks',
  GIT_COMMON_DIR: 'hooks',
  GIT_TEMPLATE_DIR: '',
  GIT_EXEC_PATH: '',
};
const OPTIONS: Readonly<Record<string, string>> = {
  '--git-dir': 'GIT_DIR',
  '--exec-path': 'GIT_EXEC_PATH',
  '--template': 'GIT_TEMPLATE_DIR',
};

export function gitGiven({ words, assignments }: ScriptCommand, directories: Iterable<string>): GitGiven {
  const texts = words.flatMap((word) => word.texts);
  const given = [
    ...assignments.flatMap(({ name, texts: values }) => values.map((value) => [name, value] as const)),
    ...texts.flatMap((text, at) => namedIn(text, texts[at + 1] ?? '')),
  ];
  const places = [...directories];
  const leads = (to: Readonly<Record<string, string>>): string[] =>
    given.flatMap(([name, value]) => {
      const inner = Object.hasOwn(to, name) ? to[name] : undefined;
      if (inner === undefined || value === '') return [];
      return places.flatMap((place) => linkedPaths(place, value)).map((path) => join(path, inner));
    });
  return { files: leads(HOLDS), folders: leads(FOLDERS), settings: settingsIn(texts, given) };
}

/** `env NAME=x`, `--git-dir=x`, `--git-dir x`. */
function namedIn(text: string, next: string): (readonly [name: string, value: string])[] {
  const [, name = '', value = ''] = /^([A-Za-z_]\w*|--[\w-]+)=(.*)$/s.exec(text) ?? [];
  if (name !== '') return [[OPTIONS[name] ?? name, value]];
  return Object.hasOwn(OPTIONS, text) ? [[OPTIONS[text] ?? '', next]] : [];
}

/** `-c key=value`, and pairs of variables: which key a value belongs to may be more than one. */
function settingsIn(
  texts: readonly string[],
  given: readonly (readonly [name: string, value: string])[],
): [key: string, value: string][] {
  const words = texts.flatMap((text, at): [key: string, value: string][] => {
    const [, key = '', value = ''] = /^(?:-c)?([\w.-]+\.[^=]*)=(.*)$/s.exec(text) ?? [];
    const isGiven = key !== '' && (text.startsWith('-c') || texts[at - 1] === '-c');
    return isGiven ? [[key.toLowerCase(), value]] : [];
  });
  const numbered = given.flatMap(([name, key]) => {
    const [, number] = /^GIT_CONFIG_KEY_(\d+)$/.exec(name) ?? [];
    if (number === undefined) return [];
    const values = given.filter(([other]) => other === `GIT_CONFIG_VALUE_${number}`);
    return values.map(([, value]): [string, string] => [key.toLowerCase(), value]);
  });
  const quoted = given.flatMap(([name, value]) =>
    name === 'GIT_CONFIG_PARAMETERS'
      ? Array.from(
          value.matchAll(/'([\w.-]+\.[^'=]*)'?=(?:')?([^']*)'/g),
          ([, key = '', one = '']): [string, string] => [key.toLowerCase(), one],
        )
      : [],
  );
  return [...words, ...numbered, ...quoted];
}

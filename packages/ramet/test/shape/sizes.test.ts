import { describe, expect, test } from 'vitest';
import { filesMatching, isTest, readText, sourceFiles, typescriptFiles } from './repository.ts';
import { parseFiles } from './syntax.ts';

const MAXIMUM_LINES = 300;
const MOST_IN_A_FOLDER = 30;
/** A file has two readers, or is a port or a late import; otherwise it belongs to its reader. */
const SHORT_LINES = 30;
const MOST_SHORT = 45;
const VAGUE_FOLDERS = ['common', 'helpers', 'lib', 'misc', 'shared', 'utils'];

const code = typescriptFiles();
const sources = parseFiles(sourceFiles());

/** `path:line` of every line that the pattern matches. */
function linesMatching(paths: readonly string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    readText(path)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  );
}

/** A comment on the line itself or on one of the two above, where the function around it begins. */
function isExplained(path: string, line: number): boolean {
  const lines = readText(path).split('\n');
  const above = lines.slice(Math.max(0, line - 3), line - 1);
  return /\/\/|\*\//.test(lines[line - 1] ?? '') || above.some((text) => /^\s*(\/\/|\*|\/\*)/.test(text));
}

describe('files', () => {
  test(`are at most ${MAXIMUM_LINES} lines long, tests apart`, () => {
    const long = code.filter(
      (path) => !isTest(path) && readText(path).split('\n').length - 1 > MAXIMUM_LINES,
    );
    expect(long).toEqual([]);
  });

  test(`of at most ${SHORT_LINES} lines are at most ${MOST_SHORT}: others belong to their reader`, () => {
    const short = sourceFiles().filter((path) => readText(path).split('\n').length - 1 <= SHORT_LINES);
    expect(short.length, short.join('\n')).toBeLessThanOrEqual(MOST_SHORT);
  });

  test('are named in kebab-case', () => {
    const names = [...code, ...filesMatching(['packages/**/*.js', 'docs/**/*.md'])];
    const odd = names.filter(
      (path) =>
        !path.split('/').every((part) => part === 'README.md' || /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(part)),
    );
    expect(odd).toEqual([]);
  });

  test(`of the sources lie at most ${MOST_IN_A_FOLDER} in one folder`, () => {
    const folders = Map.groupBy(sourceFiles(), (path) => path.slice(0, path.lastIndexOf('/')));
    const full = [...folders].filter(([, files]) => files.length > MOST_IN_A_FOLDER);
    expect(full.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([]);
  });

  test('are not kept in folders whose name says nothing', () => {
    expect(code.filter((path) => path.split('/').some((part) => VAGUE_FOLDERS.includes(part)))).toEqual([]);
  });
});

describe('types', () => {
  test('are exported under names that are unique in the sources', () => {
    const homes = new Map<string, string[]>();
    for (const { path, exportedTypes } of sources)
      for (const name of exportedTypes) homes.set(name, [...(homes.get(name) ?? []), path]);
    expect([...homes].filter(([, paths]) => paths.length > 1)).toEqual([]);
  });

  test('are asserted with `as` only beside a comment that says why', () => {
    const bare = sources.flatMap(({ path, castLines }) =>
      castLines.filter((line) => !isExplained(path, line)).map((line) => `${path}:${line}`),
    );
    expect(bare).toEqual([]);
  });
});

describe('nothing is switched off or put off', () => {
  test('the type checker is not silenced', () => {
    expect(linesMatching(code, /@ts-(ignore|nocheck)\b/)).toEqual([]);
    expect(linesMatching(code, /@ts-expect-error\s*(\*\/)?$/)).toEqual([]);
  });

  test('no test is narrowed, still to be written, or skipped before it runs', () => {
    const tests = code.filter(isTest);
    expect(linesMatching(tests, /^\s*(describe|test|it)\.(skip|only|todo|fails|skipIf|runIf)\b/)).toEqual([]);
  });

  test('a test that finds out that it cannot run skips itself with a reason, which is printed', () => {
    const silent = new RegExp(`\\b${'skip'}\\((?!['\`])`);
    expect(linesMatching(code, silent)).toEqual([]);
    expect(readText('vitest.config.ts')).toContain('test/skip-reasons.ts');
  });

  test('no work is left as a note in the code', () => {
    const marks = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK'].join('|')})\\b`);
    expect(linesMatching(code, marks)).toEqual([]);
  });
});

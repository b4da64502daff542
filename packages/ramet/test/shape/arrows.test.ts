import { describe, expect, test } from 'vitest';
import { importGraph, parsedSources } from './import-graph.ts';
import { roomOf, SOURCE_ROOT } from './repository.ts';
import { doorsOf, mayImport, ROOMS } from './rooms.ts';

const files = parsedSources();
const arrows = importGraph();

/** The first circle met when following imports from `path`, as the paths on it. */
function cycleFrom(path: string, trail: readonly string[], finished: Set<string>): string[] | undefined {
  if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
  if (finished.has(path)) return undefined;
  for (const { to } of arrows.filter(({ from }) => from === path)) {
    const cycle = cycleFrom(to, [...trail, path], finished);
    if (cycle !== undefined) return cycle;
  }
  finished.add(path);
  return undefined;
}

describe('the arrows between rooms', () => {
  test('every source file is in a room of the table', () => {
    const homeless = files.filter(
      ({ path }) => !ROOMS.some((room) => path.startsWith(`${SOURCE_ROOT}${room.name}/`)),
    );
    expect(homeless.map(({ path }) => path)).toEqual([]);
  });

  test('a room imports only itself and earlier rooms', () => {
    const wrong = arrows.filter(
      ({ from, to }) => !to.startsWith(SOURCE_ROOT) || !mayImport(roomOf(from), roomOf(to)),
    );
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  test('there are no cycles between files', () => {
    const finished = new Set<string>();
    const cycles = files.flatMap(({ path }) => cycleFrom(path, [], finished) ?? []);
    expect(cycles).toEqual([]);
  });

  test('the arrows that were found are real: the tools know the file access they are given', () => {
    expect(arrows).toContainEqual({
      from: `${SOURCE_ROOT}tools/tool.ts`,
      to: `${SOURCE_ROOT}files/file-access.ts`,
    });
  });
});

describe('the table of rooms', () => {
  test('holds no room without code', () => {
    const rooms = new Set(files.map(({ path }) => roomOf(path)));
    expect(ROOMS.filter(({ name }) => !rooms.has(name))).toEqual([]);
  });

  test.each([
    ['tools', 'files', true],
    ['git', 'tools', false],
    ['engine', 'engine', true],
    ['engine', 'executors', false],
    ['cli', 'testing', false],
    ['attic', 'schema', false],
  ])('%s importing %s is %s', (from, to, allowed) => {
    expect(mayImport(from, to)).toBe(allowed);
  });
});

describe('the doors of a room', () => {
  const crossing = arrows.filter(({ from, to }) => roomOf(from) !== roomOf(to));
  const doorName = (path: string): string =>
    path.slice(`${SOURCE_ROOT}${roomOf(path)}/`.length).replace(/\.ts$/, '');

  test('are all that other rooms import of it', () => {
    const wrong = crossing.filter(({ to }) => !doorsOf(roomOf(to)).includes(doorName(to)));
    expect(wrong.map(({ from, to }) => `${from} imports ${to}, which is no door`)).toEqual([]);
  });

  test('are imported by other rooms: one that is not is taken off the list', () => {
    const used = new Set(crossing.map(({ to }) => `${roomOf(to)}/${doorName(to)}`));
    const listed = ROOMS.flatMap(({ name }) => doorsOf(name).map((door) => `${name}/${door}`));
    expect(listed.filter((door) => !used.has(door))).toEqual([]);
  });

  test.each([
    [['engine'], 14],
    [['files', 'sandbox', 'git'], 30],
  ])('of %s are together at most %i', (rooms, most) => {
    expect(rooms.flatMap(doorsOf).length).toBeLessThanOrEqual(most);
  });
});

describe('the command', () => {
  const MOST_PAST = 20;
  const MEANT = ['cli', 'sdk', 'views', 'schema'];

  test(`imports the sdk, views and shapes: at most ${MOST_PAST} imports pass them by`, () => {
    const past = arrows.filter(({ from, to }) => roomOf(from) === 'cli' && !MEANT.includes(roomOf(to)));
    const found = past.map(({ from, to }) => `${from} imports ${to}`);
    expect(found.length, found.join('\n')).toBeLessThanOrEqual(MOST_PAST);
  });
});

describe('packages', () => {
  const users = (name: string): string[] =>
    files
      .filter(({ imports }) => imports.some((to) => to === name || to.startsWith(`${name}/`)))
      .map(({ path }) => path);

  test('zod enters through one door', () => {
    expect(users('zod')).toEqual([`${SOURCE_ROOT}schema/zod.ts`]);
  });

  test('the official SDK is only held against our types in tests', () => {
    expect(users('@anthropic-ai/sdk')).toEqual([]);
  });

  test('what only develops Ramet is not imported by it', () => {
    for (const name of ['esbuild', 'fast-check', 'vitest', 'typescript']) expect(users(name)).toEqual([]);
  });
});

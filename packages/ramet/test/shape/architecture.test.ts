import { describe, expect, test } from 'vitest';
import { importGraph } from './import-graph.ts';
import { ARCHITECTURE_PAGE, lineCount, type MainPathStep, mainPath, recounted } from './main-path.ts';
import { readText, roomOf, SOURCE_ROOT } from './repository.ts';
import { ROOMS } from './rooms.ts';

const page = readText(ARCHITECTURE_PAGE);
const steps = mainPath(page);
const MOST_FILES = 25;

describe('docs/architecture.md', () => {
  test('counts the lines of the main path to within a fifth (npm run fix counts again)', () => {
    expect(steps.length).toBeGreaterThan(0);
    const wrong = steps.filter(({ file, lines }) => Math.abs(lineCount(file) - lines) > lineCount(file) / 5);
    expect(wrong).toEqual([]);
  });

  test('has the rooms of the table, with what they own (npm run fix writes them)', () => {
    const tables = (text: string): string[] => text.split('\n').filter((line) => /^\| `\w+\/` \|/.test(line));
    expect(tables(page)).toHaveLength(ROOMS.length);
    expect(tables(page)).toEqual(tables(recounted(page)));
  });

  test('draws every room', () => {
    const drawing = /```text\n(.*?)```/s.exec(page)?.[1] ?? '';
    expect(ROOMS.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(drawing))).toEqual([]);
  });
});

describe('the main path', () => {
  const graph = importGraph();
  const imports = (from: string, to: string): boolean => {
    // The launcher is no module of the rooms: it loads the command late, by its path.
    if (!from.startsWith(SOURCE_ROOT)) return readText(from).includes(to.slice('packages/ramet/'.length));
    return graph.some((arrow) => arrow.from === from && arrow.to === to);
  };
  const handsOver = (before: MainPathStep, { file, port }: MainPathStep): boolean => {
    if (port === null) return imports(before.file, file);
    return imports(before.file, SOURCE_ROOT + port) && imports(file, SOURCE_ROOT + port);
  };

  test(`names at most ${MOST_FILES} files`, () => {
    const named = steps.flatMap(({ file, port }) => (port === null ? [file] : [file, SOURCE_ROOT + port]));
    expect(new Set(named).size).toBeLessThanOrEqual(MOST_FILES);
  });

  test('is handed on from each file to a later one, as the imports say', () => {
    const [first, ...rest] = steps;
    expect(first?.from).toBeNull();
    const broken = rest.filter((step) => {
      const before = steps.find((one) => one.step === step.from);
      return before === undefined || before.step >= step.step || !handsOver(before, step);
    });
    expect(broken).toEqual([]);
  });

  test('leads through a fork, from the tool to the executor', () => {
    const rooms = steps.map(({ file }) => roomOf(file));
    expect(rooms.indexOf('executors')).toBeGreaterThan(rooms.indexOf('tools'));
  });
});

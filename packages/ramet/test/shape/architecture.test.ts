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
  const imports = (from: string, to: string): boolean =>
    graph.some((arrow) => arrow.from === from && arrow.to === to);
  const names = (file: string, word: string): boolean => new RegExp(`\\b${word}\\b`).test(readText(file));

  const exports = ({ file, entry }: MainPathStep): boolean =>
    new RegExp(`^export (?:async )?(?:function|const|class) ${entry}\\b`, 'm').test(readText(file));

  /** The launcher is no module of the rooms, and what it runs exports nothing: it loads the command late, by its path. */
  const loads = (before: MainPathStep, { file }: MainPathStep): boolean =>
    readText(before.file).includes(file.slice('packages/ramet/'.length));

  /** The file before imports this one, and uses what the table says it does. */
  const calls = (before: MainPathStep, { file, entry }: MainPathStep): boolean =>
    imports(before.file, file) && names(before.file, entry ?? '');

  /** The file before calls a method that the port declares, and a file that knows the port puts this one's entry there. */
  const callsPort = (before: MainPathStep, { file, entry, port }: MainPathStep): boolean => {
    if (port === null) return false;
    const declaring = SOURCE_ROOT + port.file;
    const declares = names(declaring, `interface ${port.name}`) && names(declaring, port.method);
    const implementers = graph.filter((arrow) => arrow.to === file && imports(arrow.from, declaring));
    const isWired = implementers.some((arrow) => names(arrow.from, entry ?? ''));
    return declares && readText(before.file).includes(`.${port.method}(`) && isWired;
  };

  const handsOver = (before: MainPathStep, step: MainPathStep): boolean => {
    if (step.entry === null) return step.step === 2 && loads(before, step);
    return exports(step) && (step.port === null ? calls(before, step) : callsPort(before, step));
  };

  test(`names at most ${MOST_FILES} files`, () => {
    const named = steps.flatMap(({ file, port }) =>
      port === null ? [file] : [file, SOURCE_ROOT + port.file],
    );
    expect(new Set(named).size).toBeLessThanOrEqual(MOST_FILES);
  });

  test('is handed on from each file to a later one by the function that the table names', () => {
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

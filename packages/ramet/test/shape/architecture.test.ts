import { describe, expect, test } from 'vitest';
import { ARCHITECTURE_PAGE, lineCount, mainPath } from './main-path.ts';
import { readText, roomOf, sourceFiles } from './repository.ts';

const page = readText(ARCHITECTURE_PAGE);

describe('docs/architecture.md', () => {
  test('counts the lines of the main path to within a fifth (npm run fix counts again)', () => {
    const steps = mainPath(page);
    expect(steps.length).toBeGreaterThan(0);
    const wrong = steps.filter(({ file, lines }) => Math.abs(lineCount(file) - lines) > lineCount(file) / 5);
    expect(wrong).toEqual([]);
  });

  test('describes every room that has code', () => {
    const rooms = new Set(sourceFiles().map(roomOf));
    expect([...rooms].filter((room) => !page.includes(`\n| \`${room}/\` |`))).toEqual([]);
  });
});

/** The table of the main path in docs/architecture.md: which files, how long. */
import { readText } from './repository.ts';

export const ARCHITECTURE_PAGE = 'docs/architecture.md';

const ROW = /^(\| \d+ \| `([^`]+)` \| )(\d+)( \|.*)$/gm;

export interface MainPathStep {
  file: string;
  lines: number;
}

export function mainPath(page: string): MainPathStep[] {
  return [...page.matchAll(ROW)].map(([, , file = '', lines]) => ({ file, lines: Number(lines) }));
}

export function lineCount(path: string): number {
  return readText(path).split('\n').length - 1;
}

/** The page with today's line counts. */
export function recounted(page: string): string {
  return page.replace(ROW, (_, before: string, file: string, _lines, after: string) => {
    return `${before}${lineCount(file)}${after}`;
  });
}

/** What docs/architecture.md computes or promises: the table of rooms, and the main path with its files and their lengths. */
import { readText } from './repository.ts';
import { ROOMS } from './rooms.ts';

export const ARCHITECTURE_PAGE = 'docs/architecture.md';

const ROW = /^(\| (\d+) \| `([^`]+)` \| )(\d+)( \| ([^|]*) \| ([^|]*) \|.*)$/gm;
const ROOM_TABLE = /(<!-- rooms: npm run fix writes this table -->\n).*?(\n<!-- end of rooms -->)/s;

export interface MainPathStep {
  step: number;
  file: string;
  lines: number;
  /** The step whose file hands over to this one; null for the first. */
  from: number | null;
  /** What this file exports and is reached by; null where a file is run by its path. */
  entry: string | null;
  /** Where the file before calls a port: the method it calls, and the file (from `src/` on) that declares the port. */
  port: { name: string; method: string; file: string } | null;
}

const PORT = / through `(\w+)\.(\w+)` in `([^`]+)`/;

export function mainPath(page: string): MainPathStep[] {
  return [...page.matchAll(ROW)].map(([, , step, file = '', lines, , from = '', entry = '']) => {
    const before = /^\d+/.exec(from)?.[0];
    const [, name, method, port] = PORT.exec(from) ?? [];
    return {
      step: Number(step),
      file,
      lines: Number(lines),
      from: before === undefined ? null : Number(before),
      entry: /^`(\w+)`$/.exec(entry)?.[1] ?? null,
      port: name && method && port ? { name, method, file: port } : null,
    };
  });
}

export function lineCount(path: string): number {
  return readText(path).split('\n').length - 1;
}

/** The page with today's line counts and rooms. */
export function recounted(page: string): string {
  return page
    .replace(ROW, (_, before: string, _step, file: string, _lines, after: string) => {
      return `${before}${lineCount(file)}${after}`;
    })
    .replace(ROOM_TABLE, (_, begin: string, end: string) => `${begin}${roomTable()}${end}`);
}

function roomTable(): string {
  const rows = ROOMS.map(({ name, owns, leaves }) => `| \`${name}/\` | ${owns} | ${leaves} |`);
  return ['| room | owns | leaves to others |', '|---|---|---|', ...rows].join('\n');
}

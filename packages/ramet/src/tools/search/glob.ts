import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import * as z from '../../schema/zod.ts';
import { parseGlob, splitGlobBase } from '../../system/glob-pattern.ts';
import { defineTool, failure, type Tool, type ToolContext } from '../tool.ts';
import { runRipgrep, shownPath } from './ripgrep.ts';

const input = z.strictObject({
  pattern: z.string().check(z.minLength(1)),
  path: z.optional(z.string().check(z.minLength(1), z.describe('Directory to search'))),
});

const SHOWN = 100;
/** More matches than this are not looked at: the pattern is too wide to be of use. */
const COLLECTED = 200_000;

export const globTool: Tool = defineTool({
  name: 'Glob',
  description:
    'List files by glob, such as "src/**/*.ts", newest first. "*" stays in one directory, "**" goes below. ' +
    'Hidden files are listed, those ignored by git are not. Prefer it to find and ls.',
  effect: 'read',
  schedule: 'parallel',
  pathFields: { path: 'path', pattern: 'pattern' },
  input,
  access: ({ path = '.' }) => ({ reads: [path], searches: true }),
  async run({ pattern, path = '.' }, context) {
    const { base, rest } = splitGlobBase(pattern);
    const glob = parseGlob(rest);
    if (!glob.ok) return failure(glob.reason);
    const directory = resolve(context.cwd, path, base);
    const stats = statSync(directory, { throwIfNoEntry: false });
    if (stats === undefined) return failure(`${directory} does not exist.`);
    if (!stats.isDirectory()) return failure(`${directory} is not a directory.`);
    const found = await listFiles(directory, glob.matches, context);
    if (typeof found === 'string') return failure(found);
    if (found.length === 0) return { content: `No file matches "${pattern}" in ${directory}.` };
    const paths = (await newestFirst(directory, found)).map((name) =>
      shownPath(context.cwd, join(directory, name)),
    );
    const hidden = paths.length - SHOWN;
    const note = hidden > 0 ? [`(${hidden} more, older ones, are not shown: narrow the pattern.)`] : [];
    return { content: [...paths.slice(0, SHOWN), ...note].join('\n') };
  },
});

/** Matching names below `directory`, or why there are none. */
async function listFiles(
  directory: string,
  matches: (name: string) => boolean,
  context: ToolContext,
): Promise<string[] | string> {
  const found: string[] = [];
  let partial = '';
  const end = await runRipgrep(
    {
      arguments: ['--files', '--hidden', '--glob', '!.git', '--null', '--no-messages'],
      cwd: directory,
      take(chunk) {
        // Latin-1 keeps a character that is cut by the chunk's end in one piece until the name is whole.
        const names = (partial + chunk.toString('latin1')).split('\0');
        partial = names.pop() ?? '';
        for (const name of names) {
          const decoded = Buffer.from(name, 'latin1').toString();
          if (matches(decoded) && context.leavesOut?.(join(directory, decoded)) !== true) found.push(decoded);
        }
        return found.length < COLLECTED ? 'more' : 'enough';
      },
    },
    context,
  );
  return end.kind === 'failed' ? end.reason : found;
}

const STATS_PER_TURN = 500;

/** Ties in order of name. Synchronous looks in small helpings: far cheaper than promises, and nobody waits long. */
async function newestFirst(directory: string, names: readonly string[]): Promise<string[]> {
  const dated: { name: string; time: number }[] = [];
  for (const [index, name] of names.entries()) {
    if (index % STATS_PER_TURN === STATS_PER_TURN - 1) await breathe();
    dated.push({ name, time: statSync(join(directory, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 });
  }
  return dated.sort((a, b) => b.time - a.time || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
}

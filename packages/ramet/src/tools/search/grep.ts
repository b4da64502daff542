import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from '../../schema/zod.ts';
import { headOf } from '../../system/text/visible-text.ts';
import { defineTool, failure, type Tool, type ToolOutcome } from '../tool.ts';
import { formatGrepOutput, type GrepMode } from './grep-output.ts';
import { runRipgrep } from './ripgrep.ts';

const lines = z.optional(z.int().check(z.minimum(0), z.maximum(1_000)));

const input = z.strictObject({
  pattern: z.string().check(z.minLength(1), z.describe('Regular expression (ripgrep syntax)')),
  path: z.optional(z.string().check(z.minLength(1), z.describe('File or directory to search'))),
  glob: z.optional(z.string().check(z.minLength(1), z.describe('Only such files: "*.{ts,tsx}"'))),
  output_mode: z.optional(z.enum(['content', 'files_with_matches', 'count'])),
  '-i': z.optional(z.boolean().check(z.describe('Ignore case'))),
  '-n': z.optional(z.boolean().check(z.describe('Line numbers, default true'))),
  '-A': lines,
  '-B': lines,
  '-C': lines,
  head_limit: z.optional(z.int().check(z.minimum(1), z.describe('Most lines, default 250'))),
});

type GrepInput = z.infer<typeof input>;

const DEFAULT_LINES = 250;
const LINE_LENGTH = 500;
const RESULT_LENGTH = 30_000;
/** What is read of the output before ripgrep is stopped; far more than can be shown. */
const OUTPUT_LIMIT = 8_000_000;

export const grepTool: Tool = defineTool({
  name: 'Grep',
  description:
    'Search file contents. output_mode: files_with_matches (default, paths), content (lines; -A, -B, -C add lines ' +
    'after, before, around) or count. Files ignored by git are skipped. Prefer it to grep and rg in Bash.',
  effect: 'read',
  schedule: 'parallel',
  pathFields: { path: 'path' },
  input,
  access: ({ path = '.' }) => ({ reads: [path], searches: true }),
  async run(search, context) {
    const path = search.path ?? '.';
    if (!existsSync(resolve(context.cwd, path)))
      return failure(`${resolve(context.cwd, path)} does not exist.`);
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): 'more' | 'enough' => {
      chunks.push(chunk);
      size += chunk.length;
      return size < OUTPUT_LIMIT ? 'more' : 'enough';
    };
    const end = await runRipgrep(
      { arguments: [...argumentsOf(search), path], cwd: context.cwd, take },
      context,
    );
    if (end.kind === 'failed') return failure(end.reason);
    if (end.kind === 'done' && size === 0) {
      return end.complaint !== '' ? failure(end.complaint) : { content: `No match for ${search.pattern}.` };
    }
    const found = formatGrepOutput(Buffer.concat(chunks).toString(), {
      mode: search.output_mode ?? 'files_with_matches',
      numbered: search['-n'] !== false,
      cwd: context.cwd,
      leavesOut: context.leavesOut,
    });
    // The same words as for no match at all: whether one lies in a file that must not be read is not told either.
    if (found.length === 0) return { content: `No match for ${search.pattern}.` };
    return shortened(found, search.head_limit ?? DEFAULT_LINES, end.kind === 'enough');
  },
});

const MODE_ARGUMENTS: Readonly<Record<GrepMode, readonly string[]>> = {
  content: ['--with-filename', '--max-columns', String(LINE_LENGTH), '--max-columns-preview'],
  files_with_matches: ['--files-with-matches'],
  count: ['--count', '--with-filename'],
};

function argumentsOf(search: GrepInput): string[] {
  const mode = search.output_mode ?? 'files_with_matches';
  const args = [
    '--hidden',
    '--null',
    '--no-messages',
    '--color=never',
    '--no-heading',
    ...MODE_ARGUMENTS[mode],
  ];
  if (search.glob !== undefined) args.push('--glob', search.glob);
  args.push('--glob', '!.git');
  if (search['-i'] === true) args.push('--ignore-case');
  if (mode === 'content') {
    args.push(search['-n'] === false ? '--no-line-number' : '--line-number');
    for (const flag of ['-A', '-B', '-C'] as const) {
      if (search[flag] !== undefined) args.push(flag, String(search[flag]));
    }
  }
  return [...args, '-e', search.pattern, '--'];
}

function shortened(found: readonly string[], limit: number, cut: boolean): ToolOutcome {
  const shown: string[] = [];
  let length = 0;
  for (const line of found.slice(0, limit)) {
    length += line.length + 1;
    if (length > RESULT_LENGTH && shown.length > 0) break;
    shown.push(headOf(line, RESULT_LENGTH));
  }
  const rest = found.length - shown.length;
  if (rest > 0 || cut)
    shown.push(`(${cut ? `over ${rest}` : rest} more lines are not shown: narrow the search.)`);
  return { content: shown.join('\n') };
}

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from '../../schema/zod.ts';
import { defineTool, failure, type Tool } from '../tool.ts';
import { fileFailure, whyNot } from './file-failure.ts';
import { linesOf } from './line-window.ts';

const input = z.strictObject({ file_path: z.string().check(z.minLength(1)), content: z.string() });

export const writeTool: Tool = defineTool({
  name: 'Write',
  description:
    'Create a file, with its directories, or replace a whole file you have read. Refused if the file ' +
    'has changed: Read it again. To change part of a file use Edit.',
  effect: 'write',
  forMemory: true,
  schedule: 'ordered',
  pathFields: { file_path: 'path' },
  input,
  access: ({ file_path }) => ({ writes: [file_path] }),
  details: ({ file_path, content }) => ({
    change: { path: file_path, before: null, after: content, everywhere: false },
  }),
  async precheck({ file_path, content }, { files, cwd }) {
    if (!existsSync(resolve(cwd, file_path))) return null;
    return whyNot(files, file_path, () => ({ ok: true, text: content }));
  },
  async run({ file_path, content }, context) {
    try {
      const outcome = await context.files.write(file_path, content);
      if (!outcome.ok) return failure(outcome.reason);
      return { content: writtenText(outcome, file_path, content) };
    } catch (error) {
      return fileFailure(error, resolve(context.cwd, file_path));
    }
  },
});

export function writtenText({ created }: { created: boolean }, path: string, text: string): string {
  const { length } = linesOf(text);
  return `${created ? 'Created' : 'Wrote'} ${path} (${length} ${length === 1 ? 'line' : 'lines'}).`;
}

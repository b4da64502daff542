import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FileRefusal } from '../../files/file-access.ts';
import * as z from '../../schema/zod.ts';
import { defineTool, failure, type Tool, type ToolContext, type ToolOutcome } from '../tool.ts';
import { fileFailure, whyNot } from './file-failure.ts';
import { linesOf, numberedSnippet } from './line-window.ts';
import { lineAt, type ReplaceTextOptions, replaceText, type TextReplacement } from './replace-text.ts';
import { writtenText } from './write.ts';

const input = z.strictObject({
  file_path: z.string().check(z.minLength(1)),
  old_string: z.string(),
  new_string: z.string(),
  replace_all: z.optional(z.boolean()),
});

export const editTool: Tool = defineTool({
  name: 'Edit',
  description:
    'Replace old_string with new_string in a file you have read. old_string must match the file exactly, with its ' +
    'indentation and without line numbers, and occur once: add lines around it to make it unique, or set replace_all. ' +
    'Refused if the file has changed: Read it again.',
  effect: 'write',
  forMemory: true,
  schedule: 'ordered',
  pathFields: { file_path: 'path' },
  input,
  access: ({ file_path }) => ({ writes: [file_path] }),
  details: ({ file_path, old_string, new_string, replace_all = false }) => ({
    change: { path: file_path, before: old_string, after: new_string, everywhere: replace_all },
  }),
  async precheck({ file_path, old_string, new_string, replace_all = false }, { files, cwd }) {
    if (old_string === new_string) return NO_CHANGE;
    if (old_string === '') {
      if (!existsSync(resolve(cwd, file_path))) return null;
      return whyNot(files, file_path, (text) => (text === '' ? { ok: true, text } : NOT_EMPTY));
    }
    const options = optionsOf({ old_string, new_string, replace_all });
    return whyNot(files, file_path, (text) => replaceText(text, options));
  },
  async run({ file_path, old_string, new_string, replace_all = false }, context) {
    if (old_string === new_string) return failure(NO_CHANGE);
    const options = optionsOf({ old_string, new_string, replace_all });
    try {
      return await (old_string === ''
        ? fill(file_path, new_string, context)
        : edit(file_path, options, context));
    } catch (error) {
      return fileFailure(error, resolve(context.cwd, file_path));
    }
  },
});

const NO_CHANGE = 'old_string and new_string are the same: nothing to change.';
const NOT_EMPTY: FileRefusal = {
  ok: false,
  reason: 'old_string is empty but the file is not. Give the text to replace.',
};

function optionsOf(wanted: {
  old_string: string;
  new_string: string;
  replace_all: boolean;
}): ReplaceTextOptions {
  return {
    oldString: wanted.old_string.replaceAll('\r\n', '\n'),
    newString: wanted.new_string.replaceAll('\r\n', '\n'),
    replaceAll: wanted.replace_all,
  };
}

async function edit(path: string, options: ReplaceTextOptions, { files }: ToolContext): Promise<ToolOutcome> {
  let replacement: TextReplacement | undefined;
  const outcome = await files.update(path, (text) => {
    const result = replaceText(text, options);
    if (result.ok) replacement = result;
    return result;
  });
  if (!outcome.ok) return failure(outcome.reason);
  if (replacement === undefined) throw new Error('a change was written that nobody made');
  const places = replacement.count === 1 ? '' : ` (${replacement.count} places, the first shown)`;
  return { content: `Edited ${path}${places}.\n${snippet(replacement, options.newString)}` };
}

/** An empty old_string stands for an empty file, or for one that is not there yet. */
async function fill(path: string, text: string, { files, cwd }: ToolContext): Promise<ToolOutcome> {
  const outcome = existsSync(resolve(cwd, path))
    ? await files.update(path, (current) => (current === '' ? { ok: true, text } : NOT_EMPTY))
    : await files.write(path, text);
  if (!outcome.ok) return failure(outcome.reason);
  return { content: writtenText(outcome, path, text) };
}

const CONTEXT_LINES = 3;
const SNIPPET_LINES = 24;

function snippet({ text, index }: TextReplacement, newString: string): string {
  const first = Math.max(1, lineAt(text, index) - CONTEXT_LINES);
  const last = lineAt(text, index + newString.length) + CONTEXT_LINES;
  const lines = linesOf(text).slice(first - 1, Math.min(last, first - 1 + SNIPPET_LINES));
  return lines.length === 0 ? '(The file is now empty.)' : numberedSnippet(lines, first);
}

/** Bounds what a server answered: the beginning and the end are shown, the whole is in a file. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageBlock, TextBlock } from '../../schema/content.ts';
import { describeError } from '../../schema/errors.ts';
import type { ToolContext } from '../tool.ts';

export type TextKeeper = Pick<ToolContext, 'outputDirectory' | 'call' | 'redact'>;

const MOST_CHARACTERS = 30_000;

export async function keptWithin(
  blocks: readonly (TextBlock | ImageBlock)[],
  context: TextKeeper,
): Promise<(TextBlock | ImageBlock)[]> {
  const whole = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  if (whole.length <= MOST_CHARACTERS) return [...blocks];
  const place = await keep(whole, context);
  const half = MOST_CHARACTERS / 2;
  const cut = `\n[cut: ${whole.length} characters in all; ${place}]\n`;
  const text = `${whole.slice(0, half).toWellFormed()}${cut}${whole.slice(-half).toWellFormed()}`;
  return [{ type: 'text', text }, ...blocks.filter((block) => block.type === 'image')];
}

async function keep(text: string, { outputDirectory, call, redact }: TextKeeper): Promise<string> {
  const path = join(outputDirectory, `${call.replace(/[^\w-]/g, '_').slice(0, 100)}.txt`);
  try {
    await mkdir(outputDirectory, { recursive: true, mode: 0o700 });
    await writeFile(path, redact(text.toWellFormed()), { mode: 0o600 });
    return `Read ${path} for the rest`;
  } catch (error) {
    return `the rest could not be kept: ${describeError(error)}`;
  }
}

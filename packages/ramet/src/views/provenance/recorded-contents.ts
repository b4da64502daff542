/**
 * What a file held in a version that an agent wrote. Only what was there before a change is kept, so the last version
 * is made again from the call that wrote it, and counts only when its hash is the one that was recorded.
 */

import { createFileContents } from '../../git/provenance.ts';
import type { FileContents } from '../../git/shapes.ts';
import { openReader } from '../../journal/sessions.ts';
import { versionOf } from '../../system/regular-file.ts';
import { decodeTextFile, encodeTextFile } from '../../system/text/text-file.ts';
import { replaceText } from '../../tools/files/replace-text.ts';
import type { AttributedChange } from './file-changes.ts';

export function recordedContents(project: string, changes: readonly AttributedChange[]): FileContents {
  const kept = createFileContents(project);
  const contents: FileContents = {
    read(version, path) {
      const found = kept.read(version, path);
      if (found !== null) return found;
      const change = changes.find((one) => one.after === version && one.path === path);
      return change === undefined || change.before === version ? null : madeAgain(project, change, contents);
    },
  };
  return contents;
}

function madeAgain(project: string, change: AttributedChange, contents: FileContents): Uint8Array | null {
  const input = inputOf(project, change);
  if (input === null) return null;
  const before = change.before === null ? null : contents.read(change.before, change.path);
  if (change.before !== null && before === null) return null;
  const like = before === null ? null : decodeTextFile(before);
  const texts = typeof input.content === 'string' ? [input.content] : edited(like?.text ?? '', input);
  const candidates = texts.flatMap((text) => [encodeTextFile(text, like), Buffer.from(text)]);
  return candidates.find((bytes) => versionOf(bytes) === change.after) ?? null;
}

function edited(text: string, input: Record<string, unknown>): string[] {
  const { old_string: old, new_string: now } = input;
  if (typeof old !== 'string' || typeof now !== 'string') return [];
  if (old === '') return [now];
  const [oldString = '', newString = ''] = [old, now].map((part) => part.replaceAll('\r\n', '\n'));
  const result = replaceText(text, { oldString, newString, replaceAll: input.replace_all === true });
  return result.ok ? [result.text] : [];
}

/** What the tool call was given; null when the journal does not tell. */
function inputOf(
  project: string,
  { session, agent, call }: AttributedChange,
): Record<string, unknown> | null {
  const reader = openReader({ project, session, forgiving: true });
  try {
    for (const { event } of reader.events({ agent, type: 'response.completed' })) {
      if (event.type !== 'response.completed') continue;
      for (const digest of event.blocks) {
        const block: unknown = JSON.parse(Buffer.from(reader.block(digest)).toString());
        if (isCall(block, call)) return block.input;
      }
    }
    return null;
  } finally {
    reader.close();
  }
}

function isCall(block: unknown, call: string): block is { input: Record<string, unknown> } {
  if (typeof block !== 'object' || block === null || !('id' in block) || block.id !== call) return false;
  return 'input' in block && typeof block.input === 'object' && block.input !== null;
}

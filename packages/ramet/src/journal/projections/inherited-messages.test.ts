import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { digestOf } from '../../system/digest.ts';
import { createSession, openReader } from '../sessions.ts';
import { inheritedMessages } from './inherited-messages.ts';

async function readBack(json: string) {
  const project = temporaryDirectory();
  const journal = await createSession({ project, cwd: project });
  const digest = digestOf(json);
  journal.storeBlock(digest, Buffer.from(json));
  await journal.close();
  const reader = openReader({ project, session: journal.session });
  try {
    return inheritedMessages(reader, digest);
  } finally {
    reader.close();
  }
}

describe('FORK-2: what a fork inherits', () => {
  test('is read back from the block that lists it', async () => {
    const list = [
      { role: 'user', blocks: ['a', 'b'], shared: 1 },
      { role: 'assistant', blocks: ['c'], shared: 0 },
    ];
    expect(await readBack(JSON.stringify(list))).toEqual(list);
  });

  test.each([
    '{"role":"user"}',
    '[{"role":"system","blocks":[],"shared":0}]',
    '[{"role":"user"}]',
    '[',
    '[1]',
  ])('is not taken from %s, which is no list of messages', async (json) => {
    await expect(readBack(json)).rejects.toThrow(
      `block ${digestOf(json)} of the journal is no list of messages`,
    );
  });
});

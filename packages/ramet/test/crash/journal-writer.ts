/**
 * A process that writes numbered events and says which it was promised. Arguments: project, bytes per event, and the
 * session to resume. Prints `session <id>`, then `ack <number>` after each commit; when the journal fails, `failed
 * <code> <message>` and `closed <message>`.
 */

import { createSession, resumeSession } from '../../src/journal/sessions.ts';
import { describeError, RametError } from '../../src/schema/errors.ts';
import { digestOf } from '../../src/system/digest.ts';

const [project = '', size = '700', session] = process.argv.slice(2);
const { journal, last } = await open();
console.log(`session ${journal.session}`);
try {
  await writeForEver();
} catch (error) {
  console.log(`failed ${error instanceof RametError ? error.code : '?'} ${describeError(error)}`);
  await journal.close().catch((closing: unknown) => console.log(`closed ${describeError(closing)}`));
}

async function open() {
  if (session === undefined) return { journal: await createSession({ project, cwd: '/w' }), last: 0 };
  const { journal, reader } = await resumeSession({ project, session });
  let last = 0;
  for (const { event } of reader.events()) if (event.type === 'tool.started') last = Number(event.call);
  reader.close();
  return { journal, last };
}

async function writeForEver(): Promise<never> {
  let number = last;
  for (let batch = 1; ; batch++) {
    const end = number + 1 + (batch % 6);
    while (number < end) {
      number += 1;
      // `name` marks the end of a batch, so that half a batch can be told.
      const name = `${number === end ? 'end' : 'more'} ${'x'.repeat(Number(size))}`;
      journal.append('s.1', { type: 'tool.started', call: String(number), name });
    }
    const block = Buffer.from(`bytes of ${number}`);
    journal.storeBlock(digestOf(block), block);
    await journal.commit(batch % 7 === 0 ? 'synced' : 'written');
    console.log(`ack ${number}`);
  }
}

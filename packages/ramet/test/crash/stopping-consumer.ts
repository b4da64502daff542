/** A program on the library that stops for good at the first complete response, once that is in the journal. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { openSession } from '../../src/sdk/index.ts';
import { stopAfterFirstResponse } from '../fixtures/stopped-journal.ts';

stopAfterFirstResponse();
await using session = await openSession({ permissionMode: 'plan', permissions: { allow: ['WebSearch'] } });
try {
  for await (const _ of session.run('Do the work.'));
} catch {
  await setImmediate();
  await setImmediate();
  console.log('stopped');
  await sleep(600_000);
}

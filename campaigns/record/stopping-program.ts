/** A program on the library that stops for good at the first complete response, once that is in the journal. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { openSession } from '../../packages/ramet/src/sdk/index.ts';
import { stopAfterFirstResponse } from '../../packages/ramet/test/fixtures/stopped-journal.ts';
import { PROMPT } from '../kill/round.ts';

stopAfterFirstResponse();
await using session = await openSession({ permissionMode: 'bypassPermissions' });
try {
  for await (const _ of session.run(PROMPT));
} catch {
  await setImmediate();
  await setImmediate();
  console.log('stopped');
  await sleep(600_000);
}

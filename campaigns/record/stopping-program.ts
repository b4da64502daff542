/** A program on the library that stops for good at the first complete response, once that is in the journal. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { openSession } from '../../packages/ramet/src/sdk/index.ts';
import { PROMPT } from '../kill/round.ts';

await using session = await openSession({ permissionMode: 'bypassPermissions' });
for await (const event of session.run(PROMPT)) {
  if (event.type !== 'assistant') continue;
  await setImmediate();
  await setImmediate();
  console.log('stopped');
  await sleep(600_000);
}

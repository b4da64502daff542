/** A program on the library that stops for good at the first complete response, once that is in the journal. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { openSession } from '../../src/sdk/index.ts';

await using session = await openSession({ permissionMode: 'plan' });
for await (const event of session.run('Do the work.')) {
  if (event.type !== 'assistant') continue;
  await setImmediate();
  await setImmediate();
  console.log('stopped');
  await sleep(600_000);
}

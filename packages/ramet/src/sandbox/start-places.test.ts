import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { watchPlaces } from './start-places.ts';

test('WORK-7: an empty file in the place of a socket that has gone is removed; anything else stays', async () => {
  const directory = temporaryDirectory();
  const [gone, full, own, alive] = ['gone', 'full', 'own', 'alive'].map((name) => join(directory, name)) as [
    ...[string, string, string, string],
  ];
  const server = createServer();
  await new Promise<void>((settle) => server.listen(alive, settle));
  writeFileSync(full, 'text');
  writeFileSync(own, '');
  watchPlaces([gone, full, own, alive]);
  for (const file of [gone, full]) {
    if (file === gone) writeFileSync(file, '');
    chmodSync(file, 0o444);
  }
  // The next command hides nothing of it any more.
  watchPlaces([alive]);
  expect([gone, full, own, alive].map((path) => existsSync(path))).toEqual([false, true, true, true]);
  rmSync(full, { force: true });
  await new Promise((settle) => server.close(settle));
});

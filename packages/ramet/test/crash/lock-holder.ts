/**
 * Takes a repository's lock as often as told. Each time it adds its mark to a file, waits, and looks whether the mark
 * is still the last: `lock-holder.ts <git directory> <file> <times>`. With 0 times it keeps the lock for ever.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { withRepositoryLock } from '../../src/git/repository-lock.ts';

const [commonDirectory = '', file = '', times = '0'] = process.argv.slice(2);

if (times === '0') {
  await withRepositoryLock({ commonDirectory }, 'test', async () => {
    console.log('held');
    await sleep(1_000_000);
  });
}
for (let count = 0; count < Number(times); count++) {
  await withRepositoryLock({ commonDirectory }, 'test', async () => {
    const value = Number(readFileSync(file, 'utf8'));
    await sleep(1);
    writeFileSync(file, String(value + 1));
  });
}

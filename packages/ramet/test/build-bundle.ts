/** System tests run what ships, so the bundle is built before the first of them. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { buildCrashPrograms } from './fixtures/crash-programs.ts';

export default async function buildBundle(): Promise<void> {
  execFileSync(process.execPath, [join(import.meta.dirname, '../scripts/build.ts')], { stdio: 'inherit' });
  await buildCrashPrograms();
}

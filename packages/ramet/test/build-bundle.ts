/** System tests run what ships, so the bundle is built before the first of them. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export default function buildBundle(): void {
  execFileSync(process.execPath, [join(import.meta.dirname, '../scripts/build.ts')], { stdio: 'inherit' });
}

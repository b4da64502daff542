/**
 * Builds the bundle, then runs the measurements, or those named: `npm run bench -- turn journal`. The bundle is measured, since it
 * is what ships: one of earlier sources would give the figures of another version. See docs/benchmarks.md.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const build = join(import.meta.dirname, '../packages/ramet/scripts/build.ts');
execFileSync(process.execPath, [build], { stdio: 'inherit' });
// Not before: what they import is the bundle.
await import('./measurements.ts');

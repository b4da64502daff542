/** Runs every measurement, or those named: `npm run bench -- turn journal`. See docs/benchmarks.md. */
import * as footprint from './footprint.ts';
import * as interactive from './interactive.ts';
import * as journal from './journal.ts';
import * as startUp from './start-up.ts';
import * as turn from './turn.ts';

const MEASUREMENTS: Record<string, { run(): Promise<void> }> = {
  'start-up': startUp,
  turn,
  journal,
  footprint,
  interactive,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in MEASUREMENTS));
if (unknown.length > 0) {
  console.error(`no measurement ${unknown.join(', ')}; there are ${Object.keys(MEASUREMENTS).join(', ')}`);
  process.exit(2);
}
for (const [name, measurement] of Object.entries(MEASUREMENTS)) {
  if (wanted.length === 0 || wanted.includes(name)) await measurement.run();
}

/**
 * A user who commits to `main` until a line on standard input says to stop. Arguments: directory, and `checkout` to
 * commit there or `plumbing` to move the branch as a push does. Prints `commits <number>` at the end.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [directory = '', way = 'plumbing'] = process.argv.slice(2);
const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: directory, encoding: 'utf8', stdio: 'pipe' }).trim();
let stopped = false;
process.stdin.once('data', () => {
  stopped = true;
});
let commits = 0;
while (!stopped) {
  if (way === 'checkout') {
    writeFileSync(join(directory, 'person.txt'), `${commits}\n`);
    git('add', 'person.txt');
    git('commit', '-qm', `person ${commits}`);
    commits += 1;
  } else if (push()) commits += 1;
  await sleep(400);
}
console.log(`commits ${commits}`);
process.exit(0);

/** False when another was faster, as with a push that is refused. */
function push(): boolean {
  const before = git('rev-parse', 'main');
  const after = git('commit-tree', `${before}^{tree}`, '-p', before, '-m', `person ${commits}`);
  try {
    git('update-ref', 'refs/heads/main', after, before);
    return true;
  } catch {
    return false;
  }
}

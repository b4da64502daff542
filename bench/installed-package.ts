/** The package as npm would publish it, unpacked into a project, with the dependencies of the checkout beside it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const PACKAGE = join(ROOT, 'packages/ramet');

/** Returns its launcher. Nothing is built: what is in `dist` is packed. */
export function installPackage(project: string): string {
  mkdirSync(project, { recursive: true });
  const packed = ['pack', '--silent', '--ignore-scripts', '--pack-destination', project];
  const env = { ...process.env, npm_config_cache: join(project, 'npm-cache') };
  const tarball = execFileSync('npm', packed, { cwd: PACKAGE, env, stdio: 'pipe' }).toString().trim();
  const installed = join(project, 'node_modules/ramet');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['xzf', join(project, tarball), '--strip-components=1', '-C', installed]);
  const manifest: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(PACKAGE, 'package.json'), 'utf8'),
  );
  for (const name of Object.keys(manifest.dependencies)) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
  return join(installed, 'bin/ramet.js');
}

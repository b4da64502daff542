/**
 * Runs the fresh bundle once, so that V8's compiled code is on disk before anybody waits for it. The cache
 * belongs to this Node and these paths, which is why it is made where the command will run and never published;
 * another Node ignores it. A failure here only costs the saving.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export function warmCompileCache(packageRoot: string): void {
  const cache = join(packageRoot, 'dist', '.compile-cache');
  rmSync(cache, { recursive: true, force: true });
  if (!existsSync(join(packageRoot, 'dist', 'cli', 'main.js'))) return;
  mkdirSync(cache);
  spawnSync(process.execPath, [join(packageRoot, 'bin', 'ramet.js'), '--help'], { stdio: 'ignore' });
  const env = { ...process.env, NODE_COMPILE_CACHE: cache };
  spawnSync(process.execPath, [join(packageRoot, 'dist/executors/child-main.js')], { stdio: 'ignore', env });
}

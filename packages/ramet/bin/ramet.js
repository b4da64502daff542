#!/usr/bin/env node
/**
 * Starts the command: the bundle when it has been built, else the sources. A Node too old to run it must still
 * be able to parse this file, or it would answer with a syntax error instead of the one line that says what to
 * do: no import statements, nothing newer than `import()` (test/e2e/launcher.test.ts).
 */
const NEEDED = 24;
const FEWEST_FILES = 48;

if (Number(process.versions.node.split('.')[0]) >= NEEDED) start();
else import('node:fs').then((fs) => refuse(fs.existsSync));

function start() {
  const { existsSync, readFileSync } = process.getBuiltinModule('node:fs');
  if (process.platform === 'linux' && !mayOpenEnough(readFileSync)) return;
  const { fileURLToPath } = process.getBuiltinModule('node:url');
  const bundle = new URL('../dist/cli/main.js', import.meta.url);
  if (!existsSync(bundle)) return import('../src/cli/main.ts');
  // Only where the build made one: an installed package writes nothing into its own folder.
  const cache = new URL('../dist/.compile-cache', import.meta.url);
  if (existsSync(cache)) process.getBuiltinModule('node:module').enableCompileCache(fileURLToPath(cache));
  return import(bundle.href);
}

/** Below that not even the program itself can be loaded, and what then fails names anything but the cause. */
function mayOpenEnough(readFileSync) {
  let limit = Number.POSITIVE_INFINITY;
  try {
    limit = Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))[1]);
  } catch {
    // Without /proc nobody knows.
  }
  if (!(limit < FEWEST_FILES)) return true;
  process.stderr.write(
    `ramet: only ${limit} files may be open at once (ulimit -n), and Ramet needs ${FEWEST_FILES}: raise it with ulimit -n 1024\n`,
  );
  process.exitCode = 1;
  return false;
}

function refuse(exists) {
  const modules = modulesWithNode(exists);
  const remedy =
    modules === undefined
      ? `install Node ${NEEDED} (https://nodejs.org) and try again`
      : `one is installed beside it, so run: alias ramet="'${modules}.bin/node' '${ownFile()}'" and try again`;
  process.stderr.write(`ramet needs Node ${NEEDED} or newer, this is ${process.versions.node}; ${remedy}\n`);
  process.exitCode = 2;
}

function ownFile() {
  return decodeURIComponent(new URL(import.meta.url).pathname);
}

/** A checkout keeps its modules at its root; a project that depends on ramet keeps them around it. */
function modulesWithNode(exists) {
  const node = `node-${process.platform}-${process.arch}/bin/node`;
  return ['../../../node_modules/', '../../']
    .map((path) => decodeURIComponent(new URL(path, import.meta.url).pathname))
    .find((modules) => exists(modules + node));
}

#!/usr/bin/env node
/**
 * Starts the command: the bundle when it has been built, else the sources. A Node too old to run it must still
 * be able to parse this file, or it would answer with a syntax error instead of the one line that says what to
 * do: no import statements, nothing newer than `import()` (test/e2e/launcher.test.ts).
 */
const NEEDED = 24;

if (Number(process.versions.node.split('.')[0]) >= NEEDED) start();
else import('node:fs').then((fs) => refuse(fs.existsSync));

function start() {
  const { existsSync } = process.getBuiltinModule('node:fs');
  const { fileURLToPath } = process.getBuiltinModule('node:url');
  const bundle = new URL('../dist/cli/main.js', import.meta.url);
  if (!existsSync(bundle)) return import('../src/cli/main.ts');
  // Only where the build made one: an installed package writes nothing into its own folder.
  const cache = new URL('../dist/.compile-cache', import.meta.url);
  if (existsSync(cache)) process.getBuiltinModule('node:module').enableCompileCache(fileURLToPath(cache));
  return import(bundle.href);
}

function refuse(exists) {
  const modules = modulesWithNode(exists);
  const remedy =
    modules === undefined
      ? `install Node ${NEEDED} (https://nodejs.org) and try again`
      : `one is installed beside it, so run: export PATH="${modules}.bin:$PATH" and try again`;
  process.stderr.write(`ramet needs Node ${NEEDED} or newer, this is ${process.versions.node}; ${remedy}\n`);
  process.exitCode = 2;
}

/** A checkout keeps its modules at its root; a project that depends on ramet keeps them around it. */
function modulesWithNode(exists) {
  const node = `node-${process.platform}-${process.arch}/bin/node`;
  return ['../../../node_modules/', '../../']
    .map((path) => decodeURIComponent(new URL(path, import.meta.url).pathname))
    .find((modules) => exists(modules + node));
}

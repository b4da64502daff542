import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { memoryVariables } from './packages/ramet/test/memory-directory.ts';

const MEMORY = './packages/ramet/test/memory-directory.ts';
/** Shape tests start nothing. */
const STARTER = './packages/ramet/test/use-starter.ts';

const common = {
  ...{ environment: 'node', testTimeout: 60_000, hookTimeout: 60_000 },
  // A wait is for a condition: on a busy machine one second, which is usual, is a matter of luck.
  expect: { poll: { timeout: 50_000 } },
  // As the command sets them for itself: the shell grammar is not optimised, which takes a second in every worker.
  execArgv: ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'],
  globalSetup: [MEMORY],
  setupFiles: ['./packages/ramet/test/use-memory.ts'],
  env: {
    // Programs that tests start from the sources are compiled once, not once per process.
    NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled'),
    ...memoryVariables(),
  },
};

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ['default', './packages/ramet/test/skip-reasons.ts'],
    // Tests wait for other processes more than they compute: three at a time also on two cores.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    projects: [
      // One process per worker: to load the sources again for each file costs a quarter of all tests.
      {
        test: {
          ...{ ...common, name: 'unit', isolate: false, include: ['packages/*/src/**/*.test.ts'] },
          setupFiles: [...common.setupFiles, STARTER],
        },
      },
      { test: { ...common, name: 'shape', include: ['packages/*/test/shape/**/*.test.ts'] } },
      {
        test: {
          ...common,
          name: 'system',
          // For the same reason: a second for each file.
          isolate: false,
          setupFiles: [...common.setupFiles, STARTER],
          // Real processes share the machine with others. A test that needed its second try is named at the end.
          retry: 1,
          // For what hangs: the slowest take 10 s alone, and ten times that where seven runs share two cores.
          ...{ testTimeout: 180_000, hookTimeout: 180_000 },
          globalSetup: [MEMORY, './packages/ramet/test/build-bundle.ts'],
          include: ['packages/*/test/{contract,e2e,crash}/**/*.test.ts', 'examples/**/*.test.ts'],
        },
      },
    ],
  },
});

export default config;

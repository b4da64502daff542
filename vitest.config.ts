import { availableParallelism } from 'node:os';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

const common = {
  ...{ environment: 'node', testTimeout: 60_000, hookTimeout: 60_000 },
  // As the command sets them for itself: the shell grammar is not optimised, which takes a second in every worker.
  execArgv: ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'],
};

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ['default', './packages/ramet/test/skip-reasons.ts'],
    // Tests wait for other processes more than they compute: two at a time also on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      { test: { ...common, name: 'unit', include: ['packages/*/src/**/*.test.ts'] } },
      { test: { ...common, name: 'shape', include: ['packages/*/test/shape/**/*.test.ts'] } },
      {
        test: {
          ...common,
          name: 'system',
          globalSetup: ['packages/ramet/test/build-bundle.ts'],
          include: ['packages/*/test/{contract,e2e,crash}/**/*.test.ts', 'examples/**/*.test.ts'],
        },
      },
    ],
  },
});

export default config;

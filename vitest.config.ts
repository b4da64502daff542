import { defineConfig, type ViteUserConfig } from 'vitest/config';

const common = { environment: 'node', testTimeout: 30_000, hookTimeout: 30_000 } as const;

const config: ViteUserConfig = defineConfig({
  test: {
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

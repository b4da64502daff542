/** What the bundle does differently from the sources, for the sake of start-up (docs/decisions/003-start-up.md). */
import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Node's own modules without their late parts. An ES import of a builtin makes Node read every export of it,
 * also the getters behind which large parts wait: `node:http` pulls in undici, `node:process` opens the
 * standard streams. `process.getBuiltinModule` reads none, and esbuild's CommonJS interop copies getters unread.
 */
export const builtinModules: Plugin = {
  name: 'builtin-modules',
  setup(build) {
    build.onResolve({ filter: /^[a-z0-9_:/]+$/ }, ({ path }) =>
      isBuiltin(path) ? { path, namespace: 'builtin' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }));
  },
};

/** zod's index exports its messages in fifty languages, 300 KB; `schema/zod.ts` imports the one in use directly. */
export const oneZodLocale: Plugin = {
  name: 'one-zod-locale',
  setup(build) {
    build.onResolve({ filter: /\/locales\/index\.js$/ }, ({ path, importer }) =>
      /[\\/]zod[\\/]/.test(importer) ? { path, namespace: 'no-locales' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'no-locales' }, () => ({ contents: 'export {}' }));
  },
};

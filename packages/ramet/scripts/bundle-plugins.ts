/** What the bundle does differently from the sources, for the sake of start-up (docs/decisions/003-start-up.md). */
import { createRequire, isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Node's own modules without their late parts. An ES import of a builtin makes Node read every export of it,
 * also the getters behind which large parts wait: `node:http` pulls in undici, `node:process` opens the
 * standard streams. Here each name that is imported is read, and no other.
 */
export const builtinModules: Plugin = {
  name: 'builtin-modules',
  setup(build) {
    build.onResolve({ filter: /^[a-z0-9_:/]+$/ }, ({ path, kind }) =>
      isBuiltin(path)
        ? { path, namespace: kind === 'require-call' ? 'required-builtin' : 'builtin' }
        : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: builtinSource(path) }));
    build.onLoad({ filter: /.*/, namespace: 'required-builtin' }, ({ path }) => ({
      contents: `module.exports = ${builtin(path)}`,
    }));
  },
};

/** The calls are pure to esbuild, so it drops those whose names nobody imports. */
export function builtinSource(path: string): string {
  const names = Object.keys(createRequire(import.meta.url)(path)).filter((name) => /^[a-z$]\w*$/i.test(name));
  return [
    `const whole = /* @__PURE__ */ ${path === NEWEST ? `${builtin(path)} ?? {}` : builtin(path)}; export default whole`,
    'const read = (name) => whole[name]',
    ...names.map(
      (name) => `const ${name}_ = /* @__PURE__ */ read('${name}'); export { ${name}_ as ${name} }`,
    ),
  ].join('\n');
}

/** What an older Node lacks: its parts are then undefined. `bin/needs-node.cjs` speaks before anything asks for them. */
const NEWEST = 'node:sqlite';

function builtin(path: string): string {
  return `process.getBuiltinModule(${JSON.stringify(path)})`;
}

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

/** The schemas of the built-in tools, computed here instead of at every start (`src/tools/known-schemas.ts`). */
export const knownSchemas: Plugin = {
  name: 'known-schemas',
  setup(build) {
    build.onLoad({ filter: /[\\/]tools[\\/]known-schemas\.ts$/ }, async () => ({
      contents: `export const KNOWN_SCHEMAS = ${JSON.stringify(await builtInSchemas())}`,
    }));
  },
};

async function builtInSchemas(): Promise<Record<string, unknown>> {
  const { builtInTools } = await import('../src/tools/registry.ts');
  const { toolSchema } = await import('../src/tools/tool.ts');
  const schemas = builtInTools({ fork: true, types: [] }).map(toolSchema);
  return Object.fromEntries(schemas.map(({ name, input_schema }) => [name, input_schema]));
}

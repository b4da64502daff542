/**
 * Shell programs lie in files of their own. The sources read them from beside themselves; in a bundle nothing lies
 * beside, so the text takes the place of the call that reads it.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

const READING = /readFileSync\(\s*new URL\('\.\/([\w.-]+)', import\.meta\.url\),\s*'utf8',?\s*\)/g;

export const shellText: Plugin = {
  name: 'shell-text',
  setup(build) {
    build.onLoad({ filter: /-scripts?\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(READING, (_, name: string) =>
        JSON.stringify(readFileSync(join(dirname(path), name), 'utf8')),
      ),
      loader: 'ts',
    }));
  },
};

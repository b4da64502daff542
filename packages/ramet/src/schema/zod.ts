/**
 * The one door to zod: `import * as z from './zod.ts'`. It is `zod/mini`, passed on name by name so that
 * a bundle holds what is used and no more (docs/decisions/003-start-up.md); mini carries no messages of its
 * own, so English is set here.
 */
import { config, type core } from 'zod/mini';
import english from 'zod/v4/locales/en.js';

config(english());

export * from 'zod/mini';

/** What was wrong and where, in one line: `limit: expected number, received string; path: required`. */
export function describeIssues(error: core.$ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''}${issue.message}`)
    .join('; ');
}

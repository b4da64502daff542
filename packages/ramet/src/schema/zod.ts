/**
 * The one door to zod. `zod/mini` because the whole of zod costs 25 ms at start and mini 1 ms
 * (docs/decisions/003-start-up.md); mini carries no messages of its own, so English is set here.
 */
import * as z from 'zod/mini';
import english from 'zod/v4/locales/en.js';

z.config(english());

export { z };

/** What was wrong and where, in one line: `limit: expected number, received string; path: required`. */
export function describeIssues(error: z.core.$ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''}${issue.message}`)
    .join('; ');
}

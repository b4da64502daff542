import type { core } from './zod.ts';

/** What was wrong and where, in one line: `limit: expected number, received string; path: required`. */
export function describeIssues(error: core.$ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''}${issue.message}`)
    .join('; ');
}

/** What someone asks of a run, read from a file that another process wrote. */
import { ISOLATIONS, type OperatorAction } from '../../../schema/operator-events.ts';
import { EFFORTS } from '../../../schema/status.ts';
import * as z from '../../../schema/zod.ts';

const text = z.string();
const optionalText = z.optional(text);
const limit = z.optional(z.number());

const runTask = z.object({
  id: text,
  title: text,
  file: z.nullable(text),
  line: z.number(),
  phase: z.nullable(text),
  waits: z.array(text),
  barrier: z.nullable(z.number()),
  files: z.array(text),
  declares: z.optional(z.boolean()),
  gate: z.nullable(text),
  held: z.boolean(),
  settings: z.object({
    check: optionalText,
    model: optionalText,
    type: optionalText,
    budget: z.optional(z.object({ usd: limit, tokens: limit, seconds: limit })),
    effort: z.optional(z.enum(EFFORTS)),
    isolation: z.optional(z.enum(ISOLATIONS)),
    review: z.optional(z.array(text)),
  }),
  text,
  rest: z.nullable(text),
});

const action = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('add'), tasks: z.array(runTask) }),
  ...(['pause', 'resume', 'stop'] as const).map((kind) => z.object({ kind: z.literal(kind) })),
  ...(['skip', 'retry', 'start'] as const).map((kind) => z.object({ kind: z.literal(kind), task: text })),
  z.object({ kind: z.literal('approve'), task: text, commit: text, who: text }),
  z.object({ kind: z.literal('answer'), question: text, answer: z.enum(['once', 'always', 'denied']) }),
]);

export function readAction(value: unknown): { action: OperatorAction } | { problem: string } {
  const parsed = action.safeParse(value);
  if (parsed.success) return { action: parsed.data };
  return { problem: `the request cannot be read: ${z.describeIssues(parsed.error)}` };
}

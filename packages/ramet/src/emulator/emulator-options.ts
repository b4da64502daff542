/** The check of `startEmulator`'s options, for callers that no compiler checks: a misspelt one would go unheard. */
import { UserMistake } from '../schema/errors.ts';
import * as z from '../schema/zod.ts';
import type { EmulatorOptions } from './emulator-state.ts';
import { latencySchema } from './latency.ts';
import { scenarioSchema } from './scenario.ts';

const isFunction = z.optional(
  z.custom<never>((value) => typeof value === 'function', { error: 'expected a function' }),
);
const count = z.optional(z.int().check(z.minimum(1)));
const name = z.optional(z.string().check(z.minLength(1)));
const limit = z.number().check(z.nonnegative());

const optionsSchema = z.strictObject({
  port: z.optional(z.int().check(z.minimum(0), z.maximum(65_535))),
  scenario: z.optional(scenarioSchema),
  cassette: name,
  record: z.optional(
    z.strictObject({
      file: z.string(),
      upstream: z.string(),
      env: z.optional(z.unknown()),
      onSkipped: isFunction,
    }),
  ),
  respond: isFunction,
  fault: isFunction,
  latency: z.optional(latencySchema),
  rateLimits: z.optional(z.strictObject({ requests: limit, inputTokens: limit, outputTokens: limit })),
  requireKey: z.optional(z.string()),
  unknownModels: z.optional(z.array(z.string())),
  maxBodyBytes: count,
  contextWindow: count,
  log: name,
  keepRequests: z.optional(z.boolean()),
  onRequest: isFunction,
  clock: z.optional(
    z.custom<never>((value) => typeof Object(value).now === 'function', { error: 'expected a clock' }),
  ),
} satisfies Record<keyof EmulatorOptions, z.ZodMiniType>);

export function checkEmulatorOptions(options: unknown): void {
  // What another kind of object holds is in none of its fields.
  if (options instanceof Map || options instanceof Set || options instanceof Date)
    throw new UserMistake('bad_argument', 'startEmulator: its options are a plain object');
  const { error } = optionsSchema.safeParse(options);
  if (error === undefined) return;
  throw new UserMistake('bad_argument', `startEmulator: ${z.describeIssues(error)}`);
}

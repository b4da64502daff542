/** The part of the settings that is about what sessions do by themselves: compaction, memory, work in the background. */
import { MOST_SECONDS } from '../schema/usage.ts';
import * as z from '../schema/zod.ts';
import type { BackgroundSettings, MemorySettings, Settings, SpeculationSettings } from './settings.ts';

const wholeNumber = z.int().check(z.positive());

export function described<Schema extends z.ZodMiniType>(schema: Schema, description: string): Schema {
  return schema.check(z.describe(description));
}

function flag(description: string): z.ZodMiniOptional<z.ZodMiniBoolean> {
  return described(z.optional(z.boolean()), description);
}

export const compaction: z.ZodMiniType<NonNullable<Settings['compaction']>> = z.strictObject({
  enabled: flag(
    'Whether it happens (true); without it a run that no longer fits ends as failed: context_window.',
  ),
  threshold: described(
    z.optional(z.number().check(z.minimum(0.2), z.maximum(0.95))),
    'The share of the context window from which on it happens.',
  ),
});

export const memory: z.ZodMiniType<MemorySettings> = z.strictObject({
  enabled: flag('Whether sessions begin with what earlier ones have noted (true).'),
  dream: described(
    z.optional(
      z.strictObject({
        enabled: flag('Whether memory is tidied up in the background (true).'),
        hours: described(z.optional(z.number().check(z.minimum(0))), 'Hours after the last time (24).'),
        sessions: described(z.optional(z.int().check(z.minimum(0))), 'Sessions after the last time (5).'),
      }),
    ),
    'When memory is tidied up.',
  ),
  sync: flag('Whether sessions sync team memory by themselves where the environment names a server (true).'),
});

const speculation: z.ZodMiniType<SpeculationSettings> = z.strictObject({
  enabled: described(
    z.optional(z.boolean()),
    'Whether the likely next prompt is worked on in advance (false).',
  ),
  sessionUsd: described(
    z.optional(z.number().check(z.positive())),
    'What all tries of a session may cost (1).',
  ),
  tryUsd: described(z.optional(z.number().check(z.positive())), 'What one try may cost (0.25).'),
  tries: described(z.optional(wholeNumber), 'After how many tries it is judged (8).'),
  leastHits: described(
    z.optional(z.number().check(z.minimum(0), z.maximum(1))),
    'It ends for the session if a smaller share of its tries was used (0.2).',
  ),
});

export const background: z.ZodMiniType<BackgroundSettings> = z.strictObject({
  enabled: flag('Whether agents work in the background between prompts (true).'),
  unattended: flag('Also where no person is there: in ramet -p and the library (false).'),
  extractMemories: flag('Whether facts of a conversation go to memory (true).'),
  sessionMemory: flag(
    'Whether a session takes notes, for itself after a compaction and for later sessions (true).',
  ),
  promptSuggestion: flag('Whether the interactive view suggests three prompts after a turn (true).'),
  agentSummaries: flag('Whether one line says what a long-running child is doing (true).'),
  summarySeconds: described(
    z.optional(z.number().check(z.positive(), z.maximum(MOST_SECONDS))),
    'After how many seconds a child counts as that, and how often it is summed up (180).',
  ),
  memoryTurns: described(z.optional(wholeNumber), 'After how many prompts both are looked for (5).'),
  memoryTokens: described(
    z.optional(wholeNumber),
    'Or after how many new tokens of the conversation (25000).',
  ),
  costShare: described(
    z.optional(z.number().check(z.minimum(0), z.maximum(1))),
    'What all of it together may cost, as a share of everything else (0.15).',
  ),
  speculation: described(
    z.optional(speculation),
    'Work ahead of the user in a worktree, with a budget of its own.',
  ),
});

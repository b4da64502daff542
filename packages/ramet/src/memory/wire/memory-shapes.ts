/** What the memory server and its client say to each other. `server/api-description.ts` prints the same for others. */
import * as z from '../../schema/zod.ts';

export const ENTRY_SHAPE: z.ZodMiniObject<{
  key: z.ZodMiniString;
  version: z.ZodMiniNumber;
  etag: z.ZodMiniString;
  checksum: z.ZodMiniString;
  size: z.ZodMiniNumber;
  deleted: z.ZodMiniBoolean;
}> = z.object({
  key: z.string(),
  /** Grows with every change of the team. */
  version: z.number(),
  etag: z.string(),
  /** SHA-256 of the value, base64url; of a deleted key, of its last value. */
  checksum: z.string(),
  /** Bytes. */
  size: z.number(),
  deleted: z.boolean(),
});

/** One key, without its value. */
export type MemoryEntry = z.infer<typeof ENTRY_SHAPE>;

export const LISTING_SHAPE: z.ZodMiniObject<{
  team: z.ZodMiniString;
  version: z.ZodMiniNumber;
  part: z.ZodMiniOptional<z.ZodMiniString>;
  parted: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniNumber>>;
  keys: z.ZodMiniArray<typeof ENTRY_SHAPE>;
}> = z.object({
  team: z.string(),
  version: z.number(),
  /** The part of the history that is written now. Earlier servers have none. */
  part: z.optional(z.string()),
  /** Up to which version the server and who asks have seen the same; null for all of it. */
  parted: z.optional(z.nullable(z.number())),
  keys: z.array(ENTRY_SHAPE),
});

/** Characters of a checksum that tell apart the versions of a key. */
export const CHECKSUM_BEGINNING = 12;

/** All keys of a team, deleted ones too. */
export type MemoryListing = z.infer<typeof LISTING_SHAPE>;

export const FINDING_SHAPE: z.ZodMiniObject<{ rule: z.ZodMiniString; line: z.ZodMiniNumber }> = z.object({
  rule: z.string(),
  line: z.number(),
});

export const REFUSAL_SHAPE: z.ZodMiniObject<{
  error: z.ZodMiniObject<{
    code: z.ZodMiniString;
    message: z.ZodMiniString;
    findings: z.ZodMiniOptional<z.ZodMiniArray<typeof FINDING_SHAPE>>;
    current: z.ZodMiniOptional<typeof ENTRY_SHAPE>;
    earlier: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString>>;
  }>;
}> = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    /** Of `secret`: where, never what. */
    findings: z.optional(z.array(FINDING_SHAPE)),
    /** Of `changed` and `deleted`: what the key is now. */
    current: z.optional(ENTRY_SHAPE),
    /** Of `deleted`, in answer to a GET: the beginnings of the checksums of earlier versions. */
    earlier: z.optional(z.array(z.string())),
  }),
});

export type RefusalBody = z.infer<typeof REFUSAL_SHAPE>;

export interface MemoryLimits {
  /** Bytes of one value. */
  value: number;
  /** Bytes of all values of a team. */
  team: number;
  /** Keys of a team. */
  keys: number;
  /** Requests a second with one token, over time. */
  rate: number;
  /** Requests with one token that may come at once. */
  burst: number;
}

export const DEFAULT_LIMITS: Readonly<MemoryLimits> = {
  value: 256 * 1024,
  team: 64 * 1024 * 1024,
  keys: 10_000,
  rate: 100,
  burst: 2_000,
};

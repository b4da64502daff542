/**
 * What can go wrong between a client and a model (EMU-3), as data, and what each fault does to a response. A fault
 * that has nothing to break (a reset in tool input, and no tool call in the answer) is an error of the scenario.
 */
import * as z from '../schema/zod.ts';
import type { EmittedEvent, StreamBreakage } from './messages/event-stream.ts';

/** `headers` is before anything is sent, `start` after the first event; the others are inside that content. */
const PLACES = ['headers', 'start', 'thinking', 'text', 'tool_input'] as const;

type BreakPlace = (typeof PLACES)[number];

export interface StatusFault {
  kind: 'status';
  status: number;
  message?: string | undefined;
  /** Seconds in `retry-after`; without it the header is not sent. */
  retryAfter?: number | undefined;
  /** The 429 of a spend limit: not to be retried. */
  spendLimit?: boolean | undefined;
}

/** An `error` event after the stream has begun. */
interface StreamErrorFault {
  kind: 'stream_error';
  status?: number | undefined;
  message?: string | undefined;
}

export type Fault =
  | StatusFault
  | StreamErrorFault
  /** Continues after `ms`, or never. */
  | { kind: 'stall'; at: BreakPlace; ms?: number | undefined }
  | { kind: 'reset'; at: BreakPlace }
  | { kind: 'truncated_event' | 'malformed_event' | 'wrong_content_type' | 'missing_stop' };

const status = z.int().check(z.minimum(400), z.maximum(599));
const text = z.optional(z.string());

export const faultSchema: z.ZodMiniType<Fault> = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('status'),
    status,
    message: text,
    retryAfter: z.optional(z.number()),
    spendLimit: z.optional(z.boolean()),
  }),
  z.strictObject({ kind: z.literal('stream_error'), status: z.optional(status), message: text }),
  z.strictObject({ kind: z.literal('stall'), at: z.enum(PLACES), ms: z.optional(z.number()) }),
  z.strictObject({ kind: z.literal('reset'), at: z.enum(PLACES) }),
  z.strictObject({
    kind: z.enum(['truncated_event', 'malformed_event', 'wrong_content_type', 'missing_stop']),
  }),
]);

export type ResponseStep =
  | { kind: 'write'; text: string; tokens: number }
  | { kind: 'stall'; ms: number | undefined }
  | { kind: 'destroy' };

/** Whether the fault replaces the answer, so that a rule needs none. */
export function replacesAnswer(fault: Fault): boolean {
  return (
    fault.kind === 'status' ||
    fault.kind === 'wrong_content_type' ||
    ('at' in fault && fault.at === 'headers')
  );
}

/** The steps of a streamed response, broken as the fault says. The connection ends well unless a step destroys it. */
export function streamSteps(
  events: readonly EmittedEvent[],
  fault: Fault | undefined,
  breakage: StreamBreakage,
): ResponseStep[] {
  const all = events.map(write);
  switch (fault?.kind) {
    case 'stall': {
      if (fault.at === 'headers') return all;
      const cut = breakPoint(events, fault.at);
      return [...all.slice(0, cut), { kind: 'stall', ms: fault.ms }, ...all.slice(cut)];
    }
    case 'reset':
      return [...all.slice(0, breakPoint(events, fault.at)), { kind: 'destroy' }];
    case 'truncated_event': {
      const cut = events[2]?.text ?? '';
      return [...all.slice(0, 2), { kind: 'write', text: cut.slice(0, cut.length / 2), tokens: 0 }];
    }
    case 'malformed_event':
      return [
        ...all.slice(0, 2),
        { kind: 'write', text: breakage.malformedEvent, tokens: 0 },
        ...all.slice(2),
      ];
    case 'stream_error':
      return [
        ...all.slice(0, breakPoint(events, 'text')),
        { kind: 'write', text: breakage.errorEvent(fault.status ?? 529, fault.message), tokens: 0 },
      ];
    case 'missing_stop':
      return all.slice(0, -1);
    default:
      return all;
  }
}

/** The same for a response that is one JSON document. */
export function documentSteps(body: string, fault: Fault | undefined): ResponseStep[] {
  const half = Math.ceil(body.length / 2);
  const head: ResponseStep = { kind: 'write', text: body.slice(0, half), tokens: 0 };
  const tail: ResponseStep = { kind: 'write', text: body.slice(half), tokens: 0 };
  switch (fault?.kind) {
    case 'stall':
      if (fault.at === 'headers') return [head, tail];
      return [head, { kind: 'stall', ms: fault.ms }, tail];
    case 'reset':
      return [head, { kind: 'destroy' }];
    case 'truncated_event':
    case 'malformed_event':
      return [head];
    case 'stream_error':
    case 'missing_stop':
      throw new Error(`the fault ${fault.kind} needs a streamed request`);
    default:
      return [head, tail];
  }
}

function breakPoint(events: readonly EmittedEvent[], at: BreakPlace): number {
  if (at === 'headers') return 0; // the code that opens the response deals with it
  if (at === 'start') return 1;
  const index = events.findIndex(({ delta }) => delta === at);
  if (index === -1) throw new Error(`the fault breaks in ${at}, and the answer has none`);
  return index + 1;
}

function write({ text, tokens }: EmittedEvent): ResponseStep {
  return { kind: 'write', text, tokens };
}

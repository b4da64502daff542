import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limited, OK, settled, windowOf } from '../../../test/fixtures/rate-senders.ts';
import type { RateOutcome } from './rate-bucket.ts';
import type { RateTicket } from './rate-window.ts';

describe('LAUNCH-2: in whatever order things happen', () => {
  const outcome = fc.oneof(
    fc.constant(OK),
    fc.constant<RateOutcome>({ kind: 'failed' }),
    fc.option(fc.integer({ min: 1, max: 5_000 }), { nil: undefined }).map(limited),
  );
  const step = fc.oneof(
    fc.record({ kind: fc.constant('request' as const), model: fc.constantFrom('x', 'y') }),
    fc.record({ kind: fc.constant('release' as const), which: fc.nat(), outcome, again: fc.boolean() }),
    fc.record({ kind: fc.constant('abort' as const), which: fc.nat() }),
    fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 3_000 }) }),
  );

  interface Sender {
    place: number;
    model: string;
    controller: AbortController;
    ticket: RateTicket | null;
    acquire(): void;
  }

  test('the first to come is the first to go, the bound holds, and no ticket is lost', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.integer({ min: 1, max: 4 }),
        async (steps, limit) => {
          const { clock, window } = windowOf(limit);
          const waiting: Sender[] = [];
          const sending: Sender[] = [];
          let arrivals = 0;
          let ended = 0;
          const newSender = (model: string): Sender => {
            const rate = window.request(model);
            const controller = new AbortController();
            const sender: Sender = { place: ++arrivals, model, controller, ticket: null, acquire };
            function acquire(): void {
              waiting.push(sender);
              rate.acquire(controller.signal).then(
                (ticket) => {
                  const ahead = waiting.filter(
                    ({ model: other, place }) => other === model && place < sender.place,
                  );
                  expect(ahead).toEqual([]);
                  waiting.splice(waiting.indexOf(sender), 1);
                  sending.push(sender);
                  sender.ticket = ticket;
                  expect(sending.length).toBeLessThanOrEqual(limit);
                },
                () => {
                  waiting.splice(waiting.indexOf(sender), 1);
                  ended += 1;
                },
              );
            }
            return sender;
          };
          const release = async (sender: Sender, what: RateOutcome, again: boolean): Promise<void> => {
            sending.splice(sending.indexOf(sender), 1);
            sender.ticket?.release(what);
            // Who gets the place it held has got it before it comes back.
            await settled();
            if (again) sender.acquire();
            else ended += 1;
          };
          for (const one of steps) {
            if (one.kind === 'request') newSender(one.model).acquire();
            else if (one.kind === 'advance') await clock.advance(one.ms);
            else if (one.kind === 'abort') waiting[one.which % waiting.length]?.controller.abort();
            else {
              const sender = sending[one.which % sending.length];
              if (sender !== undefined) await release(sender, one.outcome, one.again);
            }
            await settled();
          }
          while (waiting.length + sending.length > 0) {
            const [sender] = sending;
            if (sender !== undefined) await release(sender, OK, false);
            else await clock.advance(10_000);
            await settled();
          }
          expect(ended).toBe(arrivals);
          expect(clock.due()).toEqual([]);
        },
      ),
      { numRuns: 200 },
    );
  });
});

import { describe, expect, test } from 'vitest';
import { ProviderAway } from '../../../schema/errors.ts';
import { NO_USAGE } from '../../../schema/usage.ts';
import { simulatedClock } from '../../../testing/simulated-clock.ts';
import { RunEnd } from './interruption.ts';

const refused = new ProviderAway('it answered 429', { code: 'limit' });
const lost = new ProviderAway('the connection was lost');

/** What a run says that ended for this reason. */
function said(end: RunEnd, cause: string): string | null {
  const ending = { status: 'interrupted', cause, message: `interrupted (${cause})` } as const;
  const result = { ...ending, text: '', turns: 1, usage: NO_USAGE, costUsd: 0, durationMs: 1 };
  return end.explain(result, simulatedClock()).message;
}

function runEnd(): RunEnd {
  const end = new RunEnd();
  end.onReached = () => {};
  return end;
}

describe('LAUNCH-2: why a run was interrupted', () => {
  test('a limit says until when, whichever refusal comes first', () => {
    const first = runEnd();
    first.limited('sonnet', 60_000);
    first.away(refused);
    const last = runEnd();
    last.away(refused);
    last.limited('sonnet', 60_000);
    for (const end of [first, last]) expect(said(end, 'limit')).toMatch(/^sonnet is limited until /);
  });

  test('what came after the end of the run is not told instead', () => {
    const end = runEnd();
    end.away(lost);
    end.limited('sonnet', 60_000);
    end.away(refused);
    expect(said(end, 'provider')).toBe('the connection was lost');
  });

  test('the next run tells its own reason', () => {
    const end = runEnd();
    end.limited('sonnet', 60_000);
    end.onReached = () => {};
    end.away(lost);
    expect(said(end, 'provider')).toBe('the connection was lost');
  });
});

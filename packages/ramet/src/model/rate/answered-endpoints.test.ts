import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { AnsweredEndpoint } from './endpoint-health.ts';

const HOUR_MS = 3_600_000;
const ENDPOINT = 'anthropic https://user.example';

describe('MODEL-2: the machine remembers which endpoints have answered', () => {
  test('for a day, for every process, and for that endpoint alone', async () => {
    const home = temporaryDirectory();
    const clock = simulatedClock(1_800_000_000_000);
    const of = (endpoint: string): AnsweredEndpoint => new AnsweredEndpoint({ home, endpoint, clock });
    expect(of(ENDPOINT).isRecent()).toBe(false);
    of(ENDPOINT).note();
    expect(of(ENDPOINT).isRecent()).toBe(true);
    expect(of('anthropic https://other.example').isRecent()).toBe(false);
    await clock.advance(23 * HOUR_MS);
    expect(of(ENDPOINT).isRecent()).toBe(true);
    await clock.advance(2 * HOUR_MS);
    expect(of(ENDPOINT).isRecent()).toBe(false);
    of(ENDPOINT).note();
    expect(of(ENDPOINT).isRecent()).toBe(true);
  });

  test('tells neither the address nor anything else', () => {
    const home = temporaryDirectory();
    new AnsweredEndpoint({ home, endpoint: ENDPOINT, clock: simulatedClock(1e12) }).note();
    const [name = ''] = readdirSync(join(home, 'endpoints'));
    expect(name).toMatch(/^[0-9a-f]{24}$/);
    expect(readFileSync(join(home, 'endpoints', name), 'utf8')).toBe('');
  });

  test('a time that is ahead of the clock is not believed', () => {
    const home = temporaryDirectory();
    new AnsweredEndpoint({ home, endpoint: ENDPOINT, clock: simulatedClock(2e12) }).note();
    const now = new AnsweredEndpoint({ home, endpoint: ENDPOINT, clock: simulatedClock(1e12) });
    expect(now.isRecent()).toBe(false);
  });

  test('a home that cannot be written is no failure', () => {
    const home = join(temporaryDirectory(), 'file');
    writeFileSync(home, '');
    const endpoint = new AnsweredEndpoint({ home, endpoint: ENDPOINT, clock: simulatedClock(1e12) });
    endpoint.note();
    expect(endpoint.isRecent()).toBe(false);
  });
});

import { describe, expect, test, vi } from 'vitest';
import { ModelError } from '../../schema/errors.ts';
import { EndpointHealth } from './endpoint-health.ts';

const failure = (code: string, status?: number, family: 'retryable' | 'terminal' = 'retryable'): ModelError =>
  new ModelError(code, family, code, { status });

const PASSING = [
  failure('connection'),
  failure('timeout'),
  failure('stalled'),
  failure('stream_cut'),
  failure('overloaded_error', 529),
  failure('api_error', 500),
  failure('http_502', 502),
  failure('overloaded_error'),
  failure('wrong_content_type', 200, 'terminal'),
  failure('http_302', 302, 'terminal'),
];

function healthOf({ recent = false, had = false } = {}) {
  const noted: true[] = [];
  const health = new EndpointHealth({
    memory: { isRecent: () => recent, note: () => void noted.push(true) },
    hadAnswer: () => had,
    patienceMs: 1_000,
    onTooLong: () => {},
  });
  return { health, noted };
}

describe('MODEL-2: which failures of a provider are waited out', () => {
  test('none before a first answer', () => {
    const { health } = healthOf();
    expect(PASSING.map((error) => health.verdict(error))).toEqual(PASSING.map(() => null));
    expect(health.verdict(failure('authentication_error', 401, 'terminal'))).toBeNull();
  });

  test.each([
    ['the machine had an answer within a day', { recent: true }],
    ['the session had one in an earlier process', { had: true }],
  ])('every one that passes by itself when %s', (_, known) => {
    const { health } = healthOf(known);
    expect(PASSING.map((error) => health.verdict(error))).toEqual(PASSING.map(() => 'wait'));
  });

  test('an answer is noted once, and counts from then on', () => {
    const { health, noted } = healthOf();
    health.noteAnswer('m');
    health.noteAnswer('m');
    expect(PASSING.every((error) => health.verdict(error) === 'wait')).toBe(true);
    health.close();
    health.close();
    expect(noted).toHaveLength(1);
  });

  test('the machine is told a moment later: agents that the answer asked for start first', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { health, noted } = healthOf();
      health.noteAnswer('m');
      expect(noted).toEqual([]);
      vi.runAllTimers();
      expect(noted).toHaveLength(1);
      health.close();
      expect(noted).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('a session without an answer notes nothing', () => {
    const { health, noted } = healthOf();
    health.close();
    expect(noted).toEqual([]);
  });

  test('a key that has just worked is waited for; another one interrupts resumed work and fails new work', () => {
    const refused = failure('authentication_error', 401, 'terminal');
    expect(healthOf({ recent: true }).health.verdict(refused)).toBeNull();
    expect(healthOf({ had: true }).health.verdict(refused)).toBe('interrupt');
    const { health } = healthOf();
    health.noteAnswer('m');
    expect(health.verdict(refused)).toBe('wait');
  });

  test('a 403 is waited out for a model that has just answered; another model may not be allowed at all', () => {
    const denied = (model: string): ModelError =>
      new ModelError('permission_error', 'terminal', 'no', { status: 403, model });
    expect(healthOf().health.verdict(denied('m'))).toBeNull();
    expect(healthOf({ recent: true }).health.verdict(denied('m'))).toBeNull();
    expect(healthOf({ had: true }).health.verdict(denied('m'))).toBe('interrupt');
    const { health } = healthOf({ had: true });
    health.noteAnswer('m');
    expect([health.verdict(denied('m')), health.verdict(denied('other'))]).toEqual(['wait', null]);
  });

  test.each([
    failure('rate_limit_error', 429),
    failure('stream_broken'),
    failure('invalid_request_error', 400, 'terminal'),
    failure('not_found_error', 404, 'terminal'),
    failure('response_too_large', undefined, 'terminal'),
  ])('$code is not an outage', (error) => {
    const { health } = healthOf({ recent: true, had: true });
    health.noteAnswer('m');
    expect(health.verdict(error)).toBeNull();
  });
});

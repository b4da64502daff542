import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { madeTask } from '../../../../test/fixtures/operator-run.ts';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import type { OperatorAction } from '../../../schema/operator-events.ts';
import { thisProcess } from '../../../system/processes/process-identity.ts';
import { type OperatorPlace, operatorDirectory } from '../../place.ts';
import { putRequest, takeAnswer, takeRequests, watchRequests, withdrawRequest } from './operator-requests.ts';

const PAUSE: OperatorAction = { kind: 'pause' };
const HERE = { writer: thisProcess(), now: 1 };

function place(): OperatorPlace {
  return { project: temporaryDirectory(), session: 'k3v9x2ab' };
}

function taken(of: OperatorPlace, refused: string | null = null): OperatorAction[] {
  const actions: OperatorAction[] = [];
  takeRequests(of, (action) => {
    actions.push(action);
    return refused;
  });
  return actions;
}

function requestsIn(of: OperatorPlace): string {
  return join(operatorDirectory(of), 'requests');
}

describe('OP-2: what another terminal asks of a run', () => {
  test('reaches the process that runs it once, in order, and is answered', () => {
    const here = place();
    const actions: OperatorAction[] = [
      PAUSE,
      { kind: 'skip', task: 'T1' },
      { kind: 'answer', question: 'q', answer: 'once' },
      { kind: 'add', tasks: [madeTask('new', { settings: { effort: 'high', budget: { usd: 1 } } })] },
    ];
    const names = actions.map((action, index) => putRequest(here, action, { ...HERE, now: 9 + index }));
    expect(takeAnswer(here, names[0] ?? '')).toBeNull();
    expect(taken(here, 'not now')).toEqual(actions);
    expect(taken(here)).toEqual([]);
    for (const name of names) expect(takeAnswer(here, name)).toEqual({ refused: 'not now' });
    expect(readdirSync(requestsIn(here))).toEqual([]);
  });

  test('is for nobody else: one for a process that is gone is removed, and not obeyed', () => {
    const here = place();
    putRequest(here, PAUSE, { writer: { ...thisProcess(), started: 'before' }, now: 1 });
    expect(taken(here)).toEqual([]);
    expect(readdirSync(requestsIn(here))).toEqual([]);
  });

  test('waits for the next process where nobody runs it', () => {
    const here = place();
    putRequest(here, { kind: 'retry', task: 'T1' }, { writer: null, now: 1 });
    const acted: string[] = [];
    using _ = watchRequests(here, (action) => {
      acted.push(action.kind);
      return null;
    });
    expect(acted).toEqual(['retry']);
    expect(readdirSync(requestsIn(here))).toEqual([]);
  });

  test('keeps the process of a paused run, which has nothing else under way, and nothing after it', () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = timers();
    const watching = watchRequests(place(), () => null);
    expect(timers()).toBe(before + 1);
    watching[Symbol.dispose]();
    expect(timers()).toBe(before);
  });

  test('can be taken back until it is taken', () => {
    const here = place();
    expect(withdrawRequest(here, putRequest(here, PAUSE, HERE))).toBe(true);
    expect(taken(here)).toEqual([]);
    const name = putRequest(here, PAUSE, HERE);
    expect(taken(here)).toEqual([PAUSE]);
    expect(withdrawRequest(here, name)).toBe(false);
  });

  test('is the user’s alone', () => {
    const here = place();
    const name = putRequest(here, PAUSE, HERE);
    expect(statSync(requestsIn(here)).mode & 0o777).toBe(0o700);
    expect(statSync(join(requestsIn(here), `${name}.request`)).mode & 0o777).toBe(0o600);
  });

  test('what is no request does nothing, and a bad one is answered with what is wrong', () => {
    const here = place();
    expect(taken(here)).toEqual([]);
    mkdirSync(requestsIn(here), { recursive: true });
    const to = thisProcess();
    for (const [name, text] of [
      ['x', '{}'],
      ['1-ab.request', 'null'],
      ['2-ab.request', '{"to":null'],
      ['3-ab.request', JSON.stringify({ to, action: { kind: 'explode' } })],
      ['4-ab.request', JSON.stringify({ to, action: { kind: 'skip' } })],
    ] as const)
      writeFileSync(join(requestsIn(here), name), text);
    expect(taken(here)).toEqual([]);
    expect(takeAnswer(here, '3-ab')?.refused).toMatch(/^the request cannot be read: kind: /);
    expect(takeAnswer(here, '4-ab')?.refused).toMatch(/^the request cannot be read: task: /);
    expect(readdirSync(requestsIn(here))).toEqual(['x']);
  });
});

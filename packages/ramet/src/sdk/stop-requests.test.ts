import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { thisProcess } from '../system/processes/process-identity.ts';
import { requestStop, takeStopRequests } from './stop-requests.ts';

function place() {
  return { project: temporaryDirectory(), session: 'k3v9x2ab' };
}

function taken(of: ReturnType<typeof place>): number[] {
  const agents: number[] = [];
  takeStopRequests(of, (agent) => agents.push(agent));
  return agents;
}

describe('AGENT-7: a request to stop an agent', () => {
  test('reaches the process it is for, once', () => {
    const here = place();
    requestStop(here, 3, thisProcess());
    requestStop(here, 3, thisProcess());
    expect(taken(here)).toEqual([3]);
    expect(taken(here)).toEqual([]);
  });

  test('is for nobody else: one that an earlier process left is removed', () => {
    const here = place();
    requestStop(here, 2, { ...thisProcess(), started: 'before' });
    expect(taken(here)).toEqual([]);
    expect(readdirSync(join(here.project, here.session, 'stop'))).toEqual([]);
  });

  test('can be taken back', () => {
    const here = place();
    requestStop(here, 2, thisProcess())();
    expect(taken(here)).toEqual([]);
  });

  test('is the user’s alone', () => {
    const here = place();
    requestStop(here, 2, thisProcess());
    const folder = join(here.project, here.session, 'stop');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, '2')).mode & 0o777).toBe(0o600);
  });

  test('what is no request stops no agent, and without requests nothing happens', () => {
    const here = place();
    expect(taken(here)).toEqual([]);
    const folder = join(here.project, here.session, 'stop');
    mkdirSync(folder, { recursive: true });
    for (const name of ['4', 'x', '-1']) writeFileSync(join(folder, name), 'null');
    expect(taken(here)).toEqual([]);
  });
});

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { callingAgent, refuseAgents } from './calling-agent.ts';

const AGENT = 'abcdefgh.2';

/** A home that has the session of the agent. */
function homeOf(session: string): string {
  const home = temporaryDirectory();
  mkdirSync(join(home, 'projects/repo-1'), { recursive: true });
  writeFileSync(join(home, 'projects/repo-1', `${session}.sqlite`), '');
  return home;
}

describe('SEC-1: a command that an agent runs', () => {
  test('is known by its environment, in the home that has the session', () => {
    const home = homeOf('abcdefgh');
    const env = { RAMET_HOME: home, RAMET_AGENT: AGENT };
    expect(callingAgent(env)).toBe(AGENT);
    expect(callingAgent({ RAMET_HOME: home })).toBeNull();
    expect(callingAgent({ ...env, RAMET_HOME: temporaryDirectory() })).toBeNull();
    expect(callingAgent({ ...env, RAMET_AGENT: '../../x' })).toBeNull();
    expect(() => refuseAgents('ramet trust', env)).toThrow(
      /^ramet trust is for a person, and this is a command of agent abcdefgh\.2/,
    );
  });

  test('is known by the environment of what has started it, where it has changed its own', ({ skip }) => {
    if (process.platform !== 'linux') skip('/proc is of Linux');
    const home = homeOf('abcdefgh');
    const program = `import { callingAgent } from ${JSON.stringify(join(import.meta.dirname, 'calling-agent.ts'))};
      console.log(callingAgent({ RAMET_HOME: ${JSON.stringify(home)} }));`;
    const script = 'env -u RAMET_AGENT "$0" --input-type=module -e "$1"; true';
    const started = spawnSync('bash', ['-c', script, process.execPath, program], {
      env: { PATH: process.env.PATH, RAMET_AGENT: AGENT },
      encoding: 'utf8',
    });
    expect(started.stdout.trim(), started.stderr).toBe(AGENT);
  });
});

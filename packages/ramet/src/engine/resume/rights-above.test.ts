import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import {
  call,
  type FamilySession,
  lastTexts,
  startAgents,
  startFamily,
} from '../../../test/fixtures/family.ts';
import { sessionPath } from '../../journal/session-file.ts';
import { findPlace } from '../../sdk/place.ts';

const typed = { subagent_type: 'general-purpose' };

/** Main starts outer, outer starts inner, inner starts the scout. All have ended when main writes to the scout. */
async function writtenTo(damage: (id: (number: number) => string) => string): Promise<FamilySession> {
  const family: FamilySession = await startFamily({
    cast: {
      'Go.': [
        startAgents(['outer'], typed),
        () => {
          const { project } = findPlace({ cwd: family.cwd, env: { RAMET_HOME: family.home } });
          using db = new DatabaseSync(sessionPath(project, family.session.id));
          db.exec(damage((number) => `'${family.session.id}.${number}'`));
          return call('SendMessage', { to: 'scout', message: 'And then?' });
        },
        { text: 'ok' },
        { text: 'ok' },
      ],
      outer: [startAgents(['inner'], typed), { text: 'Scope: outer.' }],
      inner: [startAgents(['child'], { ...typed, name: 'scout' }), { text: 'Scope: inner.' }],
      child: [
        { text: 'Scope: done.' },
        call('Write', { file_path: 'made.txt', content: 'x' }),
        { text: 'Scope: more.' },
      ],
    },
  });
  await family.run('Go.');
  return family;
}

const start = (agent: string): string => `type = 'agent.started' AND agent = ${agent}`;
const answerIn = (family: FamilySession): string => lastTexts(family.requestsOf('Go.')[2])[0] ?? '';

describe('AGENT-5: rights of agents above one that is resumed, from a damaged journal', () => {
  test('a whole journal lets it resume', async () => {
    const family = await writtenTo(() => 'SELECT 1');
    expect(answerIn(family)).toContain('It resumes in the background');
    expect(existsSync(join(family.cwd, 'made.txt'))).toBe(true);
  });

  test.for([
    ['of its parent', 3],
    ['further up', 2],
  ] as const)('a start %s that is missing refuses it: its limits are not known', async ([, lost]) => {
    const family = await writtenTo((id) => `DELETE FROM events WHERE ${start(id(lost))}`);
    expect(answerIn(family)).toMatch(
      new RegExp(
        `scout cannot be resumed: the record of agent \\w+\\.${lost} above it is lost, and with it its limits: start another agent`,
      ),
    );
    expect(family.requestsOf('child')).toHaveLength(1);
  });

  test.for([
    ['each other', 3],
    ['the agent itself', 4],
  ] as const)('parents that lead back to %s refuse it', { timeout: 20_000 }, async ([, back]) => {
    const family = await writtenTo(
      (id) =>
        `UPDATE events SET data = json_set(data, '$.parent', ${id(back)}), crc = NULL WHERE ${start(id(2))}`,
    );
    expect(answerIn(family)).toMatch(
      /scout cannot be resumed: the record says that agent \w+\.\d works for itself: start another agent/,
    );
    expect(family.requestsOf('child')).toHaveLength(1);
  });

  test('below one whose start a repair made up it only reads, whatever mode is recorded later', async () => {
    const family = await writtenTo(
      (id) =>
        `UPDATE events SET data = json_set(data, '$.permissionMode', 'plan', '$.origin.startLost', json('true')), crc = NULL
           WHERE ${start(id(3))};
         INSERT INTO events (seq, time, agent, data)
           SELECT max(seq) + 1000, 0, ${id(3)}, '{"type":"permission.changed","mode":"bypassPermissions"}' FROM events`,
    );
    expect(existsSync(join(family.cwd, 'made.txt'))).toBe(false);
  });
});

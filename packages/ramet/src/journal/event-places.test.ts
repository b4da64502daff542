import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import type { EventOf } from '../schema/events.ts';
import { EventPlaces } from './event-places.ts';
import { createSession, openReader } from './sessions.ts';

const project = mkdtempSync(join(tmpdir(), 'ramet-places-'));
afterAll(() => rmSync(project, { recursive: true }));

const warning = (message: string) => ({ type: 'warning.raised', code: 'test', message }) as const;
const start = (name: string, parent: string | null): EventOf<'agent.started'> => ({
  type: 'agent.started',
  ...{ parent, agentType: 'main', name, model: 'm' },
  ...{ permissionMode: 'default', maxTurns: 1, budget: {} },
});

describe('LOG-1: the places of events', () => {
  test('give the events of one agent, and its start, as a reading of all does, also of what is written later', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    const places = new EventPlaces();
    const compare = async (): Promise<void> => {
      await journal.commit('written');
      const reader = openReader({ project, session: journal.session });
      for (const agent of ['a.1', 'a.2', 'a.3'])
        expect([...places.of(reader, agent)]).toEqual([...reader.events({ agent })]);
      for (const agent of ['a.1', 'a.2', 'a.3'])
        expect(places.lastOf(reader, agent, 'agent.started')).toEqual(
          [...reader.events({ agent, type: 'agent.started' })].at(-1)?.event ?? null,
        );
      const starts = [...reader.events({ type: 'agent.started' })].filter(
        ({ event }) => event.type === 'agent.started' && event.parent !== null,
      );
      for (const recorded of starts) {
        const { agent, event } = recorded;
        expect(places.startOf(reader, agent ?? '')).toEqual(recorded);
        expect(places.startOf(reader, ('name' in event && event.name) || '')).toEqual(recorded);
      }
      expect(['a.1', 'a.2'].map((agent) => places.isParent(reader, agent))).toEqual([
        starts.length > 0,
        false,
      ]);
      expect(places.startOf(reader, 'nobody')).toBeNull();
      reader.close();
    };
    for (const agent of ['a.1', 'a.2', null, 'a.1']) journal.append(agent, warning(`of ${agent}`));
    journal.append('a.1', start('one', null));
    await compare();
    // A text that only looks like a start.
    journal.append('a.2', warning('"agent.started"'));
    journal.append('a.3', start('three', 'a.1'));
    await compare();
    // More than one look from the end, and more than one page.
    for (let number = 0; number < 600; number++) journal.append('a.3', warning(`${number}`));
    await compare();
    await journal.close();
  });

  test('fall back to a reading of all where an event is damaged', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    for (const message of ['1', '2', '3']) journal.append('a.1', warning(message));
    await journal.close();
    const places = new EventPlaces();
    const texts = (): unknown[] => {
      const reader = openReader({ project, session: journal.session });
      const found = Array.from(places.of(reader, 'a.1'), ({ event }) => 'message' in event && event.message);
      reader.close();
      return found;
    };
    expect(texts()).toEqual(['1', '2', '3']);
    const db = new DatabaseSync(journal.file);
    db.exec(`UPDATE events SET data = replace(data, '"2"', '"x"')`);
    db.close();
    expect(texts()).toEqual(['1', '3']);
  });
});

/** What each kind of agent sees of memory, by probes in the requests that it sends. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { drain } from '../../../test/fixtures/engine.ts';
import { agent, ask, newWorld } from '../../../test/fixtures/memory-world.ts';
import { indexPath, scopeFolder, storeOf } from '../../memory/files/memory-places.ts';
import { MEMORY_NOTES } from '../../schema/content.ts';
import { openSession } from '../session/session.ts';

const MAIN = ['PROBE-local', 'PROBE-project', 'PROBE-user'];

describe('MEM-1: who sees which memory', () => {
  test('the main agent and a fork see that of repository, checkout and user; an Explore sees none', async () => {
    const world = await newWorld((asked, turn) => {
      if (turn > 1 || asked.includes('EXPLORE TASK') || asked.includes('FORK TASK')) return undefined;
      return turn === 0 ? agent('EXPLORE TASK', { subagent_type: 'Explore' }) : agent('FORK TASK');
    });
    await ask(world.options, 'MAIN TASK');
    expect(world.probes('MAIN TASK')).toEqual(MAIN);
    const explore = world.emulator.requests.find(({ request }) =>
      JSON.stringify(request?.messages[0]).includes('EXPLORE TASK'),
    );
    expect(explore?.body).toBeDefined();
    expect(explore?.body).not.toContain('PROBE-');
    const fork = world.emulator.requests.find(({ request }) =>
      JSON.stringify(request?.messages.at(-1)).includes('FORK TASK'),
    );
    expect(fork?.body).toContain('PROBE-project');
  });

  test('an agent of a type with memory sees that of its type, also what another tool has kept', async () => {
    const world = await newWorld((asked, turn) =>
      turn === 0 && !asked.includes('SCRIBE TASK')
        ? agent('SCRIBE TASK', { subagent_type: 'scribe' })
        : undefined,
    );
    await ask(world.options, 'MAIN TASK');
    const scribe = world.emulator.requests.find(({ request }) =>
      JSON.stringify(request?.messages[0]).includes('SCRIBE TASK'),
    );
    expect([...new Set(scribe?.body.match(/PROBE-[\w-]+\w/g))]).toEqual([
      'PROBE-agent-scribe',
      'PROBE-other-tool',
    ]);
  });

  test('a lead and its members see that of their team, and of no other', async () => {
    const world = await newWorld((asked, turn) =>
      turn === 0 && !asked.includes('MEMBER TASK')
        ? agent('MEMBER TASK', { subagent_type: 'teammate', name: 'ada' })
        : undefined,
    );
    await ask({ ...world.options, team: 'crew' }, 'MAIN TASK');
    expect(world.probes('MAIN TASK')).toEqual([...MAIN, 'PROBE-team-crew'].sort());
    const member = world.emulator.requests.find(({ request }) =>
      JSON.stringify(request?.messages[0]).includes('MEMBER TASK'),
    );
    expect([...new Set(member?.body.match(/PROBE-[\w-]+\w/g))]).toEqual(['PROBE-team-crew']);
  });

  test('is in no request when it is switched off, and none changes a byte of a prompt', async () => {
    const world = await newWorld(() => undefined);
    await ask({ ...world.options, settings: { memory: { enabled: false } } }, 'OFF TASK');
    expect(world.probes('OFF TASK')).toEqual([]);
    expect(world.emulator.requests[0]?.body).not.toContain(MEMORY_NOTES);
  });
});

describe('MEM-1: memory in a conversation', () => {
  test('follows what runs share, and a change during the session rewrites no prefix', async () => {
    const world = await newWorld(() => undefined);
    world.write(join(world.options.cwd ?? '', 'AGENTS.md'), 'Use tabs. '.repeat(100));
    await using session = await openSession(world.options);
    await drain(session.run('FIRST TASK'));
    world.write(indexPath(scopeFolder(world.at, 'project')), '- PROBE-changed\n');
    await drain(session.run('SECOND TASK'));
    const [first, second] = world.emulator.requests.map(({ request }) => request);
    const texts = Array.isArray(first?.messages[0]?.content) ? first.messages[0].content : [];
    const kinds = texts.map(({ text }) => /^<([\w-]+)>/.exec(String(text))?.[1] ?? 'prompt');
    expect(kinds).toEqual(['project-instructions', 'environment', MEMORY_NOTES, 'prompt']);
    expect(JSON.stringify(second?.messages)).not.toContain('PROBE-changed');
    await using next = await openSession(world.options);
    await drain(next.run('THIRD TASK'));
    expect(world.probes('THIRD TASK')).toContain('PROBE-changed');
  });

  test('is read again after a compaction, in the same place', async () => {
    const long = 'A long line of text, again and again.\n'.repeat(800);
    const world = await newWorld((asked, turn) => {
      if (asked.includes('about to be replaced by a summary')) return { text: 'SUMMARY' };
      return turn < 3 ? { tool_use: [{ name: 'Read', input: { file_path: 'long.txt' } }] } : undefined;
    });
    world.write(join(world.options.cwd ?? '', 'long.txt'), long);
    await using session = await openSession(world.options);
    await drain(session.run('FIRST TASK'));
    world.write(indexPath(scopeFolder(world.at, 'project')), '- PROBE-changed\n');
    expect(await session.compact()).toMatchObject({ compacted: true });
    await drain(session.run('SECOND TASK'));
    const opening = JSON.stringify(world.emulator.requests.at(-1)?.request?.messages[0]);
    expect(opening).toContain('PROBE-changed');
    expect(opening).not.toContain('PROBE-project');
    expect(opening.match(new RegExp(`<${MEMORY_NOTES}>`, 'g'))).toHaveLength(1);
  });

  test('cannot end its element, is cut where it is long, and a file that is none is named', async () => {
    const world = await newWorld(() => undefined);
    world.write(
      indexPath(scopeFolder(world.at, 'project')),
      `</${MEMORY_NOTES}>\n${'- a line\n'.repeat(5_000_000)}`,
    );
    world.write(indexPath(scopeFolder(world.at, 'user')), 'binary\0\n');
    await using session = await openSession(world.options);
    await drain(session.run('FIRST TASK'));
    expect(session.notices.join('\n')).toContain('it is no UTF-8 text');
    const { body = '' } = world.emulator.requests[0] ?? {};
    expect(body.match(new RegExp(`</${MEMORY_NOTES}>`, 'g'))).toHaveLength(1);
    expect(body).toContain('[cut here: the file has');
    expect(body.length).toBeLessThan(100_000);
  });

  test('is read where its history is damaged, and a notice says what to do', async () => {
    const world = await newWorld(() => undefined);
    world.write(join(storeOf(world.at, 'project'), 'history.sqlite'), 'no database at all');
    await using session = await openSession(world.options);
    await drain(session.run('FIRST TASK'));
    expect(world.probes('FIRST TASK')).toContain('PROBE-project');
    expect(session.notices.join('\n')).toMatch(/history\.sqlite: it is damaged or no database; move it away/);
  });
});

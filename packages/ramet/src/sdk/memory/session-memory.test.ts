/** What each kind of agent sees of memory, by probes in the requests that it sends. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { drain } from '../../../test/fixtures/engine.ts';
import { IDENTITY } from '../../../test/fixtures/merge-repository.ts';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import type { Answer } from '../../emulator/answer.ts';
import { startEmulator } from '../../emulator/index.ts';
import {
  agentFolder,
  indexPath,
  MEMORY_SCOPES,
  scopeFolder,
  teamFolder,
} from '../../memory/files/memory-places.ts';
import { MEMORY_NOTES } from '../../schema/content.ts';
import type { SessionOptions } from '../index.ts';
import { findPlace } from '../place.ts';
import { openSession } from '../session/session.ts';
import { memoryPlace } from './session-memory.ts';

const SCRIBE = '---\nname: scribe\ndescription: writes\nmemory: project\ntools: Read\n---\nYou write.\n';

/** Every memory there can be has a word of its own. */
async function newWorld(respond: (asked: string, turn: number) => Answer | undefined) {
  const emulator = await startEmulator({
    respond: ({ request, turn }) =>
      respond(JSON.stringify([request.messages[0], request.messages.at(-1)]), turn) ?? { text: 'Done.' },
  });
  onTestFinished(() => emulator.close());
  const env = {
    ...IDENTITY,
    PATH: process.env.PATH,
    HOME: temporaryDirectory(),
    RAMET_HOME: join(temporaryDirectory(), 'ramet'),
    ANTHROPIC_API_KEY: 'test',
    ANTHROPIC_BASE_URL: emulator.url,
  };
  const cwd = temporaryRepository({ 'README.md': '# Test\n', 'MEMORY.md': 'PROBE-repository\n' });
  const at = memoryPlace(findPlace({ cwd, env }), env);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  for (const scope of MEMORY_SCOPES) write(indexPath(scopeFolder(at, scope)), `- PROBE-${scope}\n`);
  const elsewhere = scopeFolder({ ...at, root: '/elsewhere' }, 'local');
  write(indexPath(elsewhere), '- PROBE-elsewhere\n');
  for (const team of ['crew', 'others']) write(indexPath(teamFolder(at, team)), `- PROBE-team-${team}\n`);
  for (const type of ['scribe', 'Explore'])
    write(indexPath(agentFolder(at, 'project', type)), `- PROBE-agent-${type}\n`);
  write(join(cwd, '.claude/agent-memory/scribe/MEMORY.md'), '- PROBE-other-tool\n');
  write(join(env.RAMET_HOME, 'agents/scribe.md'), SCRIBE);
  const options: SessionOptions = {
    ...{ cwd, env, permissionMode: 'bypassPermissions' },
    settings: { sandbox: { readOnly: 'off', worktree: 'off' } },
  };
  const probes = (task: string): string[] => {
    const seen = emulator.requests.find(({ body }) => body.includes(task))?.body ?? '';
    return [...new Set(seen.match(/PROBE-[\w-]+\w/g) ?? [])].sort();
  };
  return { emulator, options, at, write, probes };
}

const agent = (prompt: string, more: Record<string, unknown> = {}): Answer => ({
  tool_use: [{ name: 'Agent', input: { description: 'probe', prompt, ...more } }],
});

async function ask(options: SessionOptions, ...prompts: string[]) {
  await using session = await openSession(options);
  for (const prompt of prompts) expect((await drain(session.run(prompt))).result.status).toBe('done');
  return session;
}

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
});

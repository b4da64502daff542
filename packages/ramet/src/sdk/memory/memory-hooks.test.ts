/** What hooks learn of memory: every change, and what a compaction is about to replace. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { drain } from '../../../test/fixtures/engine.ts';
import { agent, newWorld } from '../../../test/fixtures/memory-world.ts';
import { agentFolder, indexPath, scopeFolder } from '../../memory/files/memory-places.ts';
import type { ExecutorKind } from '../../schema/status.ts';
import { EXTRACT } from '../background/extract-memory.ts';
import { openSession } from '../session/session.ts';

type HookInput = Readonly<Record<string, unknown>>;

describe('EXT-2: the hook MemoryWritten', () => {
  test.each<ExecutorKind>(['in-process', 'process'])(
    'learns of what agents and the user have written: %s',
    async (executor) => {
      let path = '';
      const world = await newWorld((asked, turn) => {
        if (!asked.includes('CHILD TASK'))
          return turn === 0 ? agent('CHILD TASK', { subagent_type: 'scribe' }) : undefined;
        const input = { file_path: path, old_string: '- PROBE-agent-scribe', new_string: '- one\n- two' };
        if (turn === 0) return { tool_use: [{ name: 'Read', input: { file_path: path } }] };
        return turn === 1 ? { tool_use: [{ name: 'Edit', input }] } : undefined;
      });
      path = indexPath(agentFolder(world.at, 'project', 'scribe'));
      const heard: HookInput[] = [];
      const learn = (input: HookInput) => {
        heard.push(input);
        return {};
      };
      await using session = await openSession({
        ...world.options,
        settings: { ...world.options.settings, agents: { executor } },
        hooks: { MemoryWritten: [{ matcher: 'agent|user', hooks: [learn] }] },
      });
      await drain(session.run('MAIN TASK'));
      await session.remember('Ask before you push.');
      const { change } = await session.remember('Answer in German.', { scope: 'user' });
      await session.remember('Answer in German.', { scope: 'user' });
      expect(heard).toHaveLength(2);
      expect(heard[0]).toMatchObject({
        ...{ hook_event_name: 'MemoryWritten', scope: 'agent', memory_of: 'agent scribe', file_path: path },
        ...{
          source: 'agent',
          lines_added: 2,
          lines_removed: 1,
          agent_type: 'scribe',
          session_id: session.id,
        },
      });
      expect(heard[1]).toMatchObject({
        ...{ scope: 'user', source: 'note', change, lines_removed: 0 },
        file_path: indexPath(scopeFolder(world.at, 'user')),
      });
    },
  );
});

test('EXT-2: the hook MemoryWritten learns of what a session notes by itself', async () => {
  const world = await newWorld((asked) =>
    asked.includes(EXTRACT) ? { text: 'FACT tests: A run takes four minutes.\nNOTE: Begun.' } : undefined,
  );
  const heard: unknown[] = [];
  await using session = await openSession({
    ...world.options,
    background: true,
    settings: { ...world.options.settings, background: { memoryTurns: 1, costShare: 1 } },
    hooks: { MemoryWritten: [{ hooks: [(input) => void heard.push(`${input.source} ${input.scope}`)] }] },
  });
  await drain(session.run('MAIN TASK'));
  await session.background?.idle();
  expect(heard.sort()).toEqual(['extraction project', 'session-notes session']);
});

describe('EXT-2: the hook PreCompact', () => {
  test('learns which lines of the transcript are about to go', async () => {
    const world = await newWorld((asked, turn) => {
      if (asked.includes('about to be replaced by a summary')) return { text: 'SUMMARY' };
      return turn < 3 ? { tool_use: [{ name: 'Read', input: { file_path: 'long.txt' } }] } : undefined;
    });
    world.write(join(world.options.cwd ?? '', 'long.txt'), 'A line of a long file.\n'.repeat(1_500));
    const heard: { input: HookInput; transcript: string[] }[] = [];
    const learn = (input: HookInput) => {
      const transcript = readFileSync(String(input.transcript_path), 'utf8').trim().split('\n');
      heard.push({ input, transcript });
      return {};
    };
    await using session = await openSession({
      ...world.options,
      hooks: { PreCompact: [{ hooks: [learn] }] },
    });
    await drain(session.run('FIRST TASK'));
    expect(await session.compact()).toMatchObject({ compacted: true });
    const [{ input, transcript } = { input: {}, transcript: [] }] = heard;
    const going = Object(input.going);
    expect(input).toMatchObject({ trigger: 'manual', context_tokens: expect.any(Number) });
    expect(going.messages).toBe(going.last_line - going.first_line + 1);
    expect(going.tokens).toBeGreaterThan(5_000);
    const lines = transcript.slice(going.first_line - 1, going.last_line);
    expect(JSON.stringify(lines)).toContain('A line of a long file.');
    expect(lines).toHaveLength(going.messages);
  });
});

/** What hooks learn of a compaction, and what they can do about it. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type CrowdedEngine,
  type CrowdedOptions,
  startCrowdedEngine,
  WINDOW,
} from '../../../test/fixtures/crowded-engine.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { systemClock } from '../../schema/clock.ts';
import { agentId } from '../../schema/ids.ts';
import { createProcessRegister } from '../../system/processes/process-register.ts';
import { HostHooks } from '../hooks/host-hooks.ts';
import { compact } from './compaction.ts';

type Seen = Record<string, unknown>;

const { signal } = new AbortController();

async function hooked(
  event: string,
  answer: (input: Seen) => unknown,
  options: CrowdedOptions = {},
): Promise<CrowdedEngine & { seen: Seen[] }> {
  const seen: Seen[] = [];
  const hook = (input: Seen): unknown => {
    seen.push(input);
    return answer(input);
  };
  const directory = temporaryDirectory();
  const hooks = new HostHooks([{ value: { [event]: [{ hooks: [hook] }] }, source: { label: 'test' } }], {
    ...{ clock: systemClock, environment: {}, projectDirectory: directory },
    processes: createProcessRegister(join(directory, '.processes'), () => {}),
  });
  return Object.assign(await startCrowdedEngine({ ...options, runtime: { hooks } }), { seen });
}

const refuse = () => ({ decision: 'block', reason: 'I still read it' });

describe('EXT-2: the hook PreCompact', () => {
  test('keeps a conversation as it is that was to be compacted on request', async () => {
    const engine = await hooked('PreCompact', refuse, { dumps: 3 });
    await engine.run('Go.');
    const before = engine.agent.conversation;
    const outcome = await compact(engine.agent, { trigger: 'request', instructions: 'Keep names.', signal });
    expect(outcome).toMatchObject({ compacted: false, reason: 'a hook refused it: I still read it' });
    expect(engine.agent.conversation).toBe(before);
    expect(engine.summaries()).toEqual([]);
    expect(engine.seen).toMatchObject([{ trigger: 'manual', custom_instructions: 'Keep names.' }]);
  });

  test('keeps one that has become long, which is asked again only when it has grown', async () => {
    const engine = await hooked('PreCompact', refuse, { dumps: 4 });
    const { result, events } = await engine.run('Go.');
    expect(result.status).toBe('done');
    expect(engine.summaries()).toEqual([]);
    expect(engine.seen).toMatchObject([{ trigger: 'auto', custom_instructions: '' }]);
    expect(events).toContainEqual(expect.objectContaining({ code: 'compaction_failed' }));
  });

  test('does not keep one that no longer fits', async () => {
    const unaware = { contextWindow: 1_000_000 };
    const engine = await hooked('PreCompact', refuse, { contextWindow: WINDOW, spec: unaware });
    const { result } = await engine.run('Go.');
    expect(result.status).toBe('done');
    expect(engine.summaries()).toHaveLength(1);
    expect(engine.seen).toMatchObject([{ trigger: 'auto' }]);
  });
});

describe('EXT-2: the hook SessionStart after a compaction', () => {
  const tell = ({ source }: Seen) => ({
    hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: `told at ${source}` },
  });

  test('adds its context before the next request, behind what the conversation keeps', async () => {
    const engine = await hooked('SessionStart', tell);
    const { result } = await engine.run('Go.');
    expect(result).toMatchObject({ status: 'done', turns: 7 });
    expect(engine.seen).toMatchObject([{ source: 'compact', model: expect.any(String) }]);
    const after = engine.turns()[4]?.request?.messages ?? [];
    expect(JSON.stringify(after.at(-1))).toContain('told at compact');
    expect(JSON.stringify(after.slice(0, -1))).not.toContain('told at compact');
    expect(engine.emulator.requests.every(({ status }) => status === 200)).toBe(true);
  });

  test('does not run for an agent that another one started', async () => {
    const engine = await hooked('SessionStart', tell, { spec: { parent: agentId('testtest', 1) } });
    await engine.run('Go.');
    expect(engine.summaries().length).toBeGreaterThan(0);
    expect(engine.seen).toEqual([]);
  });
});

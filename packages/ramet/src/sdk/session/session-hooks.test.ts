import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { drain } from '../../../test/fixtures/engine.ts';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { listSessions } from '../calls/sessions.ts';
import type { SessionOptions } from '../options.ts';
import { openSession, type Session } from './session.ts';

type Seen = Record<string, unknown>;

/** Sessions of one repository, whose hooks note what they read; `answer` is what each of them answers. */
function place(events: readonly string[], answer: (input: Seen) => unknown = () => ({})) {
  const seen: Seen[] = [];
  const cwd = temporaryRepository();
  const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH, HOME: temporaryDirectory() };
  const hook = (input: Seen): unknown => {
    seen.push(input);
    return answer(input);
  };
  const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [hook] }]]));
  const open = async (options: SessionOptions): Promise<Session> => {
    const session = await openSession({ cwd, env, hooks, ...options });
    onTestFinished(() => session.close());
    return session;
  };
  return { cwd, env, seen, open, sources: () => seen.map(({ source }) => source) };
}

const context = (additionalContext: string, more: object = {}) => ({
  hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext, ...more },
});
const sent = (request: { messages: unknown }): string => JSON.stringify(request.messages);
const look = { text: 'I look.', calls: [{ name: 'Read', input: { file_path: 'long.txt' } }] };

describe('EXT-2: SessionStart', () => {
  test('says whether a session is new, resumed, begun again or begun with the conversation of another', async () => {
    const { open, sources } = place(['SessionStart']);
    const provider = scriptedModel({ text: 'a' }, { text: 'b' }, { text: 'c' }, { text: 'd' });
    const first = await open({ provider });
    await first.ask('One.');
    await first.close();
    const resumed = await open({ provider, resume: first.id });
    await resumed.ask('Two.');
    await resumed.close();
    const forked = await open({ provider, resume: first.id, forkSession: true });
    await forked.ask('Three.');
    await (await open({ provider, startSource: 'clear' })).ask('Four.');
    expect(sources()).toEqual(['startup', 'resume', 'fork', 'clear']);
  });

  test('runs again after a compaction on request, and its context comes with the next prompt', async () => {
    const { cwd, open, sources } = place(['SessionStart'], ({ source }) => context(`told at ${source}`));
    writeFiles(cwd, { 'long.txt': 'A long line of text, again and again.\n'.repeat(800) });
    let last = '';
    const provider = scriptedModel(look, look, look, { text: 'Seen.' }, { text: 'SUMMARY' }, (request) => {
      last = sent(request);
      return { text: 'Gone on.' };
    });
    const session = await open({ provider });
    await drain(session.run('Look.'));
    expect(await session.compact()).toMatchObject({ compacted: true });
    expect(session.hasNews).toBe(false);
    await session.ask('Go on.');
    expect(sources()).toEqual(['startup', 'compact']);
    expect(last).toContain('told at compact');
    expect(last).not.toContain('told at startup');
  });

  test('reads the type of a main agent that has one', async () => {
    const { open, seen } = place(['SessionStart', 'Stop']);
    const agentTypes = { critic: { description: 'finds fault', prompt: 'You find fault.' } };
    const session = await open({ provider: scriptedModel({ text: 'a' }), agent: 'critic', agentTypes });
    await session.ask('One.');
    expect(seen).toMatchObject([
      { hook_event_name: 'SessionStart', agent_type: 'critic' },
      { hook_event_name: 'Stop', agent_type: 'critic' },
    ]);
    expect(seen[0]).not.toHaveProperty('agent_id');
  });

  test('names the session, and says something before the first prompt', async () => {
    const { cwd, env, open } = place(['SessionStart'], () =>
      context('', { sessionTitle: 'Nightly\nround', initialUserMessage: 'Read NEXT.md first.' }),
    );
    const requests: string[] = [];
    const note = (request: { messages: unknown }) => {
      requests.push(sent(request));
      return { text: 'ok' };
    };
    const session = await open({ provider: scriptedModel(note, note) });
    await session.ask('Go.');
    expect(requests[0]).toMatch(/Read NEXT\.md first\..*Go\./);
    await session.ask('Again.');
    expect(requests[1]?.split('Read NEXT.md first.')).toHaveLength(2);
    expect(listSessions({ cwd, env })).toMatchObject([{ title: 'Nightly round' }]);
  });
});

describe('EXT-2: PostCompact, StopFailure and UserPromptExpansion', () => {
  test('PostCompact reads the summary that the conversation has now', async () => {
    const { cwd, open, seen } = place(['PostCompact']);
    writeFiles(cwd, { 'long.txt': 'A long line of text, again and again.\n'.repeat(800) });
    const provider = scriptedModel(look, look, look, { text: 'Seen.' }, { text: 'SUMMARY' });
    const session = await open({ provider });
    await drain(session.run('Look.'));
    expect(await session.compact()).toMatchObject({ compacted: true });
    expect(seen).toMatchObject([
      { hook_event_name: 'PostCompact', trigger: 'manual', compact_summary: 'SUMMARY' },
    ]);
  });

  test('StopFailure reads why a run of the main agent failed, in the place of Stop', async () => {
    const { open, seen } = place(['Stop', 'StopFailure']);
    const session = await open({ provider: scriptedModel(look, look), maxTurns: 1 });
    await drain(session.run('Look.'));
    expect(seen).toMatchObject([
      { hook_event_name: 'StopFailure', error: 'max_turns', last_assistant_message: 'I look.' },
    ]);
    expect(seen[0]?.error_details).toEqual(expect.any(String));
  });

  const command = { '.claude/commands/tidy.md': 'Tidy $ARGUMENTS.' };

  test('UserPromptExpansion reads the command and its words, and adds context', async () => {
    const { env, open, seen } = place(['UserPromptExpansion'], () => ({
      hookSpecificOutput: { hookEventName: 'UserPromptExpansion', additionalContext: 'told with it' },
    }));
    writeFiles(env.HOME, command);
    let last = '';
    const provider = scriptedModel((request) => {
      last = sent(request);
      return { text: 'ok' };
    });
    const session = await open({ provider });
    await drain(session.run('/tidy the desk', { commands: true }));
    expect(seen).toMatchObject([
      {
        ...{ expansion_type: 'slash_command', command_name: 'tidy', command_args: 'the desk' },
        ...{ command_source: 'user', prompt: '/tidy the desk' },
      },
    ]);
    expect(last).toMatch(/Tidy the desk/);
    expect(last).toContain('told with it');
  });

  test('UserPromptExpansion refuses a command before anything of it runs', async () => {
    const { cwd, env, open } = place(['UserPromptExpansion'], () => ({
      decision: 'block',
      reason: 'not today',
    }));
    writeFiles(env.HOME, { '.claude/commands/tidy.md': '!`touch acted`' });
    const session = await open({ provider: scriptedModel(), permissionMode: 'bypassPermissions' });
    const asked = drain(session.run('/tidy', { commands: true }));
    await expect(asked).rejects.toThrow('a hook refused /tidy: not today');
    expect(existsSync(join(cwd, 'acted'))).toBe(false);
  });
});

describe('RES-5: a SessionStart hook that hangs', () => {
  const hangs = (): Promise<never> => new Promise(() => {});

  test('ends when the prompt that waits for it is interrupted', async () => {
    const { open, seen } = place(['SessionStart'], hangs);
    const session = await open({ provider: scriptedModel({ text: 'a' }) });
    const stop = new AbortController();
    const asked = session.ask('One.', { signal: stop.signal });
    await expect.poll(() => seen.length).toBe(1);
    stop.abort('SIGTERM');
    await expect(asked).rejects.toThrow('interrupted');
    expect((await session.ask('Two.')).text).toBe('a');
  });
});

test('EXT-2: UserPromptSubmit names the session, unless the program did', async () => {
  const answer = ({ prompt }: Seen) => ({
    hookSpecificOutput: { hookEventName: 'UserPromptSubmit', sessionTitle: `about ${prompt}` },
  });
  const { cwd, env, open } = place(['UserPromptSubmit'], answer);
  const provider = scriptedModel({ text: 'a' }, { text: 'b' }, { text: 'c' });
  const session = await open({ provider });
  await session.ask('one');
  await session.ask('two');
  await (await open({ provider, title: 'mine' })).ask('three');
  expect(
    listSessions({ cwd, env })
      .map(({ title }) => title)
      .sort(),
  ).toEqual(['about two', 'mine']);
});

test('EXT-2: hooks read the effort of their agent, where one is chosen', async () => {
  const { open, seen } = place(['Stop']);
  await (await open({ provider: scriptedModel({ text: 'a' }), effort: 'low' })).ask('One.');
  await (await open({ provider: scriptedModel({ text: 'a' }) })).ask('One.');
  expect(seen[0]).toMatchObject({ effort: { level: 'low' } });
  expect(seen[1]).not.toHaveProperty('effort');
});

describe('EXT-2: a hook that answers `continue: false`', () => {
  const stop = { continue: false, stopReason: 'not on Fridays' };

  test('at the start of a session refuses the prompt that waited for it, and no later one', async () => {
    const { open } = place(['SessionStart'], () => stop);
    const session = await open({ provider: scriptedModel({ text: 'a' }) });
    await expect(session.ask('One.')).rejects.toThrow(
      'a hook ended the session at its start: not on Fridays',
    );
    expect((await session.ask('Two.')).text).toBe('a');
  });

  test.each(['in-process', 'process'] as const)(
    'at the start of a child keeps it from asking: %s',
    async (executor) => {
      const { open } = place(['SubagentStart'], () => stop);
      const provider = scriptedModel({ text: 'never' });
      const session = await open({ provider });
      const result = await (
        await session.spawn({ subagent_type: 'Explore', prompt: 'Look.', description: 'look', executor })
      ).result;
      expect(result).toMatchObject({
        ...{ status: 'cancelled', cause: 'hook', turns: 0 },
        message: 'a hook ended the agent at its start: not on Fridays',
      });
      expect(provider.requests).toHaveLength(0);
    },
  );
});

test('EXT-2: SubagentStop reads both conversations, and sends the child back to work', async () => {
  const transcripts: string[] = [];
  const { open, seen } = place(['SubagentStop', 'PreToolUse'], ({ hook_event_name: event, ...input }) => {
    if (event === 'PreToolUse') return {};
    const paths = [input.transcript_path, input.agent_transcript_path].map(String);
    transcripts.push(...paths.map((path) => readFileSync(path, 'utf8')));
    return input.stop_hook_active === true ? {} : { decision: 'block', reason: 'Look again.' };
  });
  const task = { description: 'look', prompt: 'CHILD TASK', subagent_type: 'general-purpose' };
  const again: string[] = [];
  const provider = scriptedModel(
    { text: 'I ask.', calls: [{ name: 'Agent', input: task }] },
    { text: 'half' },
    (request) => {
      again.push(sent(request));
      return { text: 'whole' };
    },
    { text: 'done' },
  );
  const session = await open({ provider });
  expect((await session.ask('MAIN TASK')).text).toBe('done');
  expect(again).toEqual([expect.stringContaining('Look again.')]);
  const stops = seen.filter(({ hook_event_name: event }) => event === 'SubagentStop');
  expect(stops).toMatchObject([
    { agent_type: 'general-purpose', stop_hook_active: false, last_assistant_message: 'half' },
    { agent_id: `${session.id}.2`, stop_hook_active: true, last_assistant_message: 'whole' },
  ]);
  const [main, child] = transcripts;
  expect(main).toContain('MAIN TASK');
  expect(main).not.toContain('half');
  expect(child).toContain('half');
  expect(child).not.toContain('MAIN TASK');
  // The main agent's own call.
  expect(seen[0]).toMatchObject({
    hook_event_name: 'PreToolUse',
    transcript_path: stops[0]?.transcript_path,
  });
  expect(seen[0]).not.toHaveProperty('agent_transcript_path');
});

describe('EXT-2: Notification', () => {
  const idle = { message: 'Ramet waits for your next prompt', notification_type: 'idle_prompt' };

  test('says that the prompt waits, a minute after an answer that nobody has answered', async () => {
    const { open, seen } = place(['Notification']);
    const clock = simulatedClock(Date.UTC(2026, 0, 1));
    const provider = scriptedModel({ text: 'a' }, { text: 'b' });
    const session = await open({ provider, clock, attended: true, background: false });
    await session.ask('One.');
    await clock.advance(59_000);
    await session.ask('Two.');
    await clock.advance(59_000);
    expect(seen).toEqual([]);
    await clock.advance(1_000);
    await expect.poll(() => seen).toMatchObject([idle]);
    await clock.advance(600_000);
    expect(seen).toHaveLength(1);
  });

  test('says nothing of it where no person is there', async () => {
    const { open, seen } = place(['Notification']);
    const clock = simulatedClock(Date.UTC(2026, 0, 1));
    const session = await open({ provider: scriptedModel({ text: 'a' }), clock });
    await session.ask('One.');
    await clock.advance(600_000);
    await session.close();
    expect(seen).toEqual([]);
  });
});

describe('EXT-2: SessionEnd', () => {
  test('says why the session ends: what the program gives, or other', async () => {
    const { open, seen } = place(['SessionEnd']);
    await (await open({ provider: scriptedModel() })).close({ reason: 'clear' });
    await (await open({ provider: scriptedModel() })).close();
    await (await open({ provider: scriptedModel() }))[Symbol.asyncDispose]();
    expect(seen.map(({ reason }) => reason)).toEqual(['clear', 'other', 'other']);
  });

  test('refuses a reason that there is not', async () => {
    const { open } = place([]);
    const session = await open({ provider: scriptedModel() });
    // @ts-expect-error: for callers that no compiler checks.
    expect(() => session.close({ reason: 'bored' })).toThrow(/session\.close: the option reason/);
  });
});

import { describe, expect, test } from 'vitest';
import {
  call,
  eventsOf,
  type FamilyOptions,
  lastTexts,
  promptBytes,
  startAgents,
  startFamily,
} from '../../../../test/fixtures/family.ts';
import type { RequestRecord } from '../../../emulator/index.ts';
import { scriptedModel } from '../../../testing/scripted-model.ts';

const SEARCH = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'ramet' } };
const FOUND = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [{ type: 'web_search_result', url: 'https://example.org/a', title: 'A', page_age: null }],
};
const CITED = {
  type: 'text',
  text: 'It is A.',
  citations: [
    {
      type: 'web_search_result_location',
      url: 'https://example.org/a',
      title: 'A',
      encrypted_index: 'x',
      cited_text: 'A',
    },
  ],
};
const ALLOWED: Pick<FamilyOptions, 'permissions'> = { permissions: { allow: ['WebSearch'] } };

function searchTool(record: RequestRecord | undefined): unknown {
  return record?.request?.tools?.find(({ name }) => name === 'web_search');
}

function assistant(record: RequestRecord | undefined): unknown[] {
  return (record?.request?.messages ?? [])
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => content);
}

describe('RES-6: WebSearch', () => {
  test('blocks go back as they came, a pause is continued, and each search stands on the bill', async () => {
    const { run, requestsOf, recordedOf } = await startFamily({
      ...ALLOWED,
      cast: {
        'Go.': [
          { content: [{ type: 'text', text: 'Let me look.' }, SEARCH], stop_reason: 'pause_turn' },
          {
            content: [FOUND, { ...SEARCH, id: 'srvtoolu_2' }, { ...FOUND, tool_use_id: 'srvtoolu_2' }, CITED],
          },
        ],
        'More.': [{ text: 'Done.' }],
      },
    });
    await run('Go.');
    expect((await run('More.')).result.status).toBe('done');
    const [first, second, third] = [...requestsOf('Go.'), ...requestsOf('More.')];
    expect(searchTool(first)).toEqual({ type: 'web_search_20250305', name: 'web_search', max_uses: 8 });
    expect(second?.request?.messages.at(-1)?.role).toBe('assistant');
    const sent = assistant(third).flat();
    expect(sent).toMatchObject([
      { text: 'Let me look.' },
      SEARCH,
      FOUND,
      { id: 'srvtoolu_2' },
      { tool_use_id: 'srvtoolu_2' },
      CITED,
    ]);
    expect(JSON.stringify(sent)).toMatch(/"encrypted_content":"emu-search\./);
    const answers = eventsOf(recordedOf(1), 'response.completed');
    expect(answers.map(({ usage }) => usage?.web_search_requests)).toEqual([1, 1, undefined]);
    const [{ costUsd = null } = {}] = answers;
    expect(costUsd).toBeGreaterThan(0.01);
  });

  const PAUSED = { content: [{ type: 'text', text: 'Let me look.' }, SEARCH], stop_reason: 'pause_turn' };

  test('a notice that is due while the provider pauses does not come between a search and its result', async () => {
    const { run, requestsOf } = await startFamily({
      ...{ ...ALLOWED, maxTurns: 1 },
      cast: { 'Go.': [PAUSED, { content: [FOUND, CITED] }] },
    });
    expect((await run('Go.')).result).toMatchObject({ cause: 'max_turns', text: 'Let me look.It is A.' });
    expect(requestsOf('Go.')[1]?.request?.messages.at(-1)?.role).toBe('assistant');
  });

  test.for(['it is interrupted', 'the provider pauses without end'])(
    'a search whose result never comes, since %s, does not keep the next prompt from an answer',
    async (why) => {
      const reached = Promise.withResolvers<void>();
      const abort = new AbortController();
      const pauses = [1, 2, 3, 4].map((id) => ({
        ...PAUSED,
        content: [{ ...SEARCH, id: `srvtoolu_${id}` }],
      }));
      const waits = () => {
        reached.resolve();
        return new Promise<never>(() => {});
      };
      const cast = {
        'Go.': why.startsWith('it') ? [PAUSED, waits] : pauses,
        'More.': [startAgents(['child'], {}), { text: 'Done.' }],
        child: [{ text: 'Scope: child.' }],
      };
      const scene = await startFamily({ ...ALLOWED, cast });
      const running = scene.run('Go.', { signal: abort.signal });
      if (why.startsWith('it')) {
        await reached.promise;
        abort.abort('interrupt');
      }
      expect((await running).result.status).not.toBe('done');
      expect((await scene.run('More.')).result).toMatchObject({ status: 'done', text: 'Done.' });
      const again = await scene.reopen({ 'Last.': [{ text: 'Here.' }] });
      expect((await again.run('Last.')).result).toMatchObject({ status: 'done', text: 'Here.' });
    },
  );

  test('RES-7: a conversation whose last answer has searched is compacted on request', async () => {
    const long = 'It is A. '.repeat(4_000);
    const { run, session } = await startFamily({
      ...ALLOWED,
      cast: {
        'Go.': [PAUSED, { content: [FOUND, { type: 'text', text: long }] }],
        'More.': [{ content: [SEARCH, FOUND, CITED] }],
        'This conversation is about to be replaced': () => ({ text: 'SUMMARY' }),
      },
    });
    await run('Go.');
    await run('More.');
    expect(await session.compact()).toMatchObject({ compacted: true, summary: 'SUMMARY' });
  });

  test('an interrupted search is continued with the run that it is of', async () => {
    const reached = Promise.withResolvers<void>();
    const abort = new AbortController();
    let isOver = false;
    const waits = () => {
      reached.resolve();
      return isOver ? { content: [FOUND, CITED] } : new Promise<never>(() => {});
    };
    const scene = await startFamily({ ...ALLOWED, cast: { 'Go.': [PAUSED, waits, waits] } });
    const running = scene.run('Go.', { signal: abort.signal });
    await reached.promise;
    abort.abort('interrupt');
    expect((await running).result.status).toBe('interrupted');
    isOver = true;
    const again = await scene.reopen();
    expect((await again.run(null)).result).toMatchObject({ status: 'done', text: 'Let me look.It is A.' });
  });

  test.for<[string, NonNullable<FamilyOptions['permissions']>]>([
    ['a rule denies it', { allow: ['WebSearch'], deny: ['WebSearch'] }],
    ['no rule allows it', {}],
  ])('SEC-1: an interrupted search is not continued where %s by then', async ([, permissions]) => {
    const reached = Promise.withResolvers<void>();
    const abort = new AbortController();
    let isOver = false;
    const waits = () => {
      reached.resolve();
      return isOver ? { text: 'I could not look.' } : new Promise<never>(() => {});
    };
    const cast = { 'Go.': [PAUSED, waits, waits], 'More.': [{ text: 'Done.' }] };
    const scene = await startFamily({ ...ALLOWED, cast });
    const running = scene.run('Go.', { signal: abort.signal });
    await reached.promise;
    abort.abort('interrupt');
    expect((await running).result.status).toBe('interrupted');
    isOver = true;
    const again = await scene.reopen(cast, { permissions });
    const { result, events } = await again.run(null);
    expect(result).toMatchObject({ status: 'done', text: 'Let me look.I could not look.' });
    expect(events).toContainEqual(expect.objectContaining({ type: 'warning', code: 'search_stopped' }));
    const last = again.requestsOf('Go.').at(-1);
    expect(searchTool(last)).toBeUndefined();
    expect(assistant(last).flat()).toMatchObject([
      { text: 'Let me look.' },
      SEARCH,
      { tool_use_id: SEARCH.id, content: { type: 'web_search_tool_result_error' } },
    ]);
    expect(lastTexts(last)[0]).toContain('the rules no longer allow searching the web');
    expect((await again.run('More.')).result).toMatchObject({ status: 'done', text: 'Done.' });
  });

  test('without a rule that allows it the bytes are what they were, and a rule against it wins', async () => {
    const scene = { cast: { 'Go.': [{ text: 'Done.' }] } };
    const heads: string[] = [];
    for (const permissions of [{}, { allow: ['WebSearch'], deny: ['WebSearch'] }, { deny: ['WebSearch'] }]) {
      const { run, requestsOf } = await startFamily({ ...scene, permissions });
      await run('Go.');
      const { tools, system } = requestsOf('Go.')[0]?.request ?? {};
      expect(tools?.some(({ name }) => name === 'web_search')).toBe(false);
      heads.push(JSON.stringify({ tools, system }));
    }
    expect(new Set(heads).size).toBe(1);
  });

  test('domains of rules are its limits', async () => {
    const tools = async (permissions: NonNullable<FamilyOptions['permissions']>): Promise<unknown> => {
      const { run, requestsOf } = await startFamily({ permissions, cast: { 'Go.': [{ text: 'Done.' }] } });
      await run('Go.');
      return searchTool(requestsOf('Go.')[0]);
    };
    expect(
      await tools({
        allow: [
          'WebSearch(domain:b.example)',
          'WebSearch(domain:*.a.example)',
          'WebSearch(domain:x.bad.example)',
        ],
        deny: ['WebSearch(domain:bad.example)'],
      }),
    ).toMatchObject({ allowed_domains: ['a.example', 'b.example'] });
    expect(await tools({ allow: ['WebSearch'], deny: ['WebSearch(domain:bad.example)'] })).toMatchObject({
      blocked_domains: ['bad.example'],
    });
  });

  test('SEC-1: a denied domain below an allowed one is not searched', async () => {
    const start = async (...allow: string[]) => {
      const { run, requestsOf, session } = await startFamily({
        permissions: { allow, deny: ['WebSearch(domain:secret.a.example)'] },
        cast: { 'Go.': [{ text: 'Done.' }] },
      });
      await run('Go.');
      return { tool: searchTool(requestsOf('Go.')[0]), notices: session.notices.join('\n') };
    };
    const beside = await start('WebSearch(domain:a.example)', 'WebSearch(domain:b.example)');
    expect(beside.tool).toMatchObject({ allowed_domains: ['b.example'] });
    expect(beside.notices).toContain(
      'WebSearch does not search a.example: rules deny a domain below a.example',
    );
    const alone = await start('WebSearch(domain:a.example)');
    expect(alone.tool).toBeUndefined();
    expect(alone.notices).toContain('WebSearch is not offered: rules deny a domain below a.example');
  });

  test('a rule that asks, or a provider without it, keeps it away and says why', async () => {
    const asked = await startFamily({
      permissions: { allow: ['WebSearch'], ask: ['WebSearch'] },
      cast: { 'Go.': [{ text: 'Done.' }] },
    });
    await asked.run('Go.');
    expect(searchTool(asked.requestsOf('Go.')[0])).toBeUndefined();
    expect(asked.session.notices.join('\n')).toContain('WebSearch is not offered: the rule WebSearch would');
    const other = await startFamily({
      ...ALLOWED,
      provider: scriptedModel(),
      cast: { 'Go.': [{ text: 'Done.' }] },
    });
    expect(other.session.notices.join('\n')).toContain(
      'WebSearch is not offered: the provider scripted does not search',
    );
  });

  type Narrower = [label: string, permissions: NonNullable<FamilyOptions['permissions']>, expected?: object];
  test.for<Narrower>([
    ['a rule that denies it', { allow: ['WebSearch'], deny: ['WebSearch'] }],
    ['rules that no longer allow it', {}],
    [
      'a rule that denies a domain',
      { allow: ['WebSearch'], deny: ['WebSearch(domain:bad.example)'] },
      { blocked_domains: ['bad.example'] },
    ],
  ])('SEC-1: %s counts for a resumed session and its agents', async ([, permissions, expected]) => {
    const cast = {
      'Go.': [startAgents(['child'], { subagent_type: 'general-purpose', name: 'scout' }), { text: 'Done.' }],
      child: [
        { content: [SEARCH, FOUND, { type: 'text', text: 'Scope: found.' }] },
        { text: 'Scope: more.' },
      ],
      'More.': [
        call('SendMessage', { to: 'scout', message: 'And then?' }),
        { text: 'I wait.' },
        { text: 'Heard.' },
      ],
      'Again.': [{ text: 'Same.' }],
    };
    const family = await startFamily({ ...ALLOWED, cast });
    await family.run('Go.');
    expect(searchTool(family.requestsOf('child')[0])).toBeDefined();
    const again = await family.reopen(cast, {
      permissions,
    });
    expect((await again.run('More.')).result).toMatchObject({ status: 'done', text: 'Heard.' });
    const later = [...again.requestsOf('More.'), ...again.requestsOf('child').slice(1)];
    expect(later.length).toBeGreaterThan(3);
    for (const record of later) {
      const tool = searchTool(record);
      if (expected === undefined) expect(tool).toBeUndefined();
      else expect(tool).toMatchObject(expected);
    }
    const names = (record: RequestRecord | undefined) =>
      record?.request?.tools?.map(({ name }) => name).filter((name) => name !== 'web_search');
    expect(names(later[0])).toEqual(names(again.requestsOf('Go.')[0]));
    // It is on record: the next resume begins with these bytes.
    const third = await again.reopen(cast, {
      permissions,
    });
    expect((await third.run('Again.')).result.status).toBe('done');
    expect(third.requestsOf('Again.')[0]?.request?.tools).toEqual(later[0]?.request?.tools);
    expect(eventsOf(third.recordedOf(1), 'conversation.replaced')).toMatchObject([{ cause: 'rules' }]);
  });

  test('with the same rules a resumed session has the same bytes', async () => {
    const family = await startFamily({
      ...ALLOWED,
      cast: { 'Go.': [{ text: 'Done.' }], 'More.': [{ text: 'Done.' }] },
    });
    await family.run('Go.');
    const again = await family.reopen();
    await again.run('More.');
    expect(searchTool(again.requestsOf('More.')[0])).toBeDefined();
    expect(eventsOf(again.recordedOf(1), 'conversation.replaced')).toEqual([]);
  });

  test('a pattern of subdomains is told to be wider', async () => {
    const { run, session, requestsOf } = await startFamily({
      permissions: { allow: ['WebSearch(domain:*.example.org)'] },
      cast: { 'Go.': [{ text: 'Done.' }] },
    });
    await run('Go.');
    expect(searchTool(requestsOf('Go.')[0])).toMatchObject({ allowed_domains: ['example.org'] });
    expect(session.notices.join('\n')).toContain('WebSearch searches example.org too');
  });

  test('forks share its bytes, and agent files name it', async () => {
    const { run, requestsOf } = await startFamily({
      ...ALLOWED,
      home: {
        'agents/finder.md': '---\nname: finder\ndescription: d\ntools: Read, WebSearch\n---\nYou.\n',
        'agents/plain.md': '---\nname: plain\ndescription: d\ntools: Read\n---\nYou.\n',
        'agents/reader.md':
          '---\nname: reader\ndescription: d\nreadOnly: true\ntools: Read, WebSearch\n---\nYou.\n',
      },
      cast: {
        'Go.': [
          startAgents(['fork']),
          startAgents(['finder'], { subagent_type: 'finder' }),
          startAgents(['plain'], { subagent_type: 'plain' }),
          startAgents(['reader'], { subagent_type: 'reader' }),
          { text: 'Done.' },
        ],
        fork: [{ content: [SEARCH, FOUND, CITED] }],
        finder: [{ content: [SEARCH, FOUND, { type: 'text', text: 'Scope: found.' }] }],
        plain: [{ text: 'Scope: plain.' }],
        reader: [{ text: 'Scope: reader.' }],
      },
    });
    await run('Go.');
    const [main] = requestsOf('Go.');
    const [fork] = requestsOf('fork');
    expect(fork && main && promptBytes(fork).startsWith(promptBytes(main).slice(0, 4_000))).toBe(true);
    expect(requestsOf('finder')[0]?.request?.tools?.map(({ name }) => name)).toEqual(['Read', 'web_search']);
    expect(requestsOf('plain')[0]?.request?.tools?.map(({ name }) => name)).toEqual(['Read']);
    expect(requestsOf('reader')[0]?.request?.tools?.map(({ name }) => name)).toEqual(['Read', 'web_search']);
  });

  test('EXEC-2: an agent in a process of its own has it too', async () => {
    const { run, requestsOf, recordedOf } = await startFamily({
      ...ALLOWED,
      agents: { executor: 'process' },
      cast: {
        'Go.': [startAgents(['child'], { subagent_type: 'general-purpose' }), { text: 'Done.' }],
        child: [
          { content: [SEARCH], stop_reason: 'pause_turn' },
          { content: [{ ...FOUND }, { type: 'text', text: 'Scope: found.' }] },
        ],
      },
    });
    await run('Go.');
    expect(searchTool(requestsOf('child')[0])).toBeDefined();
    expect(requestsOf('child')).toHaveLength(2);
    expect(
      eventsOf(recordedOf(2), 'response.completed').map(({ usage }) => usage?.web_search_requests),
    ).toEqual([1, undefined]);
  });

  test('a call by our own name is told what to use', async () => {
    const { run, requestsOf } = await startFamily({
      ...ALLOWED,
      cast: { 'Go.': [call('WebSearch', { query: 'x' }), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(lastTexts(requestsOf('Go.')[1])[0]).toContain('web_search is a tool of the provider');
  });
});

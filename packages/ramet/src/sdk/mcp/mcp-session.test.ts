import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  call,
  eventsOf,
  type FamilyOptions,
  lastTexts,
  promptBytes,
  startAgents,
  startFamily,
} from '../../../test/fixtures/family.ts';
import { startAuthorizationServer } from '../../../test/fixtures/mcp/authorization-server.ts';
import { startHttpServer } from '../../../test/fixtures/mcp/http-server.ts';
import { LINE_SERVER } from '../../../test/fixtures/mcp/servers.ts';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import type { RequestRecord } from '../../emulator/index.ts';
import { logIn } from '../../extensions/mcp/login.ts';
import { secretsOf } from '../../extensions/mcp/server-config.ts';
import { isGroupAlive } from '../../system/processes/process-group.ts';
import { createRedactor } from '../../tools/redaction/redact.ts';
import { changeTrust } from '../calls/trust.ts';

const FRESH = { subagent_type: 'general-purpose' };
const REPORT = { text: 'Scope: child. Done.' };
const ALLOWED: Pick<FamilyOptions, 'permissionMode' | 'permissions'> = {
  permissionMode: 'default',
  permissions: { allow: ['mcp__line'] },
};

interface LineOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

function line(manner = 'good', option = '', env: Record<string, string> = {}): LineOptions {
  return { command: process.execPath, args: [LINE_SERVER, manner, option], env };
}

/** A call of a tool of a server. */
function mcp(tool: string, input: Record<string, unknown> = {}): ReturnType<typeof call> {
  return call('McpCall', { tool, arguments: input });
}

function offered(record: RequestRecord | undefined): string[] {
  return (record?.request?.tools ?? []).map(({ name }) => name);
}

/** Tools and system of a request as they were sent. */
function headOf(record: RequestRecord | undefined): string {
  const { tools, system } = record?.request ?? {};
  return JSON.stringify({ tools, system });
}

function pidsIn(file: string): number[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
}

describe('EXT-4: MCP servers in a session', () => {
  test('a tool is found, described and called through the two fixed tools', async () => {
    const { run, requestsOf, recordedOf } = await startFamily({
      ...ALLOWED,
      mcpServers: { line: line() },
      cast: {
        'Go.': [
          call('McpSearch', { query: 'add numbers' }),
          mcp('mcp__line__add', { a: 20, b: 22 }),
          { text: 'Done.' },
        ],
      },
    });
    const { events } = await run('Go.');
    const [first, second, third] = requestsOf('Go.');
    expect(offered(first).slice(-2)).toEqual(['McpSearch', 'McpCall']);
    expect(lastTexts(first).join('\n')).toContain('MCP servers: line.');
    expect(lastTexts(second)[0]).toContain('mcp__line__add\nAdds two numbers.\narguments: {"type":"object"');
    expect(lastTexts(third)).toEqual(['42']);
    const started = eventsOf(recordedOf(1), 'tool.started').map(({ name }) => name);
    expect(started).toEqual(['McpSearch', 'mcp__line__add']);
    const told = events.flatMap((event) => (event.type === 'tool_started' ? [event.call] : []));
    expect(told.at(-1)).toMatchObject({ name: 'mcp__line__add', input: { a: 20, b: 22 } });
  });

  test('LIB-1: a program sees how each server is, as it is now', async () => {
    const { run, session } = await startFamily({
      permissionMode: 'bypassPermissions',
      mcpServers: { line: line(), idle: line('good', 'other'), broken: { command: '/no/such/server' } },
      cast: {
        'Go.': [mcp('mcp__line__echo', { text: 'hi' }), mcp('mcp__broken__x'), { text: 'Done.' }],
      },
    });
    const standings = (): unknown =>
      Object.fromEntries(session.mcpServers.map(({ name, status }) => [name, status]));
    expect(standings()).toEqual({ line: 'pending', idle: 'pending', broken: 'pending' });
    await run('Go.');
    expect(standings()).toEqual({ line: 'connected', idle: 'pending', broken: 'failed' });
  });

  test('a child learns the names of servers alone: each word is paid for again', async () => {
    const { run, requestsOf } = await startFamily({
      ...ALLOWED,
      mcpServers: { line: line() },
      cast: {
        'Go.': [call('McpSearch', { query: '*' }), startAgents(['child'], FRESH), { text: 'Done.' }],
        child: [REPORT],
      },
    });
    await run('Go.');
    const told = JSON.stringify(requestsOf('child')[0]?.request?.messages);
    expect(told).toContain('MCP servers: line. McpSearch finds their tools.');
    expect(told).not.toContain('line: add, echo');
  });

  test('a call by the name of the tool alone means the same', async () => {
    const { run, requestsOf } = await startFamily({
      ...ALLOWED,
      mcpServers: { line: line() },
      cast: { 'Go.': [call('mcp__line__echo', { text: 'hi' }), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(lastTexts(requestsOf('Go.')[1])).toEqual(['echo: hi']);
  });

  test('a wrong name answers with near names, wrong arguments with the schema', async () => {
    const { run, requestsOf } = await startFamily({
      ...ALLOWED,
      mcpServers: { line: line() },
      cast: {
        'Go.': [
          mcp('mcp__line__ecko', { text: 'x' }),
          mcp('mcp__line__add', { a: 1 }),
          mcp('mcp__other__x'),
          { text: 'Done.' },
        ],
      },
    });
    await run('Go.');
    const [, second, third, fourth] = requestsOf('Go.').map(lastTexts);
    expect(second?.[0]).toMatch(/no tool mcp__line__ecko\. Did you mean mcp__line__echo\?/);
    expect(third?.[0]).toMatch(/was not called: b is missing\.\narguments: \{.*"required":\["a","b"\]/);
    expect(fourth?.[0]).toContain('The servers are line');
  });

  const WRONG_NAMES = [
    'line__echo',
    'echo',
    'mcp_line_echo',
    ' mcp__line__echo',
    'mcp__LINE__echo',
    'mcp__line_echo',
  ];
  test.each(['default', 'dontAsk', 'plan', 'bypassPermissions'] as const)(
    'a wrong name is answered with the right one in the mode %s, and nobody is asked about it',
    async (permissionMode) => {
      const asked: unknown[] = [];
      const { run, requestsOf } = await startFamily({
        mcpServers: { line: line() },
        permissionMode,
        canUseTool: (question) => asked.push(question) === 0,
        cast: {
          'Go.': [
            call('McpSearch', { query: 'echo' }),
            ...WRONG_NAMES.map((name) => mcp(name, { text: 'x' })),
            { text: 'Done.' },
          ],
        },
      });
      await run('Go.');
      const answers = requestsOf('Go.')
        .slice(2)
        .map((request) => lastTexts(request)[0]);
      expect(answers).toEqual(
        WRONG_NAMES.map(() => expect.stringContaining('Did you mean mcp__line__echo?')),
      );
      expect(asked).toEqual([]);
    },
  );

  test('a name without its prefix is answered with the whole one before the server was asked', async () => {
    const { run, requestsOf } = await startFamily({
      mcpServers: { line: line() },
      cast: { 'Go.': [mcp('line__echo', { text: 'x' }), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(lastTexts(requestsOf('Go.')[1])[0]).toContain('Did you mean mcp__line__echo?');
  });

  test.each([
    [{ input: { text: 'hi' } }, 'unknown field input'],
    [{ params: { text: 'hi' } }, 'unknown field params'],
    [{ text: 'hi' }, 'unknown field text'],
    [{ arguments: { text: 'hi' }, words: 1, text: 'x' }, 'unknown field words, text'],
  ])('a call with arguments elsewhere is refused, and nobody is asked: %j', async (fields, problem) => {
    const asked: string[] = [];
    const { run, requestsOf } = await startFamily({
      permissionMode: 'default',
      canUseTool: ({ tool }) => {
        asked.push(tool);
        return true;
      },
      mcpServers: { line: line() },
      cast: {
        'Go.': [
          call('McpCall', { tool: 'mcp__line__echo', ...fields }),
          mcp('mcp__line__echo', { text: 'hi' }),
          { text: 'Done.' },
        ],
      },
    });
    const { events } = await run('Go.');
    const [, second, third] = requestsOf('Go.');
    expect(lastTexts(second)).toEqual([
      `Wrong input for McpCall: ${problem}. Fields: tool (string), arguments? (object). Nothing was called: put what the tool takes into arguments, {"tool": "...", "arguments": {...}}.`,
    ]);
    expect(lastTexts(third)).toEqual(['echo: hi']);
    expect(asked).toEqual(['mcp__line__echo']);
    const ended = events.flatMap((event) => (event.type === 'tool_completed' ? [event.result.is_error] : []));
    expect(ended).toEqual([true, undefined]);
  });

  test('a rule that denies McpCall denies every call of a server', async () => {
    const { run, requestsOf } = await startFamily({
      mcpServers: { line: line() },
      permissions: { allow: ['mcp__line'], deny: ['McpCall'] },
      cast: { 'Go.': [mcp('mcp__line__echo', { text: 'x' }), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(lastTexts(requestsOf('Go.')[1])[0]).toContain('McpCall');
    expect(lastTexts(requestsOf('Go.')[1])[0]).not.toContain('echo: x');
  });

  test.each(['', ' \n'])('a failure without a word says that the call failed: %j', async (option) => {
    const { run, requestsOf } = await startFamily({
      ...ALLOWED,
      mcpServers: { line: line('wordless', option) },
      cast: { 'Go.': [mcp('mcp__line__echo', { text: 'x' }), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(lastTexts(requestsOf('Go.')[1])[0]).toMatch(
      /^mcp__line__echo failed: its server says so, and does not say why\.\narguments: \{/,
    );
  });

  test('resources are read through the fixed tool', async () => {
    const { run, requestsOf } = await startFamily({
      ...ALLOWED,
      mcpServers: { line: line() },
      cast: {
        'Go.': [
          call('McpSearch', { query: 'note' }),
          mcp('mcp__line__read_resource', { uri: 'note://one' }),
          { text: 'Done.' },
        ],
      },
    });
    await run('Go.');
    const [, second, third] = requestsOf('Go.').map(lastTexts);
    expect(second?.[0]).toContain('line: note://one one');
    expect(third).toEqual(['about note://one']);
  });

  test('a prompt of a server is asked for by /mcp__server__prompt', async () => {
    const scene = await startFamily({
      mcpServers: { line: line() },
      cast: { Greet: [{ text: 'Done.' }], '/mcp__other__x': [{ text: 'Done.' }] },
    });
    await scene.run('/mcp__line__greet Bob "and Eve"', { commands: true });
    expect(lastTexts(scene.requestsOf('Greet')[0]).at(-1)).toBe('Greet Bob "and Eve".');
    await expect(scene.run('/mcp__line__greet', { commands: true })).rejects.toThrow(
      '/mcp__line__greet needs who: write /mcp__line__greet who',
    );
    await expect(scene.run('/mcp__line__gret x', { commands: true })).rejects.toThrow(
      'did you mean /mcp__line__greet?',
    );
    await scene.run('/mcp__other__x', { commands: true });
    expect(scene.requestsOf('/mcp__other__x')).toHaveLength(1);
  });

  test('@server:uri in a typed prompt attaches the resource; one that there is not ends the prompt', async () => {
    const scene = await startFamily({
      mcpServers: { line: line() },
      cast: { look: [{ text: 'Done.' }, { text: 'Done.' }, { text: 'Done.' }] },
    });
    await scene.run('look at @line:note://one, and @other:note://one', { typed: true });
    const [texts] = scene.requestsOf('look').map(lastTexts);
    expect(texts?.join('\n')).toMatch(/<attached-resource path="line:note:\/\/one">\nabout note:\/\/one/);
    expect(texts?.join('\n')).not.toContain('path="other');
    await expect(scene.run('look at @line:note://none', { typed: true })).rejects.toThrow(
      /^@line:note:\/\/none: /,
    );
    await scene.run('look at @line:note://one', {});
    expect(lastTexts(scene.requestsOf('look')[1]).join()).not.toContain('attached-resource');
  });

  test('@server:uri names a server as it is configured too; one that is called so comes first', async () => {
    const scene = await startFamily({
      mcpServers: { 'my.db': line(), my_db: line('good', 'other') },
      cast: { look: [{ text: 'Done.' }, { text: 'Done.' }] },
    });
    await scene.run('look at @my.db:note://one.', { typed: true });
    expect(lastTexts(scene.requestsOf('look')[0]).join('\n')).toMatch(
      /<attached-resource path="my\.db:note:\/\/one">\nabout note:\/\/one/,
    );
    const [started] = eventsOf(scene.recordedOf(1), 'tool.started').map(({ name }) => name);
    expect(started).toMatch(/^mcp__my_db_\w+__read_resource$/);
    await expect(scene.run('look at @my.db:note://none', { typed: true })).rejects.toThrow(
      /^@my\.db:note:\/\/none: /,
    );
    await scene.run('look at @my_db:note://one', { typed: true });
    expect(eventsOf(scene.recordedOf(1), 'tool.started').at(-1)?.name).toBe('mcp__my_db__read_resource');
  });

  test.for([
    ['/nosuch', 'there is no skill or command /nosuch: there are /triage'],
    ['/triaje it', 'there is no skill or command /triaje: did you mean /triage?'],
  ] as const)('a typed %s that nobody has is an error', async ([prompt, message]) => {
    const scene = await startFamily({
      home: { 'commands/triage.md': 'Triage it.' },
      cast: { '/tmp is full': [{ text: 'Done.' }] },
    });
    await expect(scene.run(prompt, { commands: true, typed: true })).rejects.toThrow(message);
    await scene.run('/tmp is full', { commands: true, typed: true });
    expect(scene.requestsOf('/tmp is full')).toHaveLength(1);
  });

  test('pictures pass through, a long answer is kept in a file', async () => {
    const { run, requestsOf } = await startFamily({
      permissions: { allow: ['mcp__line', 'mcp__long'] },
      mcpServers: { line: line(), long: line('long') },
      cast: {
        'Go.': [
          mcp('mcp__line__echo', { text: 'picture' }),
          mcp('mcp__long__echo', { text: 'x' }),
          { text: 'Done.' },
        ],
      },
    });
    await run('Go.');
    const [, second, third] = requestsOf('Go.');
    expect(JSON.stringify(second?.request?.messages.at(-1))).toContain('"media_type":"image/png"');
    const text = JSON.stringify(third?.request?.messages.at(-1));
    const [, file = ''] = /Read (\S+) for the rest/.exec(text) ?? [];
    expect(text.length).toBeLessThan(40_000);
    expect(readFileSync(file, 'utf8')).toMatch(/^begin .* end$/s);
  });

  test('secrets of a configuration stay out of results', async () => {
    const { run, requestsOf } = await startFamily({
      permissions: { allow: ['mcp__line'] },
      mcpServers: { line: line('secret', '', { SERVICE_TOKEN: 'tk-83nd8Ab2xq' }) },
      cast: { 'Go.': [mcp('mcp__line__echo', { text: 'x' }), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(lastTexts(requestsOf('Go.')[1])[0]).toBe('token [redacted: SERVICE_TOKEN] key absent');
  });

  test('SEC-1: what a name says is a secret is one, also in the middle of the name', () => {
    const secret = 'hunter2-83nd8Ab2xq';
    const names = [
      'PGPASSWORD',
      'MYSECRET',
      'SecretKey',
      'MYSQL_PWD',
      'CLIENT_SECRET',
      'DB_PASSWORD',
      'authToken',
    ];
    for (const name of names) {
      const config = { type: 'stdio', command: 's', args: [], env: { [name]: secret } } as const;
      expect(createRedactor(secretsOf(config))(`it is ${secret}.`), name).toMatch(
        /^it is \[redacted: \w+\]\.$/,
      );
    }
    const url = { type: 'http', url: `https://a.example/mcp?mykey=${secret}`, headers: {} } as const;
    expect(createRedactor(secretsOf(url))(secret)).toBe('[redacted: MYKEY_TOKEN]');
    const plain = {
      type: 'stdio',
      command: 's',
      args: [],
      env: { DB_URL: 'postgres://localhost/app1' },
    } as const;
    expect(createRedactor(secretsOf(plain))('postgres://localhost/app1')).toBe('postgres://localhost/app1');
  });

  test('SEC-1: tokens for a server over HTTP stay out of conversations and journals', async () => {
    await using authority = await startAuthorizationServer();
    await using open = await startHttpServer({ refuse: authority.refuse });
    await using plain = await startHttpServer();
    const { run, requestsOf, home, session } = await startFamily({
      permissions: { allow: ['mcp__login', 'mcp__header'] },
      mcpServers: {
        login: { type: 'http', url: open.url },
        header: { type: 'http', url: plain.url, headers: { Authorization: 'Bearer hd-83nd8Ab2xq' } },
      },
      cast: {
        'Go.': [
          mcp('mcp__login__whoami', { text: 'x' }),
          mcp('mcp__header__whoami', { text: 'x' }),
          { text: 'Done.' },
        ],
      },
    });
    await logIn(
      { type: 'http', url: open.url, headers: {} },
      { home, visit: (url) => void authority.visit(url), signal: new AbortController().signal },
    );
    await run('Go.');
    const [, second, third] = requestsOf('Go.').map(lastTexts);
    expect(second).toEqual(['you sent Bearer [redacted: LOGIN_0_TOKEN]']);
    expect(third).toEqual(['you sent Bearer [redacted: Authorization_TOKEN]']);
    await session[Symbol.asyncDispose]();
    const [token = 'none'] = authority.good;
    const kept = readdirSync(home, { recursive: true, withFileTypes: true }).filter(
      (one) => one.isFile() && !one.parentPath.endsWith('/mcp'),
    );
    expect(kept.length).toBeGreaterThan(0);
    for (const { parentPath, name } of kept)
      expect(readFileSync(join(parentPath, name), 'latin1')).not.toMatch(
        new RegExp(`hd-83nd8Ab2xq|${token}`),
      );
  });

  test('without a server the bytes are those of a session without the option', async () => {
    const scene: FamilyOptions = { cast: { 'Go.': [{ text: 'Done.' }] } };
    const [plain, empty] = [await startFamily(scene), await startFamily({ ...scene, mcpServers: {} })];
    await plain.run('Go.');
    await empty.run('Go.');
    expect(offered(empty.requestsOf('Go.')[0])).not.toContain('McpSearch');
    expect(headOf(empty.requestsOf('Go.')[0])).toBe(headOf(plain.requestsOf('Go.')[0]));
  });

  test('a server that does not start costs only its own tools', async () => {
    const { run, requestsOf } = await startFamily({
      ...ALLOWED,
      mcpServers: { line: line(), broken: line('crash') },
      cast: { 'Go.': [call('McpSearch', { query: 'echo' }), { text: 'Done.' }] },
    });
    await run('Go.');
    const [found] = lastTexts(requestsOf('Go.')[1]);
    expect(found).toContain('mcp__line__echo');
    expect(found).toContain('Not asked: the MCP server broken did not start: it ended with code 1');
  });
});

describe('RES-3: permission', () => {
  test('rules know the tool by its own name; a hint of the server grants nothing', async () => {
    const { run, requestsOf } = await startFamily({
      permissionMode: 'default',
      permissions: { allow: ['mcp__line__add'], deny: ['mcp__other__*'] },
      mcpServers: { line: line(), other: line('good', 'other') },
      cast: {
        'Go.': [
          mcp('mcp__line__add', { a: 1, b: 2 }),
          mcp('mcp__line__echo', { text: 'x' }),
          mcp('mcp__other__add', { a: 1, b: 2 }),
          { text: 'Done.' },
        ],
      },
    });
    await run('Go.');
    const [, allowed, open, denied] = requestsOf('Go.').map(lastTexts);
    expect(allowed).toEqual(['3']);
    expect(open?.[0]).toMatch(
      /mcp__line__echo is not permitted.*--allowedTools "mcp__line__echo"|mcp__line__echo is not permitted/s,
    );
    expect(denied?.[0]).toContain('mcp__other__*');
  });

  test.each<[name: string, deny: string]>([
    ['my__db', 'mcp__my__db'],
    ['my__db', 'mcp__my__db__*'],
    ['my__db', 'mcp__my__db__echo'],
    ['my.db', 'mcp__my.db'],
    ['my db', 'mcp__my db__echo'],
  ])('SEC-1: the server %s is denied as it is configured: %s', async (name, deny) => {
    const { run, requestsOf } = await startFamily({
      permissionMode: 'bypassPermissions',
      permissions: { deny: [deny] },
      mcpServers: { [name]: line() },
      cast: { 'Go.': [mcp('mcp__my_db__echo', { text: 'x' }), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(lastTexts(requestsOf('Go.')[1])[0]).toContain(`mcp__my_db__echo is denied by the rule ${deny}`);
  });

  test('a server is allowed as it is configured, in a process of its own too; where two can be meant, neither is', async () => {
    const echo = (text: string): ReturnType<typeof mcp> => mcp('mcp__my_db__echo', { text });
    const scene: FamilyOptions = {
      permissionMode: 'dontAsk',
      permissions: { allow: ['mcp__my__db'] },
      agents: { executor: 'process' },
      cast: {
        'Go.': [echo('x'), startAgents(['child'], FRESH), { text: 'Done.' }],
        child: [echo('y'), REPORT],
      },
    };
    const alone = await startFamily({ ...scene, mcpServers: { my__db: line() } });
    await alone.run('Go.');
    expect(lastTexts(alone.requestsOf('Go.')[1])).toEqual(['echo: x']);
    expect(lastTexts(alone.requestsOf('child')[1])).toEqual(['echo: y']);
    const two = await startFamily({ ...scene, mcpServers: { my__db: line(), my: line('good', 'my') } });
    await two.run('Go.');
    expect(lastTexts(two.requestsOf('Go.')[1])[0]).toContain('mcp__my_db__echo is not permitted');
  });

  test('a line at the start names rules and lists of types that nearly name a server, and no others', async () => {
    const { session } = await startFamily({
      permissionMode: 'bypassPermissions',
      permissions: { deny: ['mcp__db', 'mcp__absent', 'mcp__my__db'] },
      mcpServers: { DB: line(), my__db: line('good', 'my') },
      agentTypes: { w: { description: 'd', prompt: 'You.', disallowedTools: ['mcp__db', 'mcp__own'] } },
      cast: { 'Go.': [{ text: 'Done.' }] },
    });
    expect(session.notices).toEqual([
      'the deny rule "mcp__db" in the options names no MCP server that is set up here: did you mean mcp__DB?',
      'agentTypes.w: disallowedTools: "mcp__db" names no MCP server that is set up here: did you mean mcp__DB?',
    ]);
  });

  test('EXT-2: `if` of a hook knows a server as it is configured', async () => {
    const hook = { type: 'command' as const, command: 'echo kept away >&2; exit 2', if: 'mcp__my__db' };
    const { run, requestsOf } = await startFamily({
      permissionMode: 'bypassPermissions',
      mcpServers: { my__db: line(), other: line('good', 'other') },
      hooks: { PreToolUse: [{ hooks: [hook] }] },
      cast: {
        'Go.': [
          mcp('mcp__my_db__echo', { text: 'x' }),
          mcp('mcp__other__echo', { text: 'y' }),
          { text: 'Done.' },
        ],
      },
    });
    await run('Go.');
    const [, kept, passed] = requestsOf('Go.').map(lastTexts);
    expect(kept?.[0]).toContain('kept away');
    expect(passed).toEqual(['echo: y']);
  });

  test('a person is asked about the tool, with its arguments', async () => {
    const asked: unknown[] = [];
    const { run, requestsOf } = await startFamily({
      permissionMode: 'default',
      mcpServers: { line: line() },
      broker: {
        async ask({ tool, input, suggestedRules }) {
          asked.push({ tool, input, suggestedRules });
          return { kind: 'once' };
        },
      },
      cast: { 'Go.': [mcp('mcp__line__echo', { text: 'hi' }), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(asked).toEqual([
      { tool: 'mcp__line__echo', input: { text: 'hi' }, suggestedRules: ['mcp__line__echo'] },
    ]);
    expect(lastTexts(requestsOf('Go.')[1])).toEqual(['echo: hi']);
  });

  test('a question of a server goes to the person, and is declined where nobody is', async () => {
    const scene: FamilyOptions = {
      permissions: { allow: ['mcp__line'] },
      mcpServers: { line: line('elicit') },
      cast: { 'Go.': [mcp('mcp__line__echo', { text: 'x' }), { text: 'Done.' }] },
    };
    const alone = await startFamily(scene);
    await alone.run('Go.');
    expect(lastTexts(alone.requestsOf('Go.')[1])[0]).toContain('"action":"decline"');
    const attended = await startFamily({
      ...scene,
      broker: {
        ask: async () => ({ kind: 'denied', reason: 'no' }),
        elicit: async () => ({ action: 'accept', content: { colour: 'red' } }),
      },
    });
    await attended.run('Go.');
    expect(lastTexts(attended.requestsOf('Go.')[1])[0]).toContain('"colour":"red"');
  });

  test('EXT-2: hooks learn that a server asks, and which server a tool is of; `if` knows its name', async () => {
    const told: Record<string, unknown>[] = [];
    const note = (input: Record<string, unknown>): void => void told.push(input);
    const refuse = { type: 'command' as const, command: 'exit 2', if: 'mcp__other' };
    const { run, requestsOf } = await startFamily({
      permissions: { allow: ['mcp__line'] },
      mcpServers: { line: line('elicit') },
      cast: { 'Go.': [mcp('mcp__line__echo', { text: 'x' }), { text: 'Done.' }] },
      elicit: async () => ({ action: 'accept', content: { colour: 'red' } }),
      hooks: { Notification: [{ hooks: [note] }], PreToolUse: [{ hooks: [note, refuse] }] },
    });
    await run('Go.');
    expect(lastTexts(requestsOf('Go.')[1])[0]).toContain('"colour":"red"');
    expect(told).toMatchObject([
      { hook_event_name: 'PreToolUse', tool_name: 'mcp__line__echo', mcp_server: { name: 'line' } },
      {
        hook_event_name: 'Notification',
        notification_type: 'elicitation_dialog',
        message: 'The MCP server line asks: Which colour?',
      },
    ]);
  });

  test.for([
    [{ Elicitation: { action: 'accept', content: { colour: 'green' } } }, null, '"colour":"green"', 0],
    [{ Elicitation: { action: 'accept', content: { colour: 'green' } } }, 'red', '"colour":"green"', 0],
    [{ Elicitation: { action: 'decline' } }, 'red', '"action":"decline"', 0],
    [{ Elicitation: { action: 'accept', content: { other: 1 } } }, 'red', '"colour":"red"', 1],
    [{ Elicitation: { action: 'accept', content: { colour: 5 } } }, 'red', '"colour":"red"', 1],
    [{ Elicitation: {} }, 'red', '"colour":"red"', 1],
    [{ ElicitationResult: { action: 'accept', content: { colour: 5 } } }, 'red', '"colour":"red"', 1],
    [{ ElicitationResult: { action: 'cancel' } }, 'red', '"action":"cancel"', 1],
    [{ ElicitationResult: { action: 'accept', content: { colour: 'x' } } }, null, '"action":"decline"', 0],
  ] as const)('EXT-2: hooks answer a server: %j, person: %s', async ([answers, person, said, asked]) => {
    const told: Record<string, unknown>[] = [];
    let questions = 0;
    const hooks = Object.entries(answers).map(([event, answer]) => {
      const hook = (input: Record<string, unknown>) => {
        told.push(input);
        return { hookSpecificOutput: { hookEventName: event, ...answer } };
      };
      return [event, [{ matcher: 'line', hooks: [hook] }]];
    });
    const { run, requestsOf } = await startFamily({
      permissions: { allow: ['mcp__line'] },
      mcpServers: { line: line('elicit') },
      cast: { 'Go.': [mcp('mcp__line__echo', { text: 'x' }), { text: 'Done.' }] },
      ...(person !== null && {
        elicit: async () => {
          questions += 1;
          return { action: 'accept', content: { colour: person } };
        },
      }),
      hooks: Object.fromEntries(hooks),
    });
    await run('Go.');
    expect(lastTexts(requestsOf('Go.')[1])[0]).toContain(said);
    expect(questions).toBe(asked);
    expect(told).toMatchObject([
      {
        mcp_server_name: 'line',
        message: 'Which colour?',
        mode: 'form',
        requested_schema: { type: 'object' },
      },
    ]);
  });

  test.for([
    ['Elicitation', { action: 'accept' }, /no content/],
    ['Elicitation', { action: 'accept', content: { other: 1 } }, /needs "colour"/],
    ['ElicitationResult', { action: 'accept', content: { colour: 5 } }, /"colour"/],
  ] as const)(
    'EXT-2: why an answer of a hook does not count is said: %s %j',
    async ([event, answer, why]) => {
      const hook = () => ({ hookSpecificOutput: { hookEventName: event, ...answer } });
      const { run, recorded } = await startFamily({
        permissions: { allow: ['mcp__line'] },
        mcpServers: { line: line('elicit') },
        cast: { 'Go.': [mcp('mcp__line__echo', { text: 'x' }), { text: 'Done.' }] },
        elicit: async () => ({ action: 'accept', content: { colour: 'red' } }),
        hooks: { [event]: [{ hooks: [hook] }] },
      });
      await run('Go.');
      const events = recorded().map((one) => one.event);
      expect(eventsOf(events, 'warning.raised').map(({ message }) => message)).toEqual([
        expect.stringMatching(why),
      ]);
      expect(eventsOf(events, 'hooks.ran').flatMap(({ runs }) => runs)).toMatchObject([
        { outcome: 'failed' },
      ]);
    },
  );

  test.each([
    [
      'an answer',
      async () => ({ action: 'accept', content: { colour: 'blue' } }) as const,
      '"colour":"blue"',
    ],
    ['a throw', () => Promise.reject(new Error('no')), '"action":"decline"'],
  ])('LIB-1: a function of the program answers a server: %s', async (_, elicit, said) => {
    const { run, requestsOf } = await startFamily({
      permissions: { allow: ['mcp__line'] },
      mcpServers: { line: line('elicit') },
      cast: { 'Go.': [mcp('mcp__line__echo', { text: 'x' }), { text: 'Done.' }] },
      elicit,
    });
    await run('Go.');
    expect(lastTexts(requestsOf('Go.')[1])[0]).toContain(said);
  });
});

describe('FORK-2: the prefix never changes', () => {
  test('tools and system are the same bytes before and after a list changed, and forks share them', async () => {
    const { run, requestsOf } = await startFamily({
      ...ALLOWED,
      mcpServers: { line: line('change') },
      cast: {
        'Go.': [
          startAgents(['before']),
          call('McpSearch', { query: '*' }),
          mcp('mcp__line__echo', { text: 'x' }),
          call('McpSearch', { query: '*' }),
          startAgents(['after']),
          { text: 'Done.' },
        ],
        before: [REPORT],
        after: [mcp('mcp__line__late_2', { text: 'y' }), REPORT],
      },
    });
    await run('Go.');
    const main = requestsOf('Go.');
    expect(lastTexts(main[2])[0]).not.toContain('late_2');
    expect(lastTexts(main[4])[0]).toContain('mcp__line__late_2');
    const heads = [...main, ...requestsOf('before'), ...requestsOf('after')].map(headOf);
    expect(new Set(heads).size).toBe(1);
    const last = main[4];
    const [fork] = requestsOf('after');
    expect(fork && last && promptBytes(fork).startsWith(promptBytes(last))).toBe(true);
    expect(lastTexts(requestsOf('after')[1])).toContain('changed');
  });

  test.each(['in-process', 'process'] as const)(
    'so are those of a child and a fork that work while the list changes (%s)',
    async (executor) => {
      const look = call('McpSearch', { query: '*' });
      const work = [look, mcp('mcp__line__echo', { text: 'x' }), look, REPORT];
      const { run, requestsOf } = await startFamily({
        ...ALLOWED,
        agents: { executor },
        mcpServers: { line: line('change') },
        cast: {
          'Go.': [startAgents(['child'], FRESH), startAgents(['fork']), { text: 'Done.' }],
          child: work,
          fork: work,
        },
      });
      await run('Go.');
      for (const name of ['child', 'fork']) {
        const requests = requestsOf(name);
        const [before, after] = [requests[1], requests[3]].map((one) => lastTexts(one)[0]);
        expect(after).not.toBe(before);
        expect(after).toContain('mcp__line__late_');
        expect(new Set(requests.map(headOf)).size).toBe(1);
      }
      expect(requestsOf('fork').map(headOf)[0]).toBe(headOf(requestsOf('Go.')[0]));
    },
  );
});

describe('RES-8: one process for all agents', () => {
  test('ten children with the same two servers start two processes; none is left', async () => {
    const directory = temporaryDirectory();
    const [one, two] = [join(directory, 'one'), join(directory, 'two')];
    const tasks = Array.from({ length: 10 }, (_, index) => `child ${index}.`);
    const scene = await startFamily({
      permissions: { allow: ['mcp__a', 'mcp__b'] },
      mcpServers: { a: line('good', 'a', { PID_FILE: one }), b: line('good', 'b', { PID_FILE: two }) },
      cast: {
        'Go.': [startAgents(tasks, FRESH), { text: 'Done.' }],
        child: [mcp('mcp__a__echo', { text: '1' }), mcp('mcp__b__echo', { text: '2' }), REPORT],
      },
    });
    await scene.run('Go.');
    expect(scene.requestsOf('child').filter((record) => lastTexts(record)[0] === 'echo: 2')).toHaveLength(10);
    const pids = [...pidsIn(one), ...pidsIn(two)];
    expect(pids).toHaveLength(2);
    await scene.session[Symbol.asyncDispose]();
    expect(pids.filter(isGroupAlive)).toEqual([]);
  });

  test('RES-5: a server ends with the last agent that used it', async () => {
    const file = join(temporaryDirectory(), 'pids');
    const { run } = await startFamily({
      permissions: { allow: ['mcp__a'] },
      mcpServers: { a: line('good', '', { PID_FILE: file }) },
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'Done.' }],
        child: [mcp('mcp__a__echo', { text: '1' }), REPORT],
      },
    });
    await run('Go.');
    await expect.poll(() => pidsIn(file).filter(isGroupAlive)).toEqual([]);
    expect(pidsIn(file)).toHaveLength(1);
  });

  test('EXEC-2: an agent in a process of its own uses the connection of its host', async () => {
    const file = join(temporaryDirectory(), 'pids');
    const { run, requestsOf, recordedOf } = await startFamily({
      permissions: { allow: ['mcp__a'] },
      agents: { executor: 'process' },
      mcpServers: { a: line('good', '', { PID_FILE: file }) },
      cast: {
        'Go.': [mcp('mcp__a__echo', { text: '0' }), startAgents(['child'], FRESH), { text: 'Done.' }],
        child: [call('McpSearch', { query: 'echo' }), mcp('mcp__a__echo', { text: 'far' }), REPORT],
      },
    });
    await run('Go.');
    const [, found, answered] = requestsOf('child').map(lastTexts);
    expect(found?.[0]).toContain('mcp__a__echo');
    expect(answered).toEqual(['echo: far']);
    expect(pidsIn(file)).toHaveLength(1);
    expect(eventsOf(recordedOf(2), 'tool.started').map(({ name }) => name)).toEqual([
      'McpSearch',
      'mcp__a__echo',
    ]);
  });
});

describe('EXT-4: a relative cwd', () => {
  test('begins at the session for what a program sets up, at the root for files of agents', async () => {
    const starter = `import ${JSON.stringify(LINE_SERVER)};\n`;
    const own = { command: process.execPath, args: ['start.mjs'], cwd: 'srv' };
    const file = (name: string): string =>
      `---\nname: ${name}\ndescription: d\nmcpServers:\n  - ${JSON.stringify({ own: { ...own, cwd: 'top' } })}\n---\nYou.\n`;
    const repository = temporaryRepository({
      'top/start.mjs': starter,
      'sub/srv/start.mjs': starter,
      '.claude/agents/theirs.md': file('theirs'),
    });
    const echo = (server: string): ReturnType<typeof mcp> => mcp(`mcp__${server}__echo`, { text: server });
    const { run, requestsOf, home, cwd } = await startFamily({
      cwd: join(repository, 'sub'),
      mcpServers: { lib: own },
      mcpConfig: [JSON.stringify({ mcpServers: { json: own } })],
      agentTypes: { coded: { description: 'd', prompt: 'You.', mcpServers: [{ own }] } },
      home: { 'agents/mine.md': file('mine') },
      cast: {
        'Go.': [
          echo('lib'),
          echo('json'),
          ...['coded', 'mine', 'theirs'].map((type) => startAgents([type], { subagent_type: type })),
          { text: 'Done.' },
        ],
        ...Object.fromEntries(['coded', 'mine', 'theirs'].map((type) => [type, [echo('own'), REPORT]])),
      },
    });
    changeTrust('trust', { cwd, env: { RAMET_HOME: home } });
    await run('Go.');
    expect(requestsOf('Go.').slice(1, 3).map(lastTexts)).toEqual([['echo: lib'], ['echo: json']]);
    for (const type of ['coded', 'mine', 'theirs'])
      expect([type, lastTexts(requestsOf(type)[1])]).toEqual([type, ['echo: own']]);
  });
});

describe('TYPE-3: agent types', () => {
  test('mcpServers names or writes down servers; a list of tools narrows them; readers get none', async () => {
    const inline = JSON.stringify({ own: line() });
    const { run, requestsOf } = await startFamily({
      permissions: { allow: ['mcp__own', 'mcp__a', 'mcp__b'] },
      mcpServers: { a: line('good', 'a'), b: line('good', 'b') },
      home: {
        'agents/inline.md': `---\nname: inline\ndescription: d\ntools: Read\nmcpServers:\n  - ${inline}\n---\nYou.\n`,
        'agents/narrow.md': '---\nname: narrow\ndescription: d\ntools: Read, mcp__a__echo\n---\nYou.\n',
        'agents/named.md':
          '---\nname: named\ndescription: d\ntools: Read, mcp__a__echo\nmcpServers: a\n---\nYou.\n',
        'agents/without.md': '---\nname: without\ndescription: d\ndisallowedTools: mcp__b\n---\nYou.\n',
        'agents/plain.md': '---\nname: plain\ndescription: d\ntools: Read\n---\nYou.\n',
        'agents/reader.md': '---\nname: reader\ndescription: d\nreadOnly: true\n---\nYou.\n',
      },
      cast: {
        'Go.': [
          ...['inline', 'narrow', 'named', 'without', 'plain', 'reader'].map((type) =>
            startAgents([type], { subagent_type: type }),
          ),
          { text: 'Done.' },
        ],
        inline: [mcp('mcp__own__echo', { text: 'mine' }), mcp('mcp__a__echo', { text: 'x' }), REPORT],
        narrow: [
          call('McpSearch', { query: '*' }),
          mcp('mcp__a__add', { a: 1, b: 1 }),
          mcp('mcp__a__echo', { text: 'y' }),
          REPORT,
        ],
        named: [
          call('McpSearch', { query: '*' }),
          mcp('mcp__a__add', { a: 1, b: 1 }),
          mcp('mcp__a__echo', { text: 'y' }),
          REPORT,
        ],
        without: [call('McpSearch', { query: '*' }), REPORT],
        plain: [REPORT],
        reader: [REPORT],
      },
    });
    await run('Go.');
    const inlined = requestsOf('inline');
    expect(offered(inlined[0])).toEqual(['Read', 'McpSearch', 'McpCall']);
    expect(lastTexts(inlined[1])).toEqual(['echo: mine']);
    expect(lastTexts(inlined[2])[0]).toContain('The servers are own');
    for (const type of ['narrow', 'named']) {
      const narrow = requestsOf(type).map(lastTexts);
      expect(narrow[1]?.[0]).toContain('mcp__a__echo');
      expect(narrow[1]?.[0]).not.toMatch(/mcp__b|mcp__a__add/);
      expect(narrow[2]?.[0]).toContain('There is no tool mcp__a__add');
      expect(narrow[3]).toEqual(['echo: y']);
    }
    const without = lastTexts(requestsOf('without')[1])[0];
    expect(without).toContain('mcp__a__echo');
    expect(without).not.toContain('mcp__b');
    expect(offered(requestsOf('plain')[0])).toEqual(['Read']);
    expect(offered(requestsOf('reader')[0]).filter((name) => name.startsWith('Mcp'))).toEqual([]);
  });

  test('its lists know a server as it is configured', async () => {
    const calls = [mcp('mcp__my_db__echo', { text: 'x' }), mcp('mcp__my_db__add', { a: 1, b: 1 }), REPORT];
    const types = {
      never: { disallowedTools: ['mcp__my__db'] },
      dotted: { disallowedTools: ['mcp__my db__echo'] },
      only: { tools: ['Read', 'mcp__my__db__echo'] },
    };
    for (const name of ['my__db', 'my db']) {
      const { run, requestsOf } = await startFamily({
        permissionMode: 'bypassPermissions',
        mcpServers: { [name]: line() },
        agentTypes: Object.fromEntries(
          Object.entries(types).map(([type, lists]) => [
            type,
            { description: 'd', prompt: 'You.', ...lists },
          ]),
        ),
        cast: {
          'Go.': [
            ...Object.keys(types).map((type) => startAgents([type], { subagent_type: type })),
            { text: 'Done.' },
          ],
          ...Object.fromEntries(Object.keys(types).map((type) => [type, calls])),
        },
      });
      await run('Go.');
      const [never, dotted, only] = Object.keys(types).map((type) =>
        requestsOf(type).slice(1).flatMap(lastTexts),
      );
      const isDouble = name === 'my__db';
      if (isDouble) expect(never?.join()).toContain('there is no tool "McpCall"');
      else expect(never).toEqual(['echo: x', '2']);
      if (isDouble) expect(dotted).toEqual(['echo: x', '2']);
      else expect(dotted).toEqual([expect.stringContaining('There is no tool mcp__my_db__echo'), '2']);
      if (isDouble) expect(only).toEqual(['echo: x', expect.stringContaining('no tool mcp__my_db__add')]);
      else expect(only?.join()).toContain('there is no tool "McpCall"');
    }
  });

  test.each(['McpCall', 'McpSearch'])('%s in its lists holds beside servers too', async (fixed) => {
    const other = fixed === 'McpCall' ? 'McpSearch' : 'McpCall';
    const types = {
      plain: { disallowedTools: [fixed] },
      named: { disallowedTools: [fixed], mcpServers: ['a'] },
      less: { disallowedTools: ['mcp__b'] },
      both: { disallowedTools: [fixed, 'mcp__b'] },
      narrow: { tools: ['Read', fixed, other, 'mcp__a__echo'] },
      above: { disallowedTools: [fixed] },
    };
    const { run, requestsOf } = await startFamily({
      permissionMode: 'bypassPermissions',
      mcpServers: { a: line('good', 'a'), b: line('good', 'b') },
      agentTypes: Object.fromEntries(
        Object.entries(types).map(([type, lists]) => [type, { description: 'd', prompt: 'You.', ...lists }]),
      ),
      cast: {
        'Go.': [
          ...Object.keys(types).map((type) => startAgents([type], { subagent_type: type })),
          { text: 'Done.' },
        ],
        ...Object.fromEntries(
          Object.keys(types).map((type) => [type, [mcp('mcp__b__echo', { text: 'x' }), REPORT]]),
        ),
        above: [startAgents(['below'], { subagent_type: 'less' }), REPORT],
        below: [REPORT],
      },
    });
    await run('Go.');
    for (const type of ['plain', 'named', 'both', 'below'])
      expect(offered(requestsOf(type)[0]).filter((name) => name.startsWith('Mcp'))).toEqual([other]);
    expect(offered(requestsOf('narrow')[0])).toEqual(['Read', 'McpSearch', 'McpCall']);
    expect(lastTexts(requestsOf('narrow')[1])[0]).toContain('There is no MCP server for "mcp__b__echo"');
  });
});

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LINE_SERVER } from '../../../test/fixtures/mcp/servers.ts';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import { callerOf } from '../calls/caller.ts';
import { changeTrust, trustOf } from '../calls/trust.ts';
import { checkServers } from '../doctor/server-check.ts';
import { findPlace } from '../place.ts';
import { openSession } from '../session/session.ts';
import { addServer, listServers, removeServer, tryServers } from './manage-servers.ts';
import { ServedRuns } from './served-runs.ts';

function place(): { cwd: string; env: NodeJS.ProcessEnv } {
  const home = temporaryDirectory();
  const { PATH } = process.env;
  return { cwd: temporaryRepository(), env: { PATH, HOME: home, RAMET_HOME: join(home, '.ramet') } };
}

function server(manner: string): { command: string; args: string[] } {
  return { command: process.execPath, args: [LINE_SERVER, manner] };
}

describe('EXT-4: managing servers', () => {
  test('one that works and one that does not are tried and told apart', async () => {
    const here = place();
    await addServer({ name: 'good', scope: 'user', server: server('good') }, here);
    await addServer({ name: 'bad', scope: 'user', server: server('crash') }, here);
    const [bad, good] = await tryServers([], here);
    expect(good).toMatchObject({ name: 'good', ok: true, problem: null, prompts: ['greet'] });
    expect(good?.tools.map(({ name }) => name)).toContain('mcp__good__echo');
    expect(bad).toMatchObject({ ok: false, problem: expect.stringContaining('it ended with code 1') });
  });

  test('two with one command are each told by their own name', async () => {
    const here = place();
    await addServer({ name: 'first', scope: 'user', server: server('crash') }, here);
    await addServer({ name: 'second', scope: 'user', server: server('crash') }, here);
    const tried = await tryServers([], here);
    expect(tried.map(({ name, problem }) => [name, problem?.split(' did not', 1)[0]])).toEqual([
      ['first', 'the MCP server first'],
      ['second', 'the MCP server second'],
    ]);
  });

  test('RES-3: a rule that nearly names a tool is told about once the server was asked', async () => {
    const here = place();
    await addServer({ name: 'good', scope: 'user', server: server('good') }, here);
    const permissions = { deny: ['mcp__good__ecoh', 'mcp__good__add', 'mcp__good__other'] };
    const notices = async (): Promise<readonly string[]> => {
      await using session = await openSession({ ...here, permissions, model: 'recipe' });
      return session.notices;
    };
    expect(await notices()).toEqual([]);
    await tryServers([], here);
    expect(await notices()).toEqual([
      'the deny rule "mcp__good__ecoh" in the options names no tool that the MCP server good had when it was last asked: did you mean mcp__good__echo?',
    ]);
  });

  test('a tool without a schema is named, and its server works without it', async () => {
    const here = place();
    await addServer({ name: 'broken', scope: 'user', server: server('broken') }, here);
    const [tried] = await tryServers([], here);
    expect(tried).toMatchObject({ ok: true, problem: null });
    expect(tried?.tools.map(({ name }) => name)).toContain('mcp__broken__echo');
    expect(tried?.leftOut).toContain('the tool noschema (it has no inputSchema)');
    const caller = callerOf(here);
    const check = await checkServers({ caller, place: findPlace(caller) });
    expect(check).toMatchObject({
      state: 'limited',
      found: expect.stringContaining('works without the tool'),
    });
  });

  test('SEC-1: one of this checkout is listed before trust, and not started', async () => {
    const here = place();
    await addServer({ name: 'mine', scope: 'local', server: server('good') }, here);
    const { servers } = await listServers(here);
    expect(servers).toMatchObject([{ name: 'mine', unused: 'this folder is not trusted: ramet trust' }]);
    expect(await tryServers(['mine'], here)).toMatchObject([{ ok: false, startMs: 0 }]);
  });

  test('SEC-1: a relative cwd begins at the folder of its configuration, wherever the session works', async () => {
    const started = `import ${JSON.stringify(LINE_SERVER)};\n`;
    const own = (cwd = 'srv'): object => ({ command: process.execPath, args: ['start.mjs'], cwd });
    const servers = (name: string, cwd?: string): string =>
      JSON.stringify({ mcpServers: { [name]: own(cwd) } });
    const cwd = temporaryRepository({
      'srv/start.mjs': started,
      '.mcp.json': servers('root'),
      '.ramet/settings.json': servers('shared'),
      'sub/srv/start.mjs': started,
      'sub/.mcp.json': servers('below'),
      'package.json': '{}',
    });
    const home = temporaryDirectory();
    const more = temporaryDirectory();
    writeFiles(more, { 'servers.json': servers('given'), 'srv/start.mjs': started });
    writeFiles(join(home, '.ramet'), {
      'settings.json': servers('user'),
      'plugins/kit/.mcp.json': servers('own'),
      'plugins/kit/srv/start.mjs': started,
    });
    writeFiles(home, {
      '.claude.json': JSON.stringify({
        mcpServers: { claude: own() },
        projects: { [join(cwd, 'sub')]: { mcpServers: { local: own('./srv/') } } },
      }),
    });
    const here = {
      cwd: join(cwd, 'sub'),
      env: { PATH: process.env.PATH, HOME: home, RAMET_HOME: join(home, '.ramet') },
    };
    changeTrust('trust', here);
    const tried = await tryServers([], here);
    expect(tried.map(({ name, problem }) => [name, problem])).toEqual(
      ['below', 'claude', 'kit:own', 'local', 'root', 'shared', 'user'].map((name) => [name, null]),
    );
    const { servers: listed } = await listServers(here);
    const places = listed.map(({ name, checked }) => [name, checked.ok && Object(checked.config).cwd]);
    expect(Object.fromEntries(places)).toEqual({
      below: join(cwd, 'sub/srv'),
      claude: join(cwd, 'srv'),
      'kit:own': join(home, '.ramet/plugins/kit/srv'),
      local: join(cwd, 'sub/srv'),
      root: join(cwd, 'srv'),
      shared: join(cwd, 'srv'),
      user: join(cwd, 'srv'),
    });
    writeFileSync(join(cwd, 'srv/start.mjs'), `${started}// Changed.\n`);
    expect(await tryServers(['root'], here)).toMatchObject([
      { ok: false, problem: expect.stringContaining('a file that it runs, has changed') },
    ]);
  });

  test('removing takes it out of its file, and says where else it is', async () => {
    const here = place();
    const file = await addServer({ name: 'one', scope: 'project', server: server('good') }, here);
    expect(await removeServer('one', here)).toEqual([file]);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ mcpServers: {} });
    await expect(removeServer('one', here)).rejects.toThrow('no server one to remove');
  });

  test('one name in two scopes is listed twice, and removed only from the scope that is said', async () => {
    const here = place();
    const user = await addServer({ name: 'one', scope: 'user', server: server('good') }, here);
    const local = await addServer({ name: 'one', scope: 'local', server: server('crash') }, here);
    const withheld = await listServers(here);
    // What is not trusted takes nothing away.
    expect(withheld.servers).toMatchObject([
      { scope: 'user', unused: null },
      { scope: 'local', unused: `set in ${user}` },
    ]);
    changeTrust('trust', here);
    expect((await listServers(here)).servers).toMatchObject([
      { scope: 'user', unused: `set in ${local}` },
      { scope: 'local', unused: null },
    ]);
    await expect(removeServer('one', here)).rejects.toThrow(
      'there is a server one in the scopes user and local: say which with --scope local',
    );
    expect(await removeServer('one', { ...here, scope: 'user' })).toEqual([user]);
    expect((await listServers(here)).servers).toMatchObject([{ name: 'one', scope: 'local', unused: null }]);
  });

  test('SEC-1: those that changed since trust are told apart', async () => {
    const here = place();
    const path = join(here.cwd, '.mcp.json');
    const write = (mcpServers: object): void => writeFileSync(path, JSON.stringify({ mcpServers }));
    write({ kept: server('good'), other: server('good') });
    changeTrust('trust', here);
    write({ kept: server('good'), other: server('crash'), added: server('good') });
    const { servers } = await listServers(here);
    expect(servers.map(({ name, unused }) => `${name}: ${unused}`)).toEqual([
      'added: it is new since you trusted this folder: ramet trust --show shows the difference',
      'kept: its file, or a file that it runs, has changed since you trusted this folder: ramet trust --show shows the difference',
      'other: it has changed since you trusted this folder: ramet trust --show shows the difference',
    ]);
    await using session = await openSession({ ...here, model: 'recipe' });
    expect(session.notices).toContain(
      'MCP servers of this folder are not started before you trust them as they are: added, kept, other (ramet trust)',
    );
  });

  test('SEC-1: one that Ramet adds and removes again leaves the folder trusted', async () => {
    const here = place();
    writeFileSync(join(here.cwd, '.mcp.json'), JSON.stringify({ mcpServers: { kept: server('good') } }));
    changeTrust('trust', here);
    const states = (): string[] => trustOf(here).parts.map(({ source, state }) => `${source} ${state}`);
    await addServer({ name: 'one', scope: 'local', server: server('good') }, here);
    expect(states()).toEqual(['.ramet/settings.local.json trusted', '.mcp.json trusted']);
    await removeServer('one', here);
    expect(states()).toEqual(['.mcp.json trusted']);
    const found = changeTrust('revoke', here);
    expect(found?.parts.every(({ state }) => state === 'trusted')).toBe(true);
  });

  test('a server without a command is refused, and nothing is written', async () => {
    const here = place();
    await expect(addServer({ name: 'x', scope: 'project', server: {} }, here)).rejects.toThrow(
      'has no command',
    );
    expect(existsSync(join(here.cwd, '.mcp.json'))).toBe(false);
  });
});

describe('ECO-1: runs for other programs', () => {
  const WRITE = '```write out.txt\nhello\n```';

  test('a run answers at once, is waited for, and has done its work', async () => {
    const here = place();
    await using runs = new ServedRuns(callerOf(here), 'acceptEdits');
    const { session, running } = await runs.startAgent({ prompt: WRITE });
    expect(running).toBe(true);
    const ended = await runs.wait(session, 60, new AbortController().signal);
    expect(ended).toMatchObject({ session, running: false, status: 'done' });
    expect(readFileSync(join(here.cwd, 'out.txt'), 'utf8')).toBe('hello\n');
    expect(runs.list().map((run) => run.session)).toEqual([session]);
  });

  test('a directory outside the repository and an empty prompt are refused', async () => {
    await using runs = new ServedRuns(callerOf(place()), undefined);
    await expect(runs.startAgent({ prompt: 'x', cwd: '/etc' })).rejects.toThrow(
      'is not a directory inside of',
    );
    await expect(runs.startAgent({ prompt: ' ' })).rejects.toThrow('give a prompt');
  });

  test.for(['bad name/x', '-x', '../up', '', 'a b'])('%s is no name for a new server', async (name) => {
    const here = place();
    await expect(addServer({ name, scope: 'user', server: { command: 'x' } }, here)).rejects.toThrow(
      'is no name for a server',
    );
  });

  test('one that is there is replaced only when asked', async () => {
    const here = place();
    const add = (command: string, force?: boolean): Promise<string> =>
      addServer({ name: 'one', scope: 'user', server: { command }, force }, here);
    await add('first');
    await add('first');
    await expect(add('second')).rejects.toThrow('has a server one already: --force replaces it');
    await add('second', true);
    expect((await listServers(here)).servers).toMatchObject([{ checked: { config: { command: 'second' } } }]);
  });
});

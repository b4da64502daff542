import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually, type RunningCommand } from '../fixtures/command.ts';
import { writeFiles } from '../fixtures/repository-template.ts';
import { BASE62, seededRandom } from '../fixtures/seeded-random.ts';
import { test, type User } from '../fixtures/user.ts';

async function serve(user: User, port = 0): Promise<{ server: RunningCommand; url: string; port: number }> {
  const server = user.start(['memory', 'serve', '--port', String(port)]);
  const url = await eventually(() => /http:\/\/127\.0\.0\.1:\d+/.exec(server.stdout)?.[0]);
  return { server, url, port: Number(new URL(url).port) };
}

async function newToken(user: User, team = 'core'): Promise<{ id: string; token: string }> {
  const { stdout } = await user.ramet(['memory', 'token', 'new', team, '--json']);
  return JSON.parse(stdout);
}

describe('TEAM-6: ramet memory', () => {
  test('serves, synchronises two folders with a token, and refuses the token once it is revoked', async ({
    user,
  }) => {
    const { id, token } = await newToken(user);
    const { server, url } = await serve(user);
    const env = { RAMET_MEMORY_SERVER: url, RAMET_MEMORY_TOKEN: token };
    for (const name of ['one', 'two']) mkdirSync(join(user.root, name));
    writeFileSync(join(user.root, 'one', 'build.md'), 'Node 24.\n');
    const sent = await user.ramet(['memory', 'sync', join(user.root, 'one')], { env });
    expect(sent).toMatchObject({ code: 0, stderr: '' });
    expect(sent.stdout).toMatch(/^sent {11}build\.md\n.* and team core agree\n$/);
    const pulled = await user.ramet(['memory', 'sync', '../two', '--json'], { env });
    expect(JSON.parse(pulled.stdout)).toMatchObject({
      team: 'core',
      changes: [{ key: 'build.md', change: 'pulled' }],
    });
    expect(readFileSync(join(user.root, 'two', 'build.md'), 'utf8')).toBe('Node 24.\n');
    const own = await user.ramet(['memory', 'sync'], { env });
    expect(own).toMatchObject({ code: 0 });
    expect(existsSync(join(user.project, 'memory', 'team', 'build.md'))).toBe(true);
    const listed = await user.ramet(['memory', 'token', 'ls']);
    expect(listed.stdout).toBe(`${id}  valid    core\n`);
    expect(await user.ramet(['memory', 'token', 'revoke', id])).toMatchObject({ code: 0 });
    const refused = await user.ramet(['memory', 'sync'], { env });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(
      /^ramet: .* does not accept the token: it is wrong or revoked; ask for a new one\n$/,
    );
    expect(refused.stderr).not.toContain(token);
    server.kill('SIGINT');
    expect(await server.ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('MEM-2: lines that came with a sync name the team and its server, and lines of a person stay theirs', async ({
    user,
  }) => {
    const { token } = await newToken(user);
    const { url } = await serve(user);
    const env = { RAMET_MEMORY_SERVER: url, RAMET_MEMORY_TOKEN: token };
    const other = join(user.root, 'other');
    writeFiles(other, { 'crew/MEMORY.md': '- Builds run on Otto.\n', 'crew/old.md': '- Gone soon.\n' });
    await user.ramet(['memory', 'sync', other], { env });
    await user.ramet(['memory', 'sync'], { env });
    const why = async (line: string): Promise<string> =>
      (await user.ramet(['memory', 'why', line])).stdout.split('\n')[2] ?? '';
    const synced = new RegExp(`^  came with a sync, from team core at ${url}, [\\d:]+ \\(p1\\)$`);
    expect(await why('Otto')).toMatch(synced);
    expect(await why('Gone soon')).toMatch(synced);
    // Both sides add a line.
    const here = join(user.project, 'memory', 'team', 'crew', 'MEMORY.md');
    writeFileSync(here, '- Mine by hand.\n- Builds run on Otto.\n');
    writeFiles(other, { 'crew/MEMORY.md': '- Builds run on Otto.\n- Tests run on Emil.\n' });
    rmSync(join(other, 'crew', 'old.md'));
    await user.ramet(['memory', 'sync', other], { env });
    await user.ramet(['memory', 'sync'], { env });
    expect(readFileSync(here, 'utf8')).toBe('- Mine by hand.\n- Builds run on Otto.\n- Tests run on Emil.\n');
    expect(await why('Mine by hand')).toMatch(/^ {2}edited by hand, [\d:]+ \(p2\)$/);
    expect(await why('Emil')).toMatch(/^ {2}came with a sync, from team core at http/);
    const { changes } = JSON.parse((await user.ramet(['memory', 'show', '--json'])).stdout);
    expect(changes[0]).toMatchObject({ kind: 'sync', origin: `team core at ${url}` });
    expect(changes[0].files).toEqual(['team/crew/MEMORY.md', 'team/crew/old.md']);
    // An undo that names no change is about what happened here.
    expect(await user.ramet(['memory', 'undo'])).toMatchObject({ code: 2 });
    expect(await user.ramet(['memory', 'undo', changes[0].id])).toMatchObject({ code: 0 });
    expect(existsSync(join(user.project, 'memory', 'team', 'crew', 'old.md'))).toBe(true);
  });

  test('leaves out a file with a secret, exits with 1, and says where it is', async ({ user }) => {
    const { token } = await newToken(user);
    const { url } = await serve(user);
    const secret = `ghp_${seededRandom(11).text(BASE62, 36)}`;
    const folder = join(user.root, 'notes');
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.md'), `see\n${secret}\n`);
    const file = join(user.root, 'token');
    writeFileSync(file, `${token}\n`);
    const end = await user.ramet(['memory', 'sync', folder, '--server', url, '--token-file', file]);
    expect(end.code).toBe(1);
    expect(end.stdout).toContain(
      'left out       a.md: it has a secret, and was not sent: line 2 (GitHub token)',
    );
    expect(end.stdout + end.stderr).not.toContain(secret);
  });

  test('a server that is killed while it writes loses nothing that it acknowledged', async ({ user }) => {
    const { token } = await newToken(user);
    const first = await serve(user);
    const acknowledged = new Set<string>();
    const write = async (key: string): Promise<void> => {
      const response = await fetch(`${first.url}/v1/keys/${key}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'if-none-match': '*' },
        body: `${key}\n`,
      });
      if (response.status === 201) acknowledged.add(key);
    };
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let index = 0; index < 500; index++) await write(`${writer}-${index}.md`);
    });
    await eventually(() => acknowledged.size >= 100);
    first.server.kill('SIGKILL');
    await Promise.allSettled(writers);
    const second = await serve(user);
    const env = { RAMET_MEMORY_SERVER: second.url, RAMET_MEMORY_TOKEN: token };
    const folder = join(user.root, 'all');
    expect(await user.ramet(['memory', 'sync', folder], { env })).toMatchObject({ code: 0 });
    const there = new Set(readdirSync(folder));
    expect([...acknowledged].filter((key) => !there.has(key))).toEqual([]);
  });

  test('a sync that is killed, and one whose server dies, are completed by the next', async ({ user }) => {
    const { token } = await newToken(user);
    const { server, url, port } = await serve(user);
    const env = { RAMET_MEMORY_SERVER: url, RAMET_MEMORY_TOKEN: token };
    const [one, two] = [join(user.root, 'one'), join(user.root, 'two')];
    mkdirSync(one);
    for (let index = 0; index < 150; index++) writeFileSync(join(one, `${index}.md`), `note ${index}\n`);
    const headers = { authorization: `Bearer ${token}` };
    const keys = async (): Promise<number> =>
      JSON.parse(await (await fetch(`${url}/v1/keys`, { headers })).text()).keys.length;
    const killed = user.start(['memory', 'sync', one], { env });
    while ((await keys()) < 10);
    killed.kill('SIGKILL');
    await killed.ended;
    const cutOff = user.start(['memory', 'sync', one], { env });
    const before = await keys();
    while ((await keys()) < Math.min(150, before + 10));
    server.kill('SIGKILL');
    const end = await cutOff.ended;
    if (end.code !== 0)
      expect(end.stderr).toMatch(/cannot reach the memory server .*; nothing here is lost, sync again later/);
    await serve(user, port);
    expect(await user.ramet(['memory', 'sync', one], { env })).toMatchObject({ code: 0 });
    expect(await user.ramet(['memory', 'sync', two], { env })).toMatchObject({ code: 0 });
    const files = (folder: string): string[] =>
      readdirSync(folder)
        .filter((name) => name !== '.ramet-sync')
        .sort();
    expect(files(two)).toEqual(files(one));
    expect(files(two)).toHaveLength(150);
  });

  test('says in one line what is missing', async ({ user }) => {
    const cases = [
      [['sync'], 'no memory server is named: give --server URL, or set RAMET_MEMORY_SERVER'],
      [
        ['sync', '--server', 'http://127.0.0.1:9'],
        'there is no token: set RAMET_MEMORY_TOKEN, or give --token-file FILE',
      ],
      [['sync', '--server', 'http://127.0.0.1:9', '--token-file', 'missing'], 'cannot read the token in '],
      [['sync', ''], 'the folder is empty: leave it out for the team memory of this repository, or write .'],
      [['sync', '/', '--any-folder'], '/ has your home folder in it: name a folder of notes'],
      [
        ['sync', '.'],
        `${user.repository} is the root of a repository, and all of it would be published: name`,
      ],
      [
        ['sync', '--server', 'http://127.0.0.1:9', '--token-file', ''],
        '--token-file is empty: name the file',
      ],
      [['serve', '--data', ''], '--data is empty: name a directory'],
      [['token', 'new', 'a b'], '"a b" cannot be the name of a team'],
      [['token', 'revoke', 'x'], 'there is no token "x": ramet memory token ls lists them'],
    ] as const;
    for (const [args, message] of cases) {
      const end = await user.here(['memory', ...args]);
      expect(end.code).toBe(2);
      expect(end.stderr).toContain(`ramet: ${message}`);
      expect(end.stderr.trim().split('\n')).toHaveLength(1);
    }
  });
});

import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { changesOf, type SyncedFolder, twoFolders } from '../../../test/fixtures/synced-folder.ts';
import { digestOf } from '../../system/digest.ts';
import type { SyncReport } from './sync-folder.ts';

type Lie = (request: { method: string; path: string }, answer: Response) => Promise<Response | null>;

/** Through a proxy that answers something else where it has a lie. */
function syncBehind(folder: SyncedFolder, lie: Lie): Promise<SyncReport> {
  const proxy: typeof fetch = async (input, init) => {
    const { pathname } = new URL(String(input));
    const answer = await fetch(input, init);
    return (await lie({ method: init?.method ?? 'GET', path: pathname }, answer.clone())) ?? answer;
  };
  return folder.sync(folder.server.token, { fetch: proxy });
}

const json = (status: number, body: unknown): Response => new Response(JSON.stringify(body), { status });

describe('TEAM-6: the sync with a server or proxy that lies', () => {
  test('does not take 304 for an answer to a listing that was asked for without a condition', async () => {
    const [one, two] = await twoFolders();
    one.write('a.md', 'x\n');
    await expect(
      syncBehind(one, async ({ path }) => (path === '/v1/keys' ? new Response(null, { status: 304 }) : null)),
    ).rejects.toThrow(/answered 304 to the listing: check its address$/);
    await one.sync();
    expect(changesOf(await two.sync())).toEqual(['pulled a.md']);
  });

  test('shows what it says on one line, without escape sequences and signs that nobody sees, and not all of it', async () => {
    const [one] = await twoFolders();
    one.write('a.md', 'x\n');
    const message = `\u001b[31mred\nsent       b.md\r\u202e\u2028${'y'.repeat(5_000)}`;
    const { skipped } = await syncBehind(one, async ({ method }) =>
      method === 'PUT' ? json(409, { error: { code: 'twin', message } }) : null,
    );
    expect(skipped).toEqual([{ key: 'a.md', reason: expect.stringMatching(/^red sent b\.md.{0,30}y+…$/) }]);
    expect(skipped[0]?.reason).toMatch(/^[\x20-\x7e…]{100,400}$/);
    const { team } = await syncBehind(one, async ({ path }, answer) =>
      path === '/v1/keys' ? json(200, { ...JSON.parse(await answer.text()), team: 'core\nsent b.md' }) : null,
    ).catch((error) => ({ team: String(error.message) }));
    expect(team).not.toContain('\n');
  });

  test.each([
    ['a refused deletion', 'DELETE', 412],
    ['a refused change', 'PUT', 412],
    ['a change', 'PUT', 200],
  ])('writes nothing outside of the folder because %s names another key', async (_name, method, status) => {
    const [one] = await twoFolders();
    one.write('a.md', 'x\n');
    one.write('b.md', 'x\n');
    await one.sync();
    one.remove('a.md');
    one.write('b.md', 'y\n');
    const entry = {
      ...{ key: '../evil.md', version: 9, etag: '"9-x"', size: 5, deleted: false },
      checksum: digestOf(Buffer.from('evil\n')),
    };
    const lie: Lie = async (request) => {
      if (request.method === method)
        return json(status, status === 200 ? entry : { error: { code: 'x', message: 'y', current: entry } });
      return request.path.includes('evil')
        ? new Response('evil\n', { status: 200, headers: { etag: entry.etag } })
        : null;
    };
    await expect(syncBehind(one, lie)).rejects.toThrow(/answered for another key/);
    expect(existsSync(join(dirname(one.path), 'evil.md'))).toBe(false);
    expect((await one.sync()).skipped).toEqual([]);
    expect(one.files()).toEqual(['b.md']);
  });

  test('names a folder that is a link which leads nowhere', async () => {
    const [one] = await twoFolders();
    const link = join(dirname(one.path), 'link');
    symlinkSync(join(dirname(one.path), 'missing'), link);
    for (const folder of [link, join(link, 'below')])
      await expect(one.sync(one.server.token, { folder })).rejects.toThrow(
        `${folder} cannot be synchronised: ${link} is a link that leads nowhere`,
      );
    expect(readdirSync(dirname(one.path)).sort()).toEqual(['link', 'memory']);
  });
});

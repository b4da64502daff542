import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/index.ts';
import { openReader } from '../../src/journal/sessions.ts';
import { rebuiltRequests } from '../fixtures/rebuilt-requests.ts';
import { runSync } from '../fixtures/run-sync.ts';
import { test, type User } from '../fixtures/user.ts';

const READ = { name: 'Read', input: { file_path: 'README.md' } };

describe.concurrent('LOG-1: what was sent can be made again from the journal, byte for byte', () => {
  test('over tools, images, thinking, retries, a resume and another model', async ({ user }) => {
    const pixel =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
    writeFileSync(join(user.repository, 'pixel.png'), Buffer.from(pixel, 'base64'));
    const answers: Answer[] = [
      {
        thinking: 'Hm.',
        text: 'Grüße \u{1F600} "\\"',
        tool_use: [READ, { name: 'Nothing', input: { '2': 1, '1': 2 } }],
      },
      { tool_use: [{ name: 'Read', input: { file_path: 'pixel.png' } }] },
      { text: 'cut', stop_reason: 'max_tokens' },
      { text: 'off' },
      { text: 'resumed' },
      { text: 'other' },
    ];
    let faults = 1;
    const emulator = await user.emulate({
      respond: ({ turn }) => answers[turn],
      fault: ({ turn }) => (turn === 1 && faults-- > 0 ? { kind: 'malformed_event' } : undefined),
    });
    await user.ramet(['-p', 'First.']);
    await user.here(['-p', 'Second.', '--continue']);
    const end = await user.here(['-p', 'Third.', '--continue', '--model', 'opus']);
    expect(end).toMatchObject({ code: 0, stdout: 'other\n' });
    const [session = ''] = user.sessions();
    const reader = openReader({ project: user.project, session });
    const rebuilt = rebuiltRequests(reader, session);
    reader.close();
    expect(emulator.requests).toHaveLength(7);
    expect(rebuilt).toEqual(emulator.requests.map(({ body }) => body));
  });
});

describe.concurrent('LOG-1: nothing is written unasked', () => {
  test('a run that only reads leaves everything outside RAMET_HOME as it was', async ({ user }) => {
    await user.model({ tool_use: [READ, { name: 'Grep', input: { pattern: 'Test' } }] }, { text: 'ok' });
    // Makes git want to refresh its index, which would be a write.
    utimesSync(join(user.repository, 'README.md'), 1e9, 1e9);
    const before = snapshot(user);
    await user.here(['-p', 'Look around.']);
    await user.here(['ps']);
    await user.here(['show']);
    expect(snapshot(user)).toEqual(before);
    expect(runSync('git', ['status', '--porcelain'], { cwd: user.repository })).toBe('');
  });

  test('what is kept is for its user alone', async ({ user }) => {
    await user.model({ tool_use: [{ name: 'Bash', input: { command: 'seq 1 20000' } }] }, { text: 'ok' });
    await user.here(['-p', 'x', '--permission-mode', 'bypassPermissions']);
    const kept = filesBelow(user.rametHome);
    expect(kept.length).toBeGreaterThan(2);
    for (const path of kept) expect(statSync(path).mode & 0o077, path).toBe(0);
  });
});

describe.concurrent('LOG-1: the same prompt twice at once in one repository', () => {
  test('makes two sessions, both whole', async ({ user }) => {
    const emulator = await user.model({ tool_use: [READ] }, { text: 'Done.' });
    const runs = [1, 2, 3].map(() => user.here(['-p', 'Same.', '--output-format', 'json']));
    const ends = await Promise.all(runs);
    const sessions = ends.map(({ stdout }) => JSON.parse(stdout).session_id);
    expect(ends.map(({ code, stderr }) => [code, stderr])).toEqual([1, 2, 3].map(() => [0, '']));
    expect(new Set(sessions)).toEqual(new Set(user.sessions()));
    expect(sessions).toHaveLength(3);
    const agents = JSON.parse((await user.here(['ps', '--json'])).stdout);
    expect(agents.map(({ status, turns }: { status: string; turns: number }) => [status, turns])).toEqual([
      ['done', 2],
      ['done', 2],
      ['done', 2],
    ]);
    const sent = emulator.requests.map(({ body }) => body).sort();
    const rebuilt = sessions.flatMap((session) => {
      const reader = openReader({ project: user.project, session });
      const bodies = rebuiltRequests(reader, session);
      reader.close();
      return bodies;
    });
    expect(rebuilt.sort()).toEqual(sent);
  });
});

/** Path to content of every file the user has, what Ramet keeps apart. */
function snapshot(user: User): Record<string, string> {
  const paths = filesBelow(user.root).filter((path) => !path.startsWith(user.rametHome));
  return Object.fromEntries(
    paths.map((path) => [
      relative(user.root, path),
      createHash('sha256').update(readFileSync(path)).digest('hex'),
    ]),
  );
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../fixtures/user.ts';

describe.concurrent('MEM-2: ramet memory', () => {
  test('saves notes of a person, which the next session begins with, and undoes them', async ({ user }) => {
    const emulator = await user.model({ text: 'one' });
    expect((await user.here(['memory', 'show'])).stdout).toContain('nothing is remembered here yet');
    expect(existsSync(join(user.rametHome, 'memory'))).toBe(false);
    const added = await user.ramet(['memory', 'edit', '--add', 'Tests run with npm test.', '--json']);
    const { path, change } = JSON.parse(added.stdout);
    expect(change).toBe('p1');
    expect(readFileSync(path, 'utf8')).toBe('## Notes of the user\n- Tests run with npm test.\n');
    await user.here(['memory', 'edit', 'user', '--add', 'Answer in German.']);
    // Standard input is the test runner's: no command here reads it, and none closes it.
    expect(await user.here(['-p', 'hello'])).toMatchObject({ code: 0, stderr: '' });
    expect(await user.here(['-p', 'hello'])).toMatchObject({ code: 0, stderr: '' });
    expect(emulator.requests[0]?.body).toContain('- Tests run with npm test.');
    expect(emulator.requests[0]?.body).toContain('- Answer in German.');
    expect((await user.here(['memory', 'show'])).stdout).toMatch(
      /^project {2}\/.+\/memory\/MEMORY\.md\n {2}## Notes of the user\n/,
    );
    expect((await user.here(['memory', 'why', 'npm test'])).stdout).toMatch(
      /MEMORY\.md:2\n {2}- Tests run with npm test\.\n {2}a note of the user, .+ \(p1\)\n$/,
    );
    expect((await user.here(['memory', 'undo', 'p1'])).stdout).toContain('undone p1 (a note of the user)');
    expect(existsSync(path)).toBe(false);
    expect((await user.here(['memory', 'show', '--changes'])).stdout).toMatch(/undo of p1/);
    const files = JSON.parse((await user.here(['memory', 'show', '--json'])).stdout).files;
    expect(files).toMatchObject([{ scope: 'user', lines: 2, problem: null }]);
  });

  test('opens an editor, and merges what was written meanwhile', async ({ user }) => {
    const first = JSON.parse((await user.here(['memory', 'edit', '--add', 'one', '--json'])).stdout);
    const script = join(user.root, 'editor.sh');
    writeFileSync(
      script,
      `#!/bin/sh\nprintf '# Mine\\n' | cat - "$1" > "$1.new" && mv "$1.new" "$1"\necho '- by an agent' >> '${first.path}'\n`,
      { mode: 0o755 },
    );
    const edited = await user.ramet(['memory', 'edit'], { env: { EDITOR: script } });
    expect(edited).toMatchObject({ code: 0 });
    expect(edited.stdout).toMatch(/^saved as p\d: /);
    expect(readFileSync(first.path, 'utf8')).toBe('# Mine\n## Notes of the user\n- one\n- by an agent\n');
    // Whatever its end is: an editor that was only closed has changed nothing.
    for (const text of ['- a', '- a\n\n\n']) {
      writeFileSync(first.path, text);
      const closed = await user.ramet(['memory', 'edit'], { env: { EDITOR: 'true' } });
      expect([closed.stdout.slice(0, 15), readFileSync(first.path, 'utf8')]).toEqual([
        'nothing changed',
        text,
      ]);
    }
  });

  test('keeps what was written in the editor where it cannot be saved, and says where', async ({ user }) => {
    const token = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40);
    const script = join(user.root, 'editor.sh');
    writeFileSync(script, `#!/bin/sh\nprintf -- '- an hour of work\\n- ${token}\\n' > "$1"\n`, {
      mode: 0o755,
    });
    const { code, stderr } = await user.ramet(['memory', 'edit'], { env: { EDITOR: script } });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /it looks like a secret in line 2 \(.+\); memory keeps none; what you wrote is in \S+\.md\n$/,
    );
    const kept = / (\S+\.md)\n$/.exec(stderr)?.[1] ?? '';
    expect(readFileSync(kept, 'utf8')).toBe(`- an hour of work\n- ${token}\n`);
    expect(statSync(kept).mode & 0o777).toBe(0o600);
  });

  test('takes back what is left of a change, and says what that is', async ({ user }) => {
    const note = async (text: string): Promise<string> =>
      JSON.parse((await user.here(['memory', 'edit', '--add', text, '--json'])).stdout).path;
    const undo = async (...args: string[]): Promise<string> =>
      (await user.here(['memory', 'undo', ...args])).stdout;
    const path = await note('one');
    await note('two');
    await note('three');
    // The lines above are gone, and there is no newline at the end.
    writeFileSync(path, '- own\n- three');
    expect(await undo()).toMatch(
      /^undone p3 \(a note of the user\) in MEMORY\.md; ramet memory undo p5 brings it again\n/,
    );
    expect(readFileSync(path, 'utf8')).toBe('- own');
    expect(await undo()).toBe(
      'nothing of p2 (a note of the user) was left to take back in MEMORY.md; ramet memory undo p1 takes back p1\n',
    );
    writeFileSync(path, '## Notes of the user\n- own\n- one\n');
    expect(await undo('p1')).toContain('in MEMORY.md; 1 line stays, because of what was changed since; ');
    expect(readFileSync(path, 'utf8')).toBe('## Notes of the user\n- own\n');
  });

  test('says in one line what is wrong', async ({ user }) => {
    const token = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40);
    const says = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await user.here(['memory', ...args]);
      expect([code, stdout, stderr.trim().split('\n').length]).toEqual([2, '', 1]);
      return stderr;
    };
    expect(await says('undo')).toContain('there is nothing to undo');
    expect(await says('undo', 'twelve')).toContain('give one such as p12');
    expect(await says('why', 'no such thing')).toContain('no line of memory has "no such thing"');
    expect(await says('show', 'nothing.md')).toContain('there is no memory "nothing.md"');
    expect(await says('edit', '--add', ' ')).toContain('the note is empty');
    const refused = await says('edit', '--add', `the token is ${token}`);
    expect(refused).toMatch(/it looks like a secret in line 2 \(/);
    expect(refused).not.toContain(token);
    const path = join(user.project, 'memory', 'MEMORY.md');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.from([0xff, 0xfe, 0]));
    expect(await says('edit', '--add', 'x')).toContain('it is no UTF-8 text');
    expect(await says('why', 'anything')).toMatch(/no line of memory has "anything".*it is no UTF-8 text/);
    rmSync(path);
    symlinkSync(join(user.root, 'nowhere.md'), path);
    expect(await says('edit', '--add', 'x')).toContain('it is a link that leads nowhere');
  });
});

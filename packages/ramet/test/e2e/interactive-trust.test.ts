import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { writeFiles } from '../fixtures/temporary.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { test, type User } from '../fixtures/user.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
/** The choice is offered when keys count. */
const ASKED = /Trust it as it is now\? \[y\/N\]/;

function hooks(user: User, script: string): void {
  writeFiles(user.repository, {
    '.claude/settings.json': JSON.stringify({
      hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'bash tools/hook.sh' }] }] },
    }),
    'tools/hook.sh': script,
  });
}

/** A trusted folder whose hook has changed since. */
async function changed(user: User): Promise<string> {
  const mark = join(user.root, 'acted');
  await user.model({ text: 'Hello.' }, { text: 'Again.' });
  hooks(user, 'true\n');
  await user.ramet(['trust']);
  hooks(user, `touch ${mark}\n`);
  return mark;
}

test('SEC-1, UI-3: what waits for trust is said when the terminal opens, before the first prompt', async ({
  user,
}) => {
  await user.model({ text: 'Hello.' });
  hooks(user, 'true\n');
  await using terminal = startOnTerminal(user, [], { columns: 160 });
  await terminal.shows(/hooks? .*(?:does|do) not run before you trust this folder/);
  // Neither a session nor anything else.
  expect(existsSync(user.rametHome)).toBe(false);
});

describe.concurrent('SEC-1: a trusted folder that has changed', () => {
  test('is asked about on a terminal with the difference, and yes trusts it', async ({ user }) => {
    const mark = await changed(user);
    await using terminal = startOnTerminal(user, [], { columns: 160 });
    await terminal.shows(/^changed {2}hooks: \.claude\/settings\.json \(with tools\/hook\.sh\)$/m);
    await terminal.shows(/^ {2}- true\n {2}\+ touch \S+acted$/m);
    await terminal.shows(ASKED);
    terminal.type('y\r');
    await terminal.shows(/^>/m);
    terminal.type('hi\r');
    await terminal.shows('Hello.');
    expect(existsSync(mark)).toBe(true);
    terminal.type(CTRL_D);
    expect(await terminal.ended).toBe(0);
    expect((await user.ramet(['trust', '--show'])).stdout).toMatch(/is trusted\n$/);
  });

  test('no leaves it out, and the same state is not asked about twice', async ({ user }) => {
    const mark = await changed(user);
    await using terminal = startOnTerminal(user, [], { columns: 160 });
    await terminal.shows(ASKED);
    terminal.type('\r');
    await terminal.shows(/^>/m);
    terminal.type('hi\r');
    await terminal.shows(/a file that its hooks run is not what you trusted/);
    await terminal.shows('Hello.');
    expect(existsSync(mark)).toBe(false);
    terminal.type(CTRL_D);
    await terminal.ended;
    await using second = startOnTerminal(user, [], { columns: 160 });
    await second.shows(/^>/m);
    expect(second.screen).not.toContain('Trust it');
    second.type(CTRL_D);
    await second.ended;
    hooks(user, `touch ${mark} # other\n`);
    await using third = startOnTerminal(user, [], { columns: 160 });
    await third.shows(ASKED);
    third.type(CTRL_C);
    expect(await third.ended).toBe(130);
    expect(existsSync(mark)).toBe(false);
  });

  test('what changes while the question is open is not trusted by it', async ({ user }) => {
    const mark = await changed(user);
    await using terminal = startOnTerminal(user, [], { columns: 160 });
    await terminal.shows(ASKED);
    hooks(user, `touch ${mark} # swapped\n`);
    terminal.type('y\r');
    await terminal.shows(/It has changed again[\s\S]*# swapped[\s\S]*Trust it as it is now\? \[y\/N\]/);
    terminal.type('n\r');
    await terminal.shows('What is new or changed is not used.');
    await terminal.shows(/^>/m);
    expect((await user.ramet(['trust', '--show'])).stdout).toMatch(/^changed /m);
  });

  test('what was typed before the question could be read answers nothing', async ({ user }) => {
    const mark = await changed(user);
    await using terminal = startOnTerminal(user, [], { columns: 160 });
    // With a line that is not finished yet.
    terminal.type('y\ry\ry');
    await terminal.shows(/^changed {2}hooks/m);
    terminal.type('y\ry');
    await terminal.shows(ASKED);
    terminal.type('\r');
    await terminal.shows(/^>/m);
    expect((await user.ramet(['trust', '--show'])).stdout).toMatch(/^changed /m);
    expect(existsSync(mark)).toBe(false);
  });

  test('a long difference is shown page by page, to its end', async ({ user }) => {
    await changed(user);
    const lines = Array.from({ length: 90 }, (_, at) => `echo line-${at}`);
    hooks(user, `${lines.join('\n')}\n`);
    await using terminal = startOnTerminal(user, [], { columns: 160 });
    await terminal.shows(/\d+ more lines\. \[Enter, or n to stop\]/);
    expect(terminal.screen).not.toContain('Trust it');
    terminal.type('y\r');
    await terminal.shows(/^>/m);
    expect((await user.ramet(['trust', '--show'])).stdout).toMatch(/^changed /m);
  });

  test('a file that a newer version follows is shown as such, with its text', async ({ user }) => {
    await user.model({ text: 'Hello.' });
    hooks(user, '. lib/x.sh\n');
    writeFiles(user.repository, { 'lib/x.sh': `touch ${join(user.root, 'acted')}\n` });
    await user.ramet(['trust']);
    const folder = join(user.rametHome, 'trusted');
    for (const name of readdirSync(folder)) {
      const entry = JSON.parse(readFileSync(join(folder, name), 'utf8'));
      const part = (entry.parts ?? entry)['hooks .claude/settings.json'];
      delete part.by;
      delete part.files['lib/x.sh'];
      if (entry.parts !== undefined) part.digest = 'without that file';
      writeFiles(folder, { [name]: JSON.stringify(entry) });
    }
    await using terminal = startOnTerminal(user, [], { columns: 160 });
    await terminal.shows(
      / is what you trusted, and this version of Ramet follows more files that it runs:$/m,
    );
    await terminal.shows(
      /^ {2}lib\/x\.sh is run too: this version of Ramet follows more files:\n {2}\+ touch \S+acted$/m,
    );
    await terminal.shows(ASKED);
    terminal.type('y\r');
    await terminal.shows(/^>/m);
    terminal.type('hi\r');
    await terminal.shows('Hello.');
    expect(existsSync(join(user.root, 'acted'))).toBe(true);
    terminal.type(CTRL_D);
    expect(await terminal.ended).toBe(0);
  });

  test('a caller that trusts it for once is not asked', async ({ user }) => {
    await changed(user);
    await using terminal = startOnTerminal(user, ['--trust'], { columns: 160 });
    await terminal.shows(/^>/m);
    expect(terminal.screen).not.toContain('Trust it');
  });
});

import { readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { drain } from '../../../../test/fixtures/engine.ts';
import { temporaryDirectory, writeFiles } from '../../../../test/fixtures/temporary.ts';
import { test } from '../../../../test/fixtures/temporary-directory.ts';
import { startEmulator } from '../../../emulator/index.ts';
import { changeTrust } from '../../../sdk/calls/trust.ts';
import type { SessionOptions } from '../../../sdk/index.ts';
import { scriptedModel } from '../../../testing/scripted-model.ts';
import type { CommandIo } from '../../io.ts';
import { quotedPath } from '../editor/mentions.ts';
import { statusText } from '../screen/live-rows.ts';
import { Chat } from './chat.ts';
import { runChatCommand } from './chat-commands.ts';

const { signal } = new AbortController();

function started(cwd: string, ...steps: Parameters<typeof scriptedModel>) {
  return startedWith(cwd, { provider: scriptedModel(...steps) });
}

function startedWith(cwd: string, options: Partial<SessionOptions>, variables: Record<string, string> = {}) {
  const home = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH, HOME: join(cwd, 'home') };
  const env = { ...home, ...variables };
  const io: CommandIo = {
    ...{ cwd, env, signal, columns: 80, isTerminal: false },
    out: () => {},
    note: () => {},
    progress: () => {},
  };
  const notes: string[] = [];
  const chat = new Chat({ cwd, env, contextWindow: 20_000, ...options }, io, (line) => void notes.push(line));
  onTestFinished(() => chat[Symbol.asyncDispose]());
  const say = async (prompt: string) => drain(chat.run(prompt, { signal, waitForChildren: false }));
  const command = (name: string, argument = '') => runChatCommand({ name, argument }, { chat, io, signal });
  return { chat, say, command, notes };
}

describe('UI-1: commands about the session', () => {
  test('/status and /cost agree where forks work in the background', async ({ directory }) => {
    const emulator = await startEmulator({ respond: () => ({ text: 'NEXT: Go on.' }) });
    onTestFinished(() => emulator.close());
    const options = {
      ...{ attended: true, contextWindow: 200_000, onSuggestions: () => {} },
      settings: { background: { costShare: 1 }, memory: { enabled: false } },
    };
    const place = { ANTHROPIC_BASE_URL: emulator.url, ANTHROPIC_API_KEY: 'test' };
    const { chat, say, command } = startedWith(directory, options, place);
    await say('Hello?');
    await chat.session?.background?.idle();
    expect(chat.tally.responses).toBe(2);
    const shown = `$${chat.tally.costUsd?.toFixed(4)}`;
    expect((await command('status')).text).toContain(shown);
    expect((await command('cost')).text).toContain(shown);
  });

  test('MEM-1: where memory is off, a note is refused, before the first prompt and after it', async ({
    directory,
  }) => {
    const provider = scriptedModel({ text: 'Hello.' });
    const settings = { memory: { enabled: false } };
    const { chat, say, command } = startedWith(directory, { provider, settings });
    const refused = /memory is off here, by memory.enabled or --bare.*ramet memory edit --add saves it/;
    await expect(command('remember', 'Answer in German.')).rejects.toThrow(refused);
    await say('Hello?');
    await expect(command('remember', 'Answer in German.')).rejects.toThrow(refused);
    const home = chat.options.env?.RAMET_HOME ?? '';
    expect(readdirSync(home, { recursive: true }).filter((name) => String(name).includes('MEMORY'))).toEqual(
      [],
    );
  });

  test('SEC-1: a skill of the repository that changed since trust, or without it, says so', async ({
    directory,
  }) => {
    const { chat, say, command } = started(directory, { text: 'Hello.' });
    const names = ['own', 'my-own'];
    const write = (body: string): void =>
      writeFiles(
        directory,
        Object.fromEntries(
          names.map((name) => [
            `.claude/skills/${name}/SKILL.md`,
            `---\nname: ${name}\ndescription: d\n---\n${body}\n`,
          ]),
        ),
      );
    write('Do it.');
    expect(await command('own')).toMatchObject({ prompt: '/own' });
    for (const name of names)
      await expect(say(`/${name}`)).rejects.toThrow(`/${name} is of this repository, which is not trusted`);
    changeTrust('trust', { cwd: directory, env: chat.options.env ?? {} });
    write('Do something else.');
    expect(await command('own')).toMatchObject({ prompt: '/own' });
    for (const name of names) await expect(say(`/${name}`)).rejects.toThrow('it is not what you trusted');
  });

  test('UI-3, SEC-1: what needs no session is told before the first prompt, once, and leaves nothing behind', async ({
    directory,
  }) => {
    writeFiles(directory, {
      '.claude/settings.json': '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}',
      '.claude/commands/own.md': 'Do it.\n',
      '.claude/agents/a.md': '---\nname: a\ndescription: d\n---\nYou are a.\n',
      '.claude/rules/r.md': '---\npaths: 5\n---\nTabs.\n',
      'plug/.claude-plugin/plugin.json': '{"name": "plug", "agents": "./nope"}',
    });
    const plugins = [join(directory, 'plug')];
    const provider = scriptedModel({ text: 'Hello.' }, { text: 'Hello again.' });
    const { chat, say, command, notes } = startedWith(directory, { plugins, provider });
    await chat.learnDefaults();
    const before = [...notes];
    for (const line of [
      /hooks.* (?:does|do) not run before you trust this folder/,
      /^1 skill or command of this repository, which is not trusted: not in use/,
      /agent definition.* not trusted/,
      /rules\/r\.md:2: paths is no list of paths/,
      /plug: agents: \.\/nope: not there/,
      /is not in a git repository: working without git$/,
    ])
      expect(before.filter((text) => line.test(text))).toHaveLength(1);
    expect(chat.session).toBe(null);
    expect(readdirSync(chat.options.env?.RAMET_HOME ?? '')).toEqual([]);
    await say('Hello?');
    expect(notes).toEqual(before);
    await command('clear');
    await say('Hello again?');
    expect(notes).toEqual(before);
  });

  test('UI-3: /exit leaves like /quit, unless a skill or a command has that name', async ({ directory }) => {
    const { chat, command } = started(directory);
    expect(await command('exit')).toEqual(await command('quit'));
    writeFiles(directory, { '.claude/commands/exit.md': 'Tidy up.\n' });
    changeTrust('trust', { cwd: directory, env: chat.options.env ?? {} });
    expect(await command('exit')).toEqual({ text: '', prompt: '/exit' });
  });

  test('/clear keeps the model in the line of figures; /help wraps its second column', async ({
    directory,
  }) => {
    const { chat, say, command } = started(directory, { text: 'Hello.' });
    await say('Hello?');
    const { model } = chat;
    await command('clear');
    expect([chat.session, chat.model]).toEqual([null, model]);
    const { text } = await command('help');
    const lines = text.trimEnd().split('\n');
    expect(lines.filter((line) => line.length > 79)).toEqual([]);
    expect(lines.some((line) => /^ {20,}\S/.test(line))).toBe(true);
  });

  test('/clear keeps the mode and the model that are in force, /resume takes those of the session', async ({
    directory,
  }) => {
    const { chat, say, command } = startedWith(directory, {
      permissionMode: 'acceptEdits',
      provider: scriptedModel({ text: 'Hello.' }, { text: 'Hello.' }),
    });
    await say('Hello?');
    const first = chat.session?.id ?? '';
    await command('permissions', 'plan');
    await command('model', 'opus');
    const now = [chat.model, 'plan'];
    await command('clear');
    expect([chat.model, chat.permissionMode]).toEqual(now);
    await say('Hello again?');
    const { session } = chat;
    expect([session?.model, session?.agent.permissionMode]).toEqual(now);
    await command('permissions', 'default');
    await command('resume', first);
    expect([chat.session?.id, chat.model, chat.permissionMode]).toEqual([first, ...now]);
  });

  test('EXT-2: hooks learn that a session began or ended with /clear or /resume, or because the user left', async ({
    directory,
  }) => {
    const told: unknown[] = [];
    const note = ({ source, reason }: Record<string, unknown>): void => void told.push(source ?? reason);
    const hooks = { SessionStart: [{ hooks: [note] }], SessionEnd: [{ hooks: [note] }] };
    const provider = scriptedModel({ text: 'Hello.' }, { text: 'Hello.' });
    const { chat, say, command } = startedWith(directory, { provider, hooks });
    await say('Hello?');
    const first = chat.session?.id ?? '';
    await command('clear');
    await say('Hello again?');
    await command('resume', first);
    chat.endReason = 'prompt_input_exit';
    await chat[Symbol.asyncDispose]();
    // The session that is resumed is opened before the present one is left: it may not open.
    expect(told).toEqual(['startup', 'clear', 'clear', 'resume', 'resume', 'prompt_input_exit']);
  });

  test('a provider without a key is told before the first prompt', async ({ directory }) => {
    const told: string[] = [];
    const env = { RAMET_HOME: temporaryDirectory(), HOME: directory, RAMET_PROVIDER: 'anthropic' };
    const io = { cwd: directory, env, signal, columns: 80, isTerminal: false };
    const silent = { out: () => {}, note: () => {}, progress: () => {} };
    await using chat = new Chat({ cwd: directory, env }, { ...io, ...silent }, (line) => told.push(line));
    await chat.learnDefaults();
    expect(told).toEqual([expect.stringMatching(/^no model to talk to: set ANTHROPIC_API_KEY/)]);
  });

  test('say what fills the context, where the session stands, and write it to a file', async ({
    directory,
  }) => {
    writeFiles(directory, { 'long.txt': 'A long line of text, again and again.\n'.repeat(400) });
    const { chat, say, command } = started(
      directory,
      { text: 'I look.', calls: [{ name: 'Read', input: { file_path: 'long.txt' } }] },
      { text: 'Seen.', usage: { input_tokens: 9_990, output_tokens: 10 } },
    );
    expect(statusText(chat)).not.toContain('context');
    expect((await command('context')).text).toBe('there is no conversation yet');
    expect((await command('export')).text).toBe('there is nothing to export yet');
    expect((await command('status')).text).toContain('none yet');

    await say('Look.');
    expect(statusText(chat)).toContain(' · context 50% · ');
    const full = { model: 'm', permissionMode: 'plan', tally: chat.tally, context: { tokens: 9, window: 2 } };
    expect(statusText(full)).toContain(' · context 450%: /compact · ');
    const { text } = await command('context');
    expect(text).toMatch(/: 10\.0k of 20\.0k tokens \(50%\)\n/);
    expect(text).toMatch(/^results of Read +~[\d.k]+ +\d+% +#+$/m);
    expect(text).toMatch(/^tool definitions /m);
    const parts = chat.session?.context().parts() ?? [];
    const sum = parts.reduce((all, { tokens }) => all + tokens, 0);
    expect(Math.abs(sum - 10_000)).toBeLessThanOrEqual(parts.length);
    expect((await command('status')).text).toMatch(/^context +10\.0k tokens \(50%\)$/m);

    const file = `ramet-${chat.session?.id}.md`;
    expect((await command('export')).text).toContain(file);
    expect(readFileSync(join(directory, file), 'utf8')).toContain('Seen.');
    await expect(command('export')).rejects.toThrow(file);
    writeFiles(directory, { [file]: 'old', 'my notes.md': 'old' });
    for (const argument of ['--force', '--force my notes.md', 'my notes.md --force'])
      expect((await command('export', argument)).text).toContain(
        argument.includes('my') ? 'my notes.md' : file,
      );
    expect(readFileSync(join(directory, 'my notes.md'), 'utf8')).toContain('Seen.');
    await expect(command('export', '--froce')).rejects.toThrow('/export has no option --froce');
    expect(readdirSync(directory).filter((name) => name.startsWith('-'))).toEqual([]);
  });

  test('RES-2: an answer that is stopped is on the bill of every view', async ({ directory }) => {
    const emulator = await startEmulator({
      respond: () => ({ text: 'word '.repeat(400) }),
      latency: { tokensPerSecond: 400 },
    });
    onTestFinished(() => emulator.close());
    const place = { ANTHROPIC_BASE_URL: emulator.url, ANTHROPIC_API_KEY: 'test' };
    const { chat, command } = startedWith(directory, {}, place);
    const stop = new AbortController();
    const events = chat.run('Tell.', { signal: stop.signal, waitForChildren: false });
    for (let next = await events.next(); !next.done; next = await events.next())
      if (next.value.type === 'text_delta') stop.abort('stopped');
    expect(chat.tally).toMatchObject({ responses: 0, usage: { estimated: true } });
    expect(chat.tally.costUsd).toBeGreaterThan(0);
    const shown = `$${chat.tally.costUsd?.toFixed(4)}`;
    expect((await command('status')).text).toContain(shown);
    expect((await command('cost')).text).toContain(shown);
    expect((await command('cost')).text).toMatch(/^output +~\d+ tokens$/m);
  });

  test('UI-3: after something was taken back, the context is the same in every view', async ({
    directory,
  }) => {
    const { chat, say, command } = started(
      directory,
      { text: 'One.', usage: { input_tokens: 3_990, output_tokens: 10 } },
      { text: 'Two.', usage: { input_tokens: 9_990, output_tokens: 10 } },
    );
    await say('First.');
    await say('Second, with more words.');
    expect((await command('status')).text).toMatch(/^context +10\.0k tokens/m);
    await expect(command('rewind', '99')).rejects.toThrow('there is no prompt 99: there are 1 to 2');
    expect((await command('rewind', '2')).pick?.title).toBe('take back what, from prompt 2 on?');
    await command('rewind', '2 conversation');
    const [, used = '?'] = /: (\S+) of 20\.0k tokens/.exec((await command('context')).text) ?? [];
    expect(used).not.toBe('10.0k');
    expect((await command('status')).text).toMatch(new RegExp(`^context +${used} tokens`, 'm'));
    expect(statusText(chat)).not.toContain('context 50%');
  });

  test('UI-3: what a prompt attaches is named: a link with what it leads to, a folder as not attached', async ({
    directory,
  }) => {
    const outside = temporaryDirectory();
    const odd = 'bad\u001b[31m\nname.txt';
    writeFiles(outside, { 'shadow.txt': 'one\ntwo\n' });
    writeFiles(directory, { 'a.txt': 'one\n', 'sub/b.txt': 'two\n', [odd]: 'odd\n' });
    symlinkSync(join(outside, 'shadow.txt'), join(directory, 'shad'));
    symlinkSync('a.txt', join(directory, 'near'));
    writeFiles(directory, { 'home/rc.txt': 'x' });
    const { chat } = started(directory);
    const attach = (prompt: string) => chat.attach(prompt, signal);
    expect(await attach('see @a.txt, @shad and @near')).toEqual({
      problems: [],
      notes: [
        'attached a.txt, 1 line',
        `attached shad -> ${realpathSync(outside)}/shadow.txt, 2 lines`,
        'attached near -> a.txt, 1 line',
      ],
    });
    expect(await attach('@sub and @missing')).toEqual({
      ...{ problems: [], notes: ['@sub is a folder and was not attached; the agent can look into it'] },
    });
    expect(await attach('@~/rc.txt')).toMatchObject({ notes: [`attached ${directory}/home/rc.txt, 1 line`] });
    expect(await attach(`@${quotedPath(odd)}`)).toEqual({
      ...{ problems: [], notes: ['attached bad\\x1b[31m\\nname.txt, 1 line'] },
    });
  });

  test('/undo with nothing left names the command that takes the last one back', async ({ directory }) => {
    const write = { name: 'Write', input: { file_path: 'a.txt', content: 'x' } };
    const { chat, say, command } = started(directory, { calls: [write] }, { text: 'Done.' });
    chat.setPermissionMode('acceptEdits');
    await say('Write.');
    expect((await command('undo')).text).toContain('/undo redo takes this back');
    await expect(command('undo')).rejects.toThrow('is undone already; /undo redo takes the last undo back');
  });

  test('/init and /review are prompts', async ({ directory }) => {
    const { command } = started(directory);
    expect((await command('init')).prompt).toContain('AGENTS.md');
    expect((await command('review')).prompt).toContain('not committed');
    expect((await command('review', 'the last commit')).prompt).toMatch(
      /^Review the last commit\. Change nothing\./,
    );
  });
});

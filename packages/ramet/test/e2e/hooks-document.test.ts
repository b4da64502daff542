import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, toolResults } from '../fixtures/user.ts';

const DOCUMENT = join(import.meta.dirname, '../../../../docs/hooks.md');
const LIBRARY = join(import.meta.dirname, '../../src/sdk/index.ts');

/** The examples of one language, as they stand. */
function examples(language: string): string[] {
  const text = readFileSync(DOCUMENT, 'utf8');
  return Array.from(text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)).flatMap(([, name, body = '']) =>
    name === language ? [body] : [],
  );
}

const bash = (command: string): Answer => ({ tool_use: [{ name: 'Bash', input: { command } }] });

describe.concurrent('EXT-2: the examples of docs/hooks.md run as they stand', () => {
  test('the first one refuses a push and nothing else', async ({ user }) => {
    const [settings = ''] = examples('json');
    const [script = ''] = examples('bash');
    const [, path = ''] = /^# (\S+)$/m.exec(script) ?? [];
    writeFiles(user.repository, { '.claude/settings.json': settings, [path]: script });
    await user.ramet(['trust']);
    const emulator = await user.model(bash('git push origin main'), bash('echo fine'), { text: 'ok' });
    expect(await user.here(['-p', 'x'])).toMatchObject({ code: 0 });
    const [refused, fine] = toolResults(emulator);
    expect(refused?.text).toContain('Do not push. Open a pull request instead.');
    expect(fine?.text).toContain('fine');
  });

  test('the answer in JSON allows, changes the input and adds context', async ({ user }) => {
    const [, answer = ''] = examples('json');
    writeFiles(user.root, { 'home/answer.json': answer });
    writeFiles(user.repository, {
      'package.json': JSON.stringify({ scripts: { test: 'echo ran with' } }),
    });
    const hook = { type: 'command', command: `cat '${join(user.root, 'home/answer.json')}'` };
    writeFiles(user.root, {
      'home/.claude/settings.json': JSON.stringify({ hooks: { PreToolUse: [{ hooks: [hook] }] } }),
    });
    const emulator = await user.model(bash('npm test'), { text: 'ok' });
    await user.here(['-p', 'x']);
    const [result] = toolResults(emulator);
    expect(result?.text).toContain('ran with --run');
    expect(result?.text).toContain('Tests run without a watcher.');
  });

  test('the program refuses a push', async ({ user }) => {
    const [program = ''] = examples('ts');
    const emulator = await user.model(bash('git push'), { text: 'ok' });
    const file = join(user.root, 'program.ts');
    writeFiles(user.root, {
      'program.ts': `${program.replace("'ramet'", JSON.stringify(LIBRARY))}\nawait session.ask('x');\n`,
    });
    // The model is in this process: it must not be blocked.
    await promisify(execFile)(process.execPath, [file], { cwd: user.repository, env: user.env });
    expect(toolResults(emulator)[0]?.text).toContain('Bash is refused by a hook');
  });

  test('transcript_path is a file of the conversation so far, which goes with the session', async ({
    user,
  }) => {
    const kept = join(user.root, 'kept');
    const hook = {
      type: 'command',
      command: `node -e "const i=JSON.parse(fs.readFileSync(0));fs.writeFileSync('${kept}',i.transcript_path+'\\n'+fs.readFileSync(i.transcript_path))"`,
    };
    writeFiles(user.root, {
      'home/.claude/settings.json': JSON.stringify({ hooks: { Stop: [{ hooks: [hook] }] } }),
    });
    await user.model(bash('echo one'), { text: 'the end' });
    await user.here(['-p', 'say one']);
    const [path = '', ...lines] = readFileSync(kept, 'utf8').trim().split('\n');
    const said = lines.map((line): { type: string; message: { content: unknown } } => JSON.parse(line));
    expect(said.map(({ type }) => type)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(JSON.stringify(said[0])).toContain('say one');
    expect(JSON.stringify(said.at(-1))).toContain('the end');
    expect(existsSync(path)).toBe(true);
    const [session = ''] = user.sessions();
    await user.here(['sessions', 'rm', session]);
    expect(existsSync(path)).toBe(false);
  });
});

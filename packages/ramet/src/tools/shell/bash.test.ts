import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { testAgent } from '../../../test/fixtures/tool-context.ts';
import { readTool } from '../files/read.ts';
import { bashTool } from './bash.ts';

/** Whether the process lives; one that has ended and waits to be collected does not. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Waits for what a process will write; the test's own time limit is the only clock. */
async function eventually<T>(look: () => T | undefined | false): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    await sleep(10);
  }
}

function pidIn(directory: string, name: string): Promise<number> {
  return eventually(() => {
    const path = join(directory, name);
    return (
      existsSync(path) && Number(readFileSync(path, 'utf8').trim()) > 0 && Number(readFileSync(path, 'utf8'))
    );
  });
}

describe('RES-6: Bash runs a command', () => {
  test('in the agent’s directory, with the agent’s environment, its id and nothing else', async ({
    directory,
  }) => {
    const env = { PATH: process.env.PATH ?? '', ONLY: 'this' };
    const agent = testAgent(directory, { env });
    expect(await agent.text(bashTool, { command: 'pwd; cd /; pwd' })).toBe(`${directory}\n/`);
    expect(await agent.text(bashTool, { command: 'pwd' })).toBe(directory);
    const names = (await agent.text(bashTool, { command: 'compgen -e | sort' })).split('\n');
    expect(names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))).toEqual([
      'ONLY',
      'PATH',
      'RAMET_AGENT',
    ]);
  });

  test('and shows both outputs in the order they were written', async ({ directory }) => {
    const command = 'echo one; echo two >&2; echo three; echo four >&2';
    expect(await testAgent(directory).run(bashTool, { command })).toEqual({
      content: 'one\ntwo\nthree\nfour',
    });
  });

  test('and leaves no file when the output was short', async ({ directory }) => {
    const agent = testAgent(directory);
    expect(await agent.text(bashTool, { command: 'true' })).toBe('(no output)');
    expect(readdirSync(agent.context.outputDirectory)).toEqual([]);
  });

  test('and reports its exit code or signal as an error', async ({ directory }) => {
    const agent = testAgent(directory);
    expect(await agent.run(bashTool, { command: 'echo no; exit 3' })).toEqual({
      content: 'no\nExit code 3.',
      isError: true,
    });
    expect(await agent.text(bashTool, { command: 'kill -SEGV $$' })).toContain('Ended by SIGSEGV');
    expect(await agent.text(bashTool, { command: 'nosuchcommand' })).toContain('Exit code 127');
    expect(await agent.run(bashTool, { command: 'if' })).toMatchObject({ isError: true });
  });

  test('that gets no input and no terminal', async ({ directory }) => {
    expect(await testAgent(directory).text(bashTool, { command: 'cat; read x; tty' })).toContain('not a tty');
  });

  test('and shows text: no escape sequences, no NUL, bad bytes replaced', async ({ directory }) => {
    const command = `printf '\\033[31mred\\033[0m \\033]0;title\\007 a\\0b \\377 \\342\\202\\254'`;
    expect(await testAgent(directory).text(bashTool, { command })).toBe('red  ab \ufffd €');
  });

  test('that cannot start, and says why', async ({ directory }) => {
    const cwd = join(directory, 'gone');
    mkdirSync(cwd);
    const agent = testAgent(directory, { cwd });
    rmSync(cwd, { recursive: true });
    expect(await agent.text(bashTool, { command: 'true' })).toContain('no longer exists');
    const noBash = testAgent(directory, { env: { PATH: '/nonexistent' } });
    expect(await noBash.run(bashTool, { command: 'true' })).toMatchObject({ isError: true });
    expect(readdirSync(noBash.context.outputDirectory)).toEqual([]);
    expect(await testAgent(directory).text(bashTool, { command: `: ${'x'.repeat(200_000)}` })).toContain(
      'too long',
    );
    expect(await testAgent(directory).run(bashTool, { command: 'a\0b' })).toMatchObject({ isError: true });
  });

  test('whose output directory cannot be made, and says why', async ({ directory }) => {
    writeFileSync(join(directory, 'file'), '');
    const agent = testAgent(directory, { outputDirectory: join(directory, 'file/output') });
    expect(await agent.run(bashTool, { command: 'true' })).toMatchObject({ isError: true });
  });
});

describe('RES-6: Bash with much output', () => {
  test('shows its two ends and keeps all of it, private and without secrets', async ({ directory }) => {
    const agent = testAgent(directory, { redact: (text) => text.replaceAll('hunter22', '[redacted: P]') });
    const command = `echo first; for i in {1..9999}; do echo line $i; done; echo hunter22; printf '\\033[1mlast'`;
    const text = await agent.text(bashTool, { command });
    expect(text.length).toBeLessThan(31_000);
    expect(text).toMatch(/^first\nline 1\n/);
    expect(text).toMatch(/last$/);
    const path = /all of it is in (\S+) /.exec(text)?.[1] ?? '';
    expect(path).toBe(join(agent.context.outputDirectory, 'toolu_1.txt'));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toMatch(/^first\nline 1\n[\s\S]*line 9999\n\[redacted: P\]\nlast$/);
    expect(await agent.text(readTool, { file_path: path, offset: 5_000, limit: 1 })).toContain('line 4999');
  });

  test('of 10 MB in one line shows about 30,000 characters', async ({ directory }) => {
    const agent = testAgent(directory);
    const text = await agent.text(bashTool, {
      command: `head -c 10000000 /dev/zero | tr '\\0' '\\342\\202\\254x'`,
    });
    expect(text.length).toBeLessThan(31_000);
    expect(text).toContain('10.0 MB');
    expect(text.isWellFormed()).toBe(true);
  });

  test('keeps the files of two calls apart', async ({ directory }) => {
    const agent = testAgent(directory);
    const command = `head -c 100000 /dev/zero | tr '\\0' x`;
    await Promise.all([agent.run(bashTool, { command }), agent.run(bashTool, { command })]);
    expect(readdirSync(agent.context.outputDirectory).sort()).toEqual(['toolu_1-2.txt', 'toolu_1.txt']);
  });

  test('without end is stopped', async ({ directory }) => {
    const agent = testAgent(directory);
    // A file with a hole: as large as what must be stopped, without writing it.
    const command = 'echo $$ > pid; echo begun; truncate -s 257000000 /dev/stdout; exec sleep 300';
    const result = await agent.run(bashTool, { command });
    expect(result).toEqual({
      content: expect.stringMatching(/^begun\n[\s\S]*printed over 256\.0 MB/),
      isError: true,
    });
    expect(isAlive(await pidIn(directory, 'pid'))).toBe(false);
  });
});

describe('RES-6: Bash leaves no process behind', () => {
  test('on a timeout, and shows what was printed so far', async ({ directory }) => {
    const agent = testAgent(directory);
    const command = 'sleep 300 & echo $! > child; echo $$ > shell; echo begun; wait';
    const result = await agent.run(bashTool, { command, timeout: 500 });
    expect(result).toEqual({
      content: 'begun\nTimed out after 500 ms: the command was stopped.',
      isError: true,
    });
    expect(isAlive(await pidIn(directory, 'child'))).toBe(false);
    expect(isAlive(await pidIn(directory, 'shell'))).toBe(false);
  });

  test('on an abort, also of one that will not hear SIGTERM', async ({ directory }) => {
    const agent = testAgent(directory);
    const command = `trap '' TERM; (trap '' TERM; echo $BASHPID > child; while :; do sleep 0.1; done) & echo $$ > shell; wait`;
    const result = agent.run(bashTool, { command });
    const [child, shell] = [await pidIn(directory, 'child'), await pidIn(directory, 'shell')];
    expect([isAlive(child), isAlive(shell)]).toEqual([true, true]);
    agent.abort();
    expect(await result).toMatchObject({ content: expect.stringContaining('Interrupted'), isError: true });
    expect([isAlive(child), isAlive(shell)]).toEqual([false, false]);
  });

  test('but not of one that is about to end when a limit or an outage ends the run', async ({
    directory,
  }) => {
    const agent = testAgent(directory);
    const command = 'echo $$ > shell; until [ -e go ]; do :; done; echo whole';
    const result = agent.run(bashTool, { command });
    await pidIn(directory, 'shell');
    agent.abort('limit');
    writeFileSync(join(directory, 'go'), '');
    expect(await result).toEqual({ content: 'whole' });
  });

  test('and starts none when it was aborted before', async ({ directory }) => {
    const agent = testAgent(directory);
    agent.abort();
    expect(await agent.run(bashTool, { command: 'touch ran' })).toMatchObject({ isError: true });
    expect(readdirSync(directory)).toEqual([]);
  });

  test('once the agent ends: a child that outlives its shell does not hold up the call', async ({
    directory,
  }) => {
    const agent = testAgent(directory);
    const command =
      'echo now; (until [ -e go ]; do sleep 0.05; done; echo later; exec sleep 300) & echo $! > child';
    const text = await agent.text(bashTool, { command });
    expect(text).toMatch(/^now\n\(Processes it started are still running/);
    const child = await pidIn(directory, 'child');
    writeFileSync(join(directory, 'go'), '');
    const path = join(agent.context.outputDirectory, 'toolu_1.txt');
    await eventually(() => readFileSync(path, 'utf8').includes('later'));
    expect(isAlive(child)).toBe(true);
    await agent.end();
    expect(isAlive(child)).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe('now\nlater\n');
  });
});

describe('RES-6: Bash in the background', () => {
  test('returns at once with id, pid and a file that Read can follow', async ({ directory }) => {
    const agent = testAgent(directory);
    const text = await agent.text(bashTool, {
      command: 'echo hello; exec sleep 300',
      run_in_background: true,
    });
    const [, task, pid, path] =
      /^Started (\S+) \(pid (\d+)\)\. Follow it with TaskOutput, or Read (\S+)\. /.exec(text) ?? [];
    expect(task).toBe('bash-1');
    await eventually(() => readFileSync(path ?? '', 'utf8').includes('hello'));
    expect(await agent.text(readTool, { file_path: path })).toContain('1\thello');
    expect(isAlive(Number(pid))).toBe(true);
    expect(await agent.text(bashTool, { command: 'true', run_in_background: true })).toContain('bash-2');
    await agent.end();
    expect(isAlive(Number(pid))).toBe(false);
  });

  test('lets no secret stay in the file', async ({ directory }) => {
    const agent = testAgent(directory, { redact: (text) => text.replaceAll('hunter22', '[redacted: P]') });
    await agent.run(bashTool, { command: 'echo hunter22; exit 4', run_in_background: true });
    const path = join(agent.context.outputDirectory, 'bash-1.txt');
    await eventually(() => readFileSync(path, 'utf8') !== '');
    await agent.end();
    expect(readFileSync(path, 'utf8')).toBe('[redacted: P]\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('continues when the call’s turn is aborted, and ends with the agent', async ({ directory }) => {
    const agent = testAgent(directory);
    await agent.run(bashTool, { command: 'echo $$ > pid; exec sleep 300', run_in_background: true });
    const pid = await pidIn(directory, 'pid');
    agent.abort();
    await sleep(50);
    expect(isAlive(pid)).toBe(true);
    await agent.end();
    expect(isAlive(pid)).toBe(false);
  });
});

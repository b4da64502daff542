import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { drain } from '../../../test/fixtures/engine.ts';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import type { PermissionAnswer } from '../../permission/broker.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import type { SessionOptions } from '../options.ts';
import { openSession } from './session.ts';

let calls = 0;

const touch = (name: string) => ({
  calls: [{ id: `toolu_${++calls}`, name: 'Bash', input: { command: `touch ${name}` } }],
});

/** Runs sessions of one place, each with its own answers, and tells what was asked. */
function place() {
  const cwd = temporaryRepository();
  const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
  const run = async (answers: PermissionAnswer[], options: SessionOptions): Promise<string[]> => {
    const asked: string[] = [];
    const broker: SessionOptions['broker'] = {
      async ask({ summary }) {
        asked.push(summary);
        return answers.shift() ?? { kind: 'denied', reason: 'no.' };
      },
    };
    await using session = await openSession({ cwd, env, broker, ...options });
    await drain(session.run('Go.'));
    return asked;
  };
  return Object.assign(run, { cwd, env });
}

describe('RES-3: a resumed session', () => {
  test('does not ask again what was allowed for always, and still asks what was allowed once', async () => {
    const run = place();
    const asked = await run(
      [{ kind: 'once' }, { kind: 'always', rules: ['Bash(touch a:*)', 'Bash(touch b:*)'] }],
      { provider: scriptedModel(touch('c'), touch('a'), { text: 'done' }) },
    );
    expect(asked).toEqual(['touch c', 'touch a']);
    const again = await run([], {
      resume: 'latest',
      provider: scriptedModel(touch('a'), touch('b'), touch('c'), { text: 'done' }),
    });
    expect(again).toEqual(['touch c']);
    expect(existsSync(join(run.cwd, 'b'))).toBe(true);
  });

  test('is still refused what a rule of this run denies', async () => {
    const run = place();
    await run([{ kind: 'always', rules: ['Bash(touch a:*)'] }], {
      provider: scriptedModel(touch('a'), { text: 'done' }),
    });
    const provider = scriptedModel(touch('a'), { text: 'done' });
    await run([], { resume: 'latest', provider, permissions: { deny: ['Bash(touch:*)'] } });
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain('denied by the rule');
  });
});

describe('RES-3: rules that a session was given', () => {
  const done = { text: 'done' };
  const bypass = 'bypassPermissions';

  test('hold when it is resumed without them, and those of each resume come to them', async () => {
    const run = place();
    const deny = (...rules: string[]) => ({ permissions: { deny: rules } });
    await run([], { permissionMode: bypass, ...deny('Bash(touch a:*)'), provider: scriptedModel(done) });
    const resumed = { resume: 'latest', permissionMode: bypass } as const;
    await run([], { ...resumed, ...deny('Bash(touch b:*)'), provider: scriptedModel(done) });
    await run([], { ...resumed, provider: scriptedModel(touch('a'), touch('b'), touch('c'), done) });
    expect(['a', 'b', 'c'].filter((name) => existsSync(join(run.cwd, name)))).toEqual(['c']);
  });

  test('still allow what they allowed, and hold for a session that begins with its conversation', async () => {
    const run = place();
    const permissions = { allow: ['Bash(touch a:*)', 'Bash(touch b:*)'], deny: ['Bash(touch b:*)'] };
    await run([], { permissions, provider: scriptedModel(done) });
    for (const how of [{ resume: 'latest' }, { resume: 'latest', forkSession: true }] as const) {
      const provider = scriptedModel(touch('a'), touch('b'), touch('c'), done);
      expect(await run([], { ...how, provider })).toEqual(['touch c']);
    }
    expect(existsSync(join(run.cwd, 'b'))).toBe(false);
  });

  test('are no longer allowed when a policy has come that knows only its own', async () => {
    const run = place();
    const options = { permissions: { allow: ['Bash(touch a:*)'] }, provider: scriptedModel(done) };
    await run([], options);
    const managed = temporaryDirectory();
    writeFileSync(join(managed, 'settings.json'), JSON.stringify({ policy: { allowRules: 'managed' } }));
    const asked = await run([], {
      ...{ resume: 'latest', env: { ...run.env, RAMET_MANAGED_DIR: managed } },
      provider: scriptedModel(touch('a'), done),
    });
    expect(asked).toEqual(['touch a']);
  });
});

describe('UI-4: additional directories', () => {
  const write = (path: string) => ({
    calls: [{ id: `toolu_${++calls}`, name: 'Write', input: { file_path: path, content: 'x' } }],
  });

  test('are edited like the working directory, and nothing else is', async () => {
    const run = place();
    const [more, other] = [temporaryDirectory(), temporaryDirectory()];
    const paths = [join(more, 'a.txt'), join(more, '.git/hooks/x'), join(other, 'b.txt')];
    const all = (permissionMode: 'acceptEdits' | 'default', written = paths) =>
      run([], {
        ...{ permissionMode, additionalDirectories: [more] },
        provider: scriptedModel(...written.map(write), { text: 'done' }),
      });
    expect(await all('acceptEdits')).toEqual([paths[1], paths[2]]);
    expect(existsSync(join(more, 'a.txt'))).toBe(true);
    const resumed = scriptedModel(write(join(more, 'd.txt')), { text: 'done' });
    expect(await run([], { resume: 'latest', provider: resumed })).toEqual([]);
    expect(await all('default', [join(more, 'c.txt')])).toEqual([join(more, 'c.txt')]);
    const gone = run([], { additionalDirectories: ['no-such'], provider: scriptedModel() });
    await expect(gone).rejects.toThrow(/there is no directory .*no-such: give one that is there/);
  });
});

describe('RES-3: what sessions load from the home directory', () => {
  test('asks in acceptEdits also where it is a link to a file or folder of another name', async () => {
    const run = place();
    const home = temporaryDirectory();
    const state = join(home, 'state');
    for (const folder of ['dots/claude', 'dots/skills', 'dots/ramet', 'state'])
      mkdirSync(join(home, folder), { recursive: true });
    symlinkSync(join(home, 'dots/claude'), join(home, '.claude'));
    symlinkSync(join(home, 'dots/servers.json'), join(home, '.claude.json'));
    symlinkSync(join(home, 'dots/ramet'), join(state, 'agents'));
    symlinkSync(join(home, 'dots/skills'), join(state, 'skills'));
    const guarded = ['claude/settings.json', 'servers.json', 'ramet/x.md', 'skills/x/SKILL.md'].map((name) =>
      join(home, 'dots', name),
    );
    const plain = join(home, 'dots/notes.txt');
    const write = (file_path: string) => ({
      calls: [{ id: `toolu_${++calls}`, name: 'Write', input: { file_path, content: '{}' } }],
    });
    const all = (permissions: SessionOptions['permissions'] = {}) =>
      run([], {
        ...{ permissionMode: 'acceptEdits', cwd: join(home, 'dots'), permissions },
        env: { HOME: home, RAMET_HOME: state, PATH: process.env.PATH, RAMET_TRUST: '1' },
        provider: scriptedModel(...[...guarded, plain].map(write), { text: 'done' }),
      });
    expect(await all()).toEqual(guarded);
    expect(existsSync(plain)).toBe(true);
    expect(await all({ allow: [`Edit(/${guarded[1]})`] })).toEqual(guarded.filter((_, at) => at !== 1));
  });
});

describe('RES-3: bubble', () => {
  test('is no mode of a session, and the error names those that are', async () => {
    const cwd = temporaryRepository();
    const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
    // What a caller without a compiler can pass.
    const options = { cwd, env, permissionMode: 'bubble' } as unknown as SessionOptions;
    const refused = /bubble is for agents that other agents start.*there are default, acceptEdits/;
    await expect(openSession(options)).rejects.toThrow(refused);
    await using session = await openSession({ cwd, env, provider: scriptedModel() });
    const setMode: (mode: never) => void = session.setPermissionMode;
    expect(() => setMode('bubble' as never)).toThrow(refused);
    expect(session.agent.permissionMode).toBe('default');
  });
});

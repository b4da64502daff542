import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../../test/fixtures/temporary.ts';
import { sessionSettings } from './session-settings.ts';

const guard = { type: 'command', command: 'exit 2' };
const group = (fields: object, hook: unknown = guard): object => ({
  PreToolUse: [{ matcher: 'Bash', hooks: [hook], ...fields }],
});

const MISTAKES: readonly [string, object, RegExp][] = [
  ['a bad matcher', group({ matcher: 'Bash(' }), /PreToolUse\.0\.matcher: .*is no regular expression/],
  ['a matcher that is a number', group({ matcher: 5 }), /PreToolUse\.0\.matcher: .*is no text/],
  ['a timeout below zero', group({}, { ...guard, timeout: -1 }), /hooks\.0\.timeout: .*-1/],
  ['a timeout of zero', group({}, { ...guard, timeout: 0 }), /hooks\.0\.timeout: .*0/],
  ['an empty command', group({}, { ...guard, command: ' ' }), /hooks\.0\.command: .*has no command/],
  ['no command', group({}, { type: 'command' }), /hooks\.0\.command: .*has no command/],
  ['no list of hooks', group({ hooks: {} }), /PreToolUse\.0\.hooks: .*no list of hooks/],
  ['no type', group({}, { command: 'exit 2' }), /hooks\.0\.type: .*a hook has no type/],
  ['a hook that is a text', group({}, 'exit 2'), /PreToolUse\.0\.hooks\.0: .*is no object/],
  ['an entry that is a text', { PreToolUse: ['x'] }, /PreToolUse\.0: .*is no object/],
];

function read(files: Record<string, object>): ReturnType<typeof sessionSettings> {
  const base = temporaryDirectory();
  const texts = Object.entries(files).map(([path, hooks]) => [path, JSON.stringify({ hooks }, null, 1)]);
  writeFiles(base, { 'work/x': '', ...Object.fromEntries(texts) });
  const env = { HOME: join(base, 'home'), RAMET_HOME: join(base, 'ramet'), RAMET_TRUST: '1' };
  return sessionSettings({ cwd: join(base, 'work'), env });
}

describe('EXT-2: a hook that is written wrongly', () => {
  test.for(MISTAKES)("%s: the user's own file is refused, with the place", async ([, hooks, says]) => {
    await expect(read({ 'ramet/settings.json': hooks })).rejects.toThrow(says);
    await expect(read({ 'ramet/settings.json': hooks })).rejects.toThrow(/settings\.json:(?!1:)\d+: hooks\./);
    await expect(read({ 'work/.ramet/settings.local.json': hooks })).rejects.toThrow(says);
  });

  test.for(MISTAKES)(
    '%s: one line where it is the file of a folder or of another tool',
    async ([, hooks]) => {
      for (const path of [
        'work/.ramet/settings.json',
        'work/.claude/settings.json',
        'home/.claude/settings.json',
      ]) {
        const { notices } = await read({ [path]: hooks });
        expect(notices).toEqual([
          expect.stringMatching(/settings\.json: hooks that do not run: PreToolUse: /),
        ]);
      }
    },
  );

  test("an event that is not known is one line, also in the user's own file and without hooks", async () => {
    for (const groups of [[], [{ hooks: [guard] }]])
      for (const path of ['ramet/settings.json', 'home/.claude/settings.json', 'work/.ramet/settings.json']) {
        const { notices, hooks } = await read({ [path]: { Nope: groups, Stop: [{ hooks: [guard] }] } });
        expect(notices).toEqual([
          expect.stringMatching(/settings\.json: hooks that do not run: "Nope": there is no such event here/),
        ]);
        expect(hooks).toHaveLength(1);
      }
    const { notices } = await read({ 'ramet/settings.json': { Nope: [] } });
    expect(notices).toHaveLength(1);
  });
});

test("EXT-2: the user's own hooks run where HOME ends in a slash, without trust", async () => {
  const base = temporaryDirectory();
  writeFiles(base, { 'work/x': '', 'home/.claude/settings.json': JSON.stringify({ hooks: group({}) }) });
  const env = { HOME: `${join(base, 'home')}/`, RAMET_HOME: join(base, 'ramet') };
  const { hooks, notices } = await sessionSettings({ cwd: join(base, 'work'), env });
  expect([hooks?.length, notices]).toEqual([1, []]);
});

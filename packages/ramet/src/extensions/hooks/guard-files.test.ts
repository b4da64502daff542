import { chmodSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { writeFiles } from '../../../test/fixtures/temporary.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { systemClock } from '../../schema/clock.ts';
import { createProcessRegister } from '../../system/processes/process-register.ts';
import { readHooks } from './hook-config.ts';
import { type HookResult, HookRunner } from './hook-runner.ts';

interface Guard {
  readonly root: string;
  readonly home: string;
  fire(directory?: string): Promise<HookResult>;
}

const FILES = {
  'work/guard.sh': 'exit 0\n',
  'work/tools/check': '#!/bin/sh\nexit 0\n',
  'work/guard.cjs': '',
  'home/hooks/guard.cjs': '',
  'bin/my-guard': '#!/bin/sh\nexit 0\n',
};

/** A hook that checks calls, as its session first sees it; the files of it are there. */
async function guarded(
  directory: string,
  hook: object,
  body: (guard: Guard) => Promise<void>,
  event = 'PreToolUse',
): Promise<void> {
  writeFiles(directory, FILES);
  for (const path of ['bin/my-guard', 'work/tools/check']) chmodSync(join(directory, path), 0o755);
  const [root, home] = [join(directory, 'work'), join(directory, 'home')];
  const PATH = `${join(directory, 'bin')}:${process.env.PATH}`;
  await using runner = new HookRunner({
    clock: systemClock,
    processes: createProcessRegister(join(directory, 'processes'), () => {}),
    environment: { PATH, HOME: home },
    projectDirectory: root,
  });
  const { hooks } = readHooks({ [event]: [{ hooks: [{ type: 'command', ...hook }] }] }, { label: 'test' });
  const fire = async (cwd = root): Promise<HookResult> => {
    const fields = { tool_name: 'Bash', session_id: 's', transcript_path: '' };
    // The names of events are those of the test.
    const input = { ...fields, cwd, hook_event_name: event as 'PreToolUse' };
    return await runner.run({ hooks, input, agent: 'a1', signal: AbortSignal.any([]) });
  };
  expect((await fire()).runs).toMatchObject([{ outcome: 'ok' }]);
  await body({ root, home, fire });
}

const GONE = [
  ['sh guard.sh', 'work/guard.sh'],
  ['node guard.cjs', 'work/guard.cjs'],
  ['node "$CLAUDE_PROJECT_DIR"/guard.cjs || exit 1', 'work/guard.cjs'],
  ['cd tools && ./check', 'work/tools/check'],
  ['cd tools && ./check', 'work/tools'],
  ['node ~/hooks/guard.cjs', 'home/hooks/guard.cjs'],
  ['node "$HOME/hooks/guard.cjs"', 'home/hooks'],
  ['my-guard', 'bin/my-guard'],
  ['timeout 5 my-guard', 'bin/my-guard'],
] as const;

describe('SEC-1: a hook that checks calls and can no longer start', () => {
  test.for(GONE)('%s: without %s the call is for a person', async ([command, path], { directory }) => {
    await guarded(directory, { command }, async ({ fire }) => {
      renameSync(join(directory, path), join(directory, 'moved'));
      const { effect, runs } = await fire();
      expect(effect).toMatchObject({
        decision: 'ask',
        reason: expect.stringContaining('a hook that checks this call did not run: '),
      });
      expect(runs).toMatchObject([{ outcome: 'failed' }]);
      renameSync(join(directory, 'moved'), join(directory, path));
      expect((await fire()).effect.decision).toBeUndefined();
    });
  });

  test('names what is missing, once', async ({ directory }) => {
    await guarded(directory, { command: 'node guard.cjs' }, async ({ root, fire }) => {
      rmSync(join(root, 'guard.cjs'));
      const problem = 'guard.cjs was there when the session began, and is not any more';
      expect((await fire()).runs).toMatchObject([{ problem }]);
      expect((await fire()).runs).toMatchObject([{ problem, isKnown: true }]);
    });
  });

  test.for([{ command: './tools/check' }, { command: './tools/check', args: ['x'] }])(
    '%j: that may not be executed any more leaves the call to a person',
    async (hook, { directory }) => {
      await guarded(directory, hook, async ({ root, fire }) => {
        chmodSync(join(root, 'tools/check'), 0o644);
        expect((await fire()).effect.decision).toBe('ask');
      });
    },
  );

  test('where the agent has changed into another folder, or removed its own', async ({ directory }) => {
    await guarded(directory, { command: 'node guard.cjs' }, async ({ root, fire }) => {
      mkdirSync(join(root, 'other'));
      expect((await fire(join(root, 'other'))).effect.decision).toBe('ask');
    });
    await guarded(directory, { command: 'exit 0' }, async ({ root, fire }) => {
      expect((await fire(join(root, 'gone'))).effect.decision).toBe('ask');
    });
  });

  test('that enters the folder of its script starts from everywhere', async ({ directory }) => {
    const command = 'cd "$CLAUDE_PROJECT_DIR" && node guard.cjs && cd tools && ./check';
    await guarded(directory, { command }, async ({ root, fire }) => {
      mkdirSync(join(root, 'other'));
      expect((await fire(join(root, 'other'))).runs).toMatchObject([{ outcome: 'ok' }]);
    });
  });

  test('that ends by itself with another code, or checks no call, stops nothing', async ({ directory }) => {
    await guarded(directory, { command: 'my-guard && [ ! -e stop ]' }, async ({ root, fire }) => {
      writeFiles(root, { stop: '' });
      expect((await fire()).effect).toMatchObject({ decision: undefined });
    });
    const after = async ({ root, fire }: Guard): Promise<void> => {
      rmSync(join(root, 'guard.cjs'));
      expect((await fire()).effect).toMatchObject({ decision: undefined, block: undefined });
    };
    await guarded(directory, { command: 'node guard.cjs' }, after, 'PostToolUse');
  });
});

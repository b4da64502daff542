import { chmodSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { writeFiles } from '../../../test/fixtures/temporary.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { systemClock } from '../../schema/clock.ts';
import type { NotedGuard } from '../../schema/events.ts';
import { createProcessRegister } from '../../system/processes/process-register.ts';
import { readHooks } from './hook-config.ts';
import { type HookResult, HookRunner } from './hook-runner.ts';

interface Guard {
  readonly root: string;
  readonly home: string;
  /** What it answered when its session first saw it. */
  readonly first: HookResult;
  fire(directory?: string, signal?: AbortSignal): Promise<HookResult>;
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
  await runnerOf(directory, hook, { event }, async (guard) => body({ ...guard, first: await guard.fire() }));
}

async function runnerOf(
  directory: string,
  hook: object,
  { event = 'PreToolUse', noted = [] }: { event?: string; noted?: readonly NotedGuard[] },
  body: (guard: Omit<Guard, 'first'>) => Promise<void>,
): Promise<void> {
  const [root, home] = [join(directory, 'work'), join(directory, 'home')];
  const PATH = `${join(directory, 'bin')}:${process.env.PATH}`;
  await using runner = new HookRunner({
    clock: systemClock,
    processes: createProcessRegister(join(directory, 'processes'), () => {}),
    environment: { PATH, HOME: home },
    projectDirectory: root,
    noted: () => noted,
  });
  const one = typeof hook === 'function' ? hook : { type: 'command', ...hook };
  const { hooks } = readHooks({ [event]: [{ hooks: [one] }] }, { label: 'test' });
  await body({
    root,
    home,
    fire: async (cwd = root, signal = AbortSignal.any([])) => {
      const fields = { tool_name: 'Bash', session_id: 's', transcript_path: '' };
      // The names of events are those of the test.
      const input = { ...fields, cwd, hook_event_name: event as 'PreToolUse' };
      return await runner.run({ hooks, input, agent: 'a1', signal });
    },
  });
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

  test('that checks no call stops nothing', async ({ directory }) => {
    const after = async ({ root, fire }: Guard): Promise<void> => {
      rmSync(join(root, 'guard.cjs'));
      expect((await fire()).effect).toMatchObject({ decision: undefined, block: undefined });
    };
    await guarded(directory, { command: 'node guard.cjs' }, after, 'PostToolUse');
  });
});

describe('SEC-1: a hook that checks calls, has ended well and now fails', () => {
  test.for([
    'my-guard && [ ! -e stop ]',
    'if [ -e stop ]; then kill -9 $$; fi',
    'if [ -e stop ]; then echo "{"; fi',
    'if [ -e stop ]; then exec no-such-program; fi',
    'if [ -e stop ]; then exit 1; fi; exit 2',
  ])('%s: has its calls go to a person until it ends well again', async (command, { directory }) => {
    await guarded(directory, { command }, async ({ root, fire, first }) => {
      writeFiles(root, { stop: '' });
      const { effect, runs } = await fire();
      expect(effect).toMatchObject({
        decision: 'ask',
        reason: expect.stringContaining(
          'a hook that checks this call ended well before, and has failed now: ',
        ),
      });
      expect(runs).toMatchObject([{ outcome: 'failed' }]);
      rmSync(join(root, 'stop'));
      expect((await fire()).effect.decision).toBe(first.effect.decision);
    });
  });

  test('has them go there, too, where it is a function', async ({ directory }) => {
    let calls = 0;
    const hook = (): object => {
      if (++calls > 1) throw new Error('no rules');
      return {};
    };
    await guarded(directory, hook, async ({ fire }) => {
      expect((await fire()).effect.decision).toBe('ask');
    });
  });

  test('is no such hook where it has failed from its first call on', async ({ directory }) => {
    await guarded(directory, { command: 'exit 1' }, async ({ first, fire }) => {
      expect([first.effect.decision, (await fire()).effect.decision]).toEqual([undefined, undefined]);
    });
  });

  test('is no such hook where an interruption has ended it', async ({ directory }) => {
    await guarded(directory, { command: '[ ! -e stop ] || sleep 1000' }, async ({ root, fire }) => {
      writeFiles(root, { stop: '' });
      expect((await fire(root, AbortSignal.abort())).runs).toMatchObject([{ problem: 'it was interrupted' }]);
    });
  });
});

describe('a hook that checks calls and has never worked', () => {
  const never = [
    { command: 'no-such-guard 2' },
    { command: 'no-such-guard', args: ['2'] },
    { command: './tools/no-interpreter', args: ['2'] },
    { command: 'sh missing-tool.sh' },
    { command: 'sh', args: ['missing-tool.sh'] },
    { command: 'exit 126' },
  ];

  test.for(never)('%j: fails each time, and stops nothing', async (hook, { directory }) => {
    writeFiles(directory, {
      'work/missing-tool.sh': 'set -e\nno-such-tool .x\n',
      'work/tools/no-interpreter': '#!/no/such/interpreter\n',
    });
    chmodSync(join(directory, 'work/tools/no-interpreter'), 0o755);
    await guarded(directory, hook, async ({ first, fire }) => {
      for (const { effect, runs } of [first, await fire()]) {
        expect(effect.decision).toBeUndefined();
        expect(runs).toMatchObject([{ outcome: 'failed' }]);
        expect(runs[0]).not.toHaveProperty('isKnown');
      }
    });
  });

  test.for([
    ['sh missing-tool.sh', 'work/missing-tool.sh'],
    ['my-guard && no-such-tool', 'bin/my-guard'],
    ['PATH="tools:$PATH" own-guard && no-such-tool', 'work/tools/own-guard'],
  ] as const)(
    'SEC-1: %s: once %s is gone, its calls go to a person',
    async ([command, path], { directory }) => {
      const own = 'work/tools/own-guard';
      writeFiles(directory, { 'work/missing-tool.sh': 'no-such-tool\n', [own]: '#!/bin/sh\n' });
      chmodSync(join(directory, own), 0o755);
      await guarded(directory, { command }, async ({ first, fire }) => {
        expect(first.effect.decision).toBeUndefined();
        rmSync(join(directory, path));
        expect((await fire()).effect.decision).toBe('ask');
        await runnerOf(directory, { command }, { noted: first.noted }, async (later) => {
          expect((await later.fire()).effect.decision).toBe('ask');
        });
      });
    },
  );

  test('SEC-1: leaves its calls to a person where its folder is gone', async ({ directory }) => {
    await guarded(directory, { command: 'exit 127' }, async ({ root, fire }) => {
      expect((await fire(join(root, 'gone'))).effect.decision).toBe('ask');
    });
  });
});

describe('SEC-1: what is on record of hooks that check calls', () => {
  test.for([
    ['node guard.cjs', 'guard.cjs'],
    ['if [ -x tools/check ]; then tools/check; fi', 'tools/check'],
    ['[ -e tools ]', 'tools'],
  ] as const)(
    '%s: without %s its calls go to a person in a session that is continued',
    async ([command, path], { directory }) => {
      await guarded(directory, { command }, async ({ root, first }) => {
        rmSync(join(root, path), { recursive: true });
        await runnerOf(directory, { command }, { noted: first.noted }, async ({ fire }) => {
          const { effect, noted } = await fire();
          expect([effect.decision, noted]).toEqual(['ask', []]);
        });
        await runnerOf(directory, { command }, {}, async ({ fire }) => {
          expect((await fire()).effect.decision).toBeUndefined();
        });
      });
    },
  );

  test('is noted once, and again when it has ended well for the first time', async ({ directory }) => {
    await guarded(directory, { command: '[ -e well ]' }, async ({ root, first, fire }) => {
      expect(first.noted).toMatchObject([{ isWhole: true }]);
      expect((await fire()).noted).toEqual([]);
      writeFiles(root, { well: '' });
      expect((await fire()).noted).toMatchObject([{ hasEndedWell: true }]);
      expect((await fire()).noted).toEqual([]);
    });
  });
});

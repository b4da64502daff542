import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type EngineFixture,
  type EngineOptions,
  startEngine,
  toolOf,
} from '../../../test/fixtures/engine.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { denyingBroker, type PermissionQuestion } from '../../permission/broker.ts';
import { parseRules, sessionRules } from '../../permission/policy.ts';
import { systemClock } from '../../schema/clock.ts';
import type { EventOf } from '../../schema/events.ts';
import * as z from '../../schema/zod.ts';
import { createProcessRegister } from '../../system/processes/process-register.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import type { Tool } from '../../tools/tool.ts';
import { hookedCall } from './call-hooks.ts';
import { HostHooks } from './host-hooks.ts';

const DO = 'mcp__desk__do';
const reply = (fields: object) => () => ({ hookSpecificOutput: fields });
const exit2 = (reason: string) => ({ type: 'command', command: `echo "${reason}" >&2; exit 2` });

interface HookedEngine extends EngineFixture {
  asked: PermissionQuestion[];
  ran: unknown[];
}

async function hooked(
  hooks: Record<string, readonly unknown[]>,
  options: Partial<EngineOptions> & { answer?: 'once' | 'denied'; deny?: string[]; ask?: string[] } = {},
): Promise<HookedEngine> {
  const asked: PermissionQuestion[] = [];
  const ran: unknown[] = [];
  const directory = options.spec?.cwd ?? temporaryDirectory();
  const value = Object.fromEntries(Object.entries(hooks).map(([event, list]) => [event, [{ hooks: list }]]));
  const ground = {
    clock: systemClock,
    processes: createProcessRegister(join(directory, '.processes'), () => {}),
    environment: { PATH: process.env.PATH ?? '' },
    projectDirectory: directory,
  };
  const { deny = [], ask = [], answer = 'once' } = options;
  const origin = { base: directory, home: null, place: 'test' };
  const engine = await startEngine({
    provider:
      options.provider ??
      scriptedModel({ calls: [{ id: 'c1', name: DO, input: { n: 1 } }] }, { text: 'done' }),
    tools: options.tools ?? [
      toolOf(DO, 'execute', async (input) => {
        ran.push(input);
        return { content: 'did it' };
      }),
    ],
    spec: { permissionMode: 'default', ...options.spec, cwd: directory },
    runtime: {
      hooks: new HostHooks([{ value, source: { label: 'test' } }], ground),
      permissions: sessionRules(parseRules({ deny, ask }, origin).rules, origin),
      broker: {
        async ask(question) {
          asked.push(question);
          return answer === 'once' ? { kind: 'once' } : { kind: 'denied', reason: 'no' };
        },
      },
      ...options.runtime,
    },
  });
  return { ...engine, asked, ran };
}

function resultOf({ agent }: EngineFixture): string {
  const message = agent.conversation.messages.findLast(({ role }) => role === 'user');
  return message?.blocks.map(({ bytes }) => new TextDecoder().decode(bytes)).join('\n') ?? '';
}

function ranHooks(engine: EngineFixture): EventOf<'hooks.ran'>[] {
  return engine.recorded().filter((event): event is EventOf<'hooks.ran'> => event.type === 'hooks.ran');
}

describe('EXT-2: hooks before a call', () => {
  test('refuse it with a reason, which the model reads', async () => {
    const engine = await hooked({ PreToolUse: [exit2('not on Mondays')] });
    await engine.run('go');
    expect(engine.ran).toEqual([]);
    expect(engine.asked).toEqual([]);
    expect(resultOf(engine)).toContain(`${DO} is refused by a hook: not on Mondays`);
    expect(ranHooks(engine)).toMatchObject([
      { event: 'PreToolUse', call: 'c1', runs: [{ outcome: 'blocked' }], verdict: { decision: 'deny' } },
    ]);
  });

  test('that allow spare the question, and ones that ask make one', async () => {
    const allow = await hooked({ PreToolUse: [reply({ permissionDecision: 'allow' })] });
    await allow.run('go');
    expect([allow.asked.length, allow.ran.length]).toEqual([0, 1]);
    const ask = await hooked(
      { PreToolUse: [reply({ permissionDecision: 'ask', permissionDecisionReason: 'odd' })] },
      { spec: { permissionMode: 'bypassPermissions' }, answer: 'denied' },
    );
    await ask.run('go');
    expect(ask.asked).toMatchObject([{ reason: 'a hook asks: odd' }]);
    expect(ask.ran).toEqual([]);
  });

  test('that ask where nobody can be asked refuse', async () => {
    const engine = await hooked(
      { PreToolUse: [reply({ permissionDecision: 'ask' })] },
      { spec: { permissionMode: 'dontAsk' }, tools: [toolOf(DO, 'read', async () => ({ content: 'x' }))] },
    );
    await engine.run('go');
    expect(resultOf(engine)).toContain('a hook asks, and nobody can be asked in this run');
  });

  test.for(['default', 'bypassPermissions'] as const)(
    'that ask are answered by no mode, and a refusal in %s names none',
    async (permissionMode) => {
      const engine = await hooked(
        { PreToolUse: [reply({ permissionDecision: 'ask' })] },
        { spec: { permissionMode }, runtime: { broker: denyingBroker } },
      );
      await engine.run('go');
      expect(resultOf(engine)).toContain(
        'only a run where a person can be asked, or without the hook that asks,',
      );
      expect(resultOf(engine)).not.toContain('bypassPermissions');
    },
  );

  test.for(['default', 'acceptEdits'] as const)(
    'that ask say why also where the mode %s asks by itself, and nothing is allowed for good',
    async (permissionMode) => {
      const hooks = {
        PreToolUse: [reply({ permissionDecision: 'ask', permissionDecisionReason: 'please look' })],
      };
      const plain = await hooked({}, { spec: { permissionMode } });
      await plain.run('go');
      const [{ reason } = { reason: '' }] = plain.asked;
      const engine = await hooked(hooks, { spec: { permissionMode } });
      await engine.run('go');
      expect(plain.asked).toMatchObject([{ suggestedRules: [expect.anything()] }]);
      expect(engine.asked).toMatchObject([
        { reason: `a hook asks: please look; ${reason}`, suggestedRules: [], byHook: true },
      ]);
      const refused = await hooked(hooks, { spec: { permissionMode }, runtime: { broker: denyingBroker } });
      await refused.run('go');
      expect(resultOf(refused)).toContain('a hook asks: please look');
    },
  );

  test('that ask are named in the refusal of a run that asks nobody', async () => {
    const hooks = {
      PreToolUse: [reply({ permissionDecision: 'ask', permissionDecisionReason: 'please look' })],
    };
    const engine = await hooked(hooks, { spec: { permissionMode: 'dontAsk' } });
    await engine.run('go');
    expect(resultOf(engine)).toContain('a hook asks: please look, and nobody can be asked in this run');
  });

  test('that ask beside an ask rule leave the rule in the question', async () => {
    const engine = await hooked({ PreToolUse: [reply({ permissionDecision: 'ask' })] }, { ask: [DO] });
    await engine.run('go');
    expect(engine.asked).toMatchObject([
      { reason: `a hook asks; the rule ${DO} in test asks`, byRule: DO, byHook: true },
    ]);
  });

  test('that allow also count in a run where nobody can be asked', async () => {
    const engine = await hooked(
      { PreToolUse: [reply({ permissionDecision: 'allow' })] },
      { spec: { permissionMode: 'dontAsk' } },
    );
    await engine.run('go');
    expect(engine.ran).toHaveLength(1);
  });

  test.for([
    ['a deny rule', { deny: [DO] }, 0],
    ['an ask rule', { ask: [DO] }, 1],
    ['plan mode', { spec: { permissionMode: 'plan' } }, 0],
    ['a parent in plan mode', { spec: { ceiling: () => 'plan' } }, 0],
    ['an agent that only reads', { spec: { readOnly: true } }, 0],
    ['a program that refuses', { spec: { canUseTool: () => ({ allowed: false, reason: 'no' }) } }, 0],
  ] as const)('that allow do not beat %s', async ([, options, questions]) => {
    const engine = await hooked(
      { PreToolUse: [reply({ permissionDecision: 'allow' })] },
      // The literal types above are those of the options.
      { ...(options as Partial<EngineOptions>), answer: 'denied' },
    );
    await engine.run('go');
    expect(engine.ran).toEqual([]);
    expect(engine.asked).toHaveLength(questions);
  });

  test.for(['.claude/settings.json', '.git/hooks/x', '../outside.txt'])(
    'that allow do not beat the protection of %s',
    async (path) => {
      const { writeTool } = await import('../../tools/files/write.ts');
      const { builtInTools } = await import('../../tools/registry.ts');
      const bash = builtInTools({ fork: true, types: [] }).filter(({ name }) => name === 'Bash');
      const input = { file_path: path, content: 'x' };
      const provider = scriptedModel(
        { calls: [{ id: 'c1', name: 'Write', input }] },
        { calls: [{ id: 'c2', name: 'Bash', input: { command: `mkdir -p a/.git; echo x > a/${path}` } }] },
        { text: 'done' },
      );
      const engine = await hooked(
        {
          PreToolUse: [reply({ permissionDecision: 'allow' })],
          PermissionRequest: [reply({ decision: { behavior: 'allow' } })],
        },
        { provider, tools: [writeTool, ...bash], answer: 'denied' },
      );
      await engine.run('go');
      expect(engine.asked.map(({ tool }) => tool)).toEqual(['Write', 'Bash']);
      expect(existsSync(join(engine.cwd, path))).toBe(false);
    },
  );

  test.for<[string, (outside: string) => string]>([
    ['a folder that is deleted', (outside) => `rm -rf ${outside}/kept`],
    ['one behind a variable', (outside) => `D=${outside}; rm -rf "$D"/kept`],
    ['one that only the shell knows', () => 'rm -rf "$SOMEWHERE"/kept'],
    ['a file that is written', (outside) => `echo x > ${outside}/kept`],
    ['a copy', (outside) => `cp README.md ${outside}/kept`],
    ['a folder above', () => 'touch ../other && rm -rf ../other'],
    ['another repository', (outside) => `git -C ${outside} clean -fd`],
  ])('that allow do not beat the protection of files outside: %s', async ([, commandFor]) => {
    const { builtInTools } = await import('../../tools/registry.ts');
    const tools = builtInTools({ fork: true, types: [] }).filter(({ name }) => name === 'Bash');
    const outside = temporaryDirectory();
    mkdirSync(join(outside, 'kept'));
    const command = commandFor(outside);
    for (const hooks of [
      { PreToolUse: [reply({ permissionDecision: 'allow' })] },
      { PreToolUse: [reply({ permissionDecision: 'allow', updatedInput: { command } })] },
      { PermissionRequest: [reply({ decision: { behavior: 'allow' } })] },
      { PermissionRequest: [reply({ decision: { behavior: 'allow', updatedInput: { command } } })] },
    ]) {
      const isChanged = JSON.stringify(Object.values(hooks)).includes('updatedInput');
      const input = { command: isChanged ? 'touch a' : command };
      const provider = scriptedModel({ calls: [{ id: 'c1', name: 'Bash', input }] }, { text: 'done' });
      const engine = await hooked(hooks, { provider, tools, answer: 'denied' });
      await engine.run('go');
      expect(engine.asked).toMatchObject([{ input: { command } }]);
      expect(existsSync(join(outside, 'kept'))).toBe(true);
    }
  });

  test.for([
    'touch made',
    'mkdir -p a/b && echo x > a/b/c 2>/dev/null',
    'git tag x; git branch y',
    'npm test',
  ])('that allow spare the question about %s', async (command) => {
    const { builtInTools } = await import('../../tools/registry.ts');
    const tools = builtInTools({ fork: true, types: [] }).filter(({ name }) => name === 'Bash');
    const provider = scriptedModel(
      { calls: [{ id: 'c1', name: 'Bash', input: { command } }] },
      { text: 'done' },
    );
    const hooks = { PreToolUse: [reply({ permissionDecision: 'allow' })] };
    const engine = await hooked(hooks, { provider, tools, answer: 'denied' });
    await engine.run('go');
    expect(engine.asked).toEqual([]);
  });

  test('change the input: it is checked, judged and run as changed, and the model is told', async () => {
    const engine = await hooked({ PreToolUse: [reply({ updatedInput: { n: 2 } })] });
    await engine.run('go');
    expect(engine.asked).toMatchObject([{ input: { n: 2 } }]);
    expect(engine.ran).toEqual([{ n: 2 }]);
    expect(resultOf(engine)).toContain('A hook changed the input of this call to {\\"n\\":2}');
  });

  test('cannot change the input into what is denied, or is not valid', async () => {
    const { builtInTools } = await import('../../tools/registry.ts');
    const tools = builtInTools({ fork: true, types: [] }).filter(({ name }) => name === 'Bash');
    const provider = () =>
      scriptedModel({ calls: [{ id: 'c1', name: 'Bash', input: { command: 'true' } }] }, { text: 'x' });
    const denied = await hooked(
      { PreToolUse: [reply({ permissionDecision: 'allow', updatedInput: { command: 'touch made' } })] },
      { tools, provider: provider(), deny: ['Bash(touch:*)'] },
    );
    await denied.run('go');
    expect(existsSync(join(denied.cwd, 'made'))).toBe(false);
    expect(resultOf(denied)).toContain('denied by the rule');
    const wrong = await hooked(
      { PreToolUse: [reply({ updatedInput: { command: 7 } })] },
      { tools, provider: provider() },
    );
    await wrong.run('go');
    expect(resultOf(wrong)).toContain('a hook changed the input of Bash, and it is not valid');
  });

  test('add context to the result, where it can close no element of ours', async () => {
    const engine = await hooked({
      PreToolUse: [reply({ additionalContext: 'mind </hook-context> the gap' })],
    });
    await engine.run('go');
    expect(resultOf(engine)).toContain('mind &lt;/hook-context> the gap');
  });

  test('that fail are told, and stop nothing', async () => {
    const engine = await hooked({ PreToolUse: [{ type: 'command', command: 'exit 3' }] });
    const { events } = await engine.run('go');
    expect(engine.ran).toHaveLength(1);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'warning',
        code: 'hook_failed',
        message: 'the PreToolUse hook "exit 3" of test failed: exit code 3',
      }),
    );
  });

  test('of an agent type refuse, and allow nothing', async () => {
    const own = { PreToolUse: [{ hooks: [reply({ permissionDecision: 'allow' })] }] };
    const engine = await hooked({}, { spec: { hooks: own }, answer: 'denied' });
    await engine.run('go');
    expect([engine.asked.length, engine.ran.length]).toEqual([1, 0]);
    const refusing = await hooked({}, { spec: { hooks: { PreToolUse: [{ hooks: [exit2('mine')] }] } } });
    await refusing.run('go');
    expect(resultOf(refusing)).toContain('mine');
  });
});

describe('EXT-2: a hook with `if`', () => {
  const ranFor = async (condition: string, name: string, input: object): Promise<boolean> => {
    const access: Record<string, NonNullable<Tool['access']>> = {
      Bash: (given) => ({ command: String(Object(given).command) }),
      Edit: (given) => ({ writes: [String(Object(given).file_path)] }),
    };
    const own = access[name];
    const effect = name === 'Edit' ? 'write' : 'execute';
    const tool = { ...toolOf(name, effect, async () => ({ content: 'x' })), ...(own && { access: own }) };
    const provider = scriptedModel({ calls: [{ id: 'c1', name, input }] }, { text: 'done' });
    const engine = await hooked(
      { PreToolUse: [{ ...exit2('guarded'), if: condition }] },
      { provider, tools: [tool], spec: { permissionMode: 'bypassPermissions' } },
    );
    await engine.run('go');
    return resultOf(engine).includes('guarded');
  };

  test.for([
    ['Bash(git push:*)', 'git push origin main', true],
    ['Bash(git push:*)', 'cd a && A=1 git push | cat', true],
    ['Bash(git push:*)', 'bash -c "git push"', true],
    ['Bash(git push:*)', 'git status', false],
    ['Bash(git push:*)', 'bash build.sh', false],
    ['Bash(git push:*)', 'echo "$HOME"; for i in a b; do ls $i; done', false],
    // What runs is known only then: it may be that.
    ['Bash(git push:*)', '$(cat program) push', true],
    ['Bash(git push:*)', 'eval "$script"', true],
    ['Bash(git push:*)', 'p=push; git $p', true],
    ['Bash(git push:*)', 'git "$(echo push)" origin', true],
    ['Bash(git push:*)', 'for c in push; do git $c; done', true],
    ['Bash(git push:*)', 'git p{us,}h', true],
    ['Bash(git push:*)', 'git pu$rest', true],
    ['Bash(git push:*)', 'printf push | xargs git', true],
    ['Bash(git push:*)', 'echo git push | sh', true],
    ['Bash(git push:*)', '. <(echo git push)', true],
    ['Bash(git push:*)', 'git -C . push', true],
    ['Bash(git push:*)', 'git --no-pager -c a.b=c push', true],
    ['Bash(git push:*)', 'git -C "$d" "$c"', true],
    ['Bash(git push:*)', 'git -C . status', false],
    ['Bash(git push:*)', 'git log "$branch"', false],
    // An alias may stand for it, and for every other program.
    ['Bash(git push:*)', 'git up', true],
    ['Bash(git push:*)', 'git config alias.up push && git up', true],
    ['Bash(git push:*)', 'git -C . -c alias.up=push up origin', true],
    ['Bash(git push:*)', 'cd a && env A=1 /usr/bin/git up', true],
    ['Bash(rm:*)', 'git up', true],
    ['Bash(git push:*)', 'git l$x', true],
    ['Bash(git push:*)', 'git --version', false],
    ['Bash(git push:*)', 'git submodule update', false],
    ['Bash(git push:*)', 'git submodule --quiet foreach "git push"', true],
    ['Bash(git push:*)', 'git submodule foreach git push', true],
    ['Bash(git push:*)', 'git bisect run sh -c "git push"', true],
    ['Bash(git push:*)', 'git rebase -x "git push" main', true],
    ['Bash(git push:*)', 'git rebase --exec="git push" main', true],
    ['Bash(git push:*)', 'git rebase main', false],
    ['Bash(git push:*)', '/usr/lib/git-core/git-push origin', true],
    ['Bash(git push:*)', 'find . -name "*.ts" | xargs grep push', false],
    ['Bash(git push:*)', 'git commit -m "$message"', false],
    ['Bash(npm test)', 'npm $1', true],
    ['Bash(npm test)', 'npm run $1', false],
    ['Bash(git push:*)', 'if [', true],
    ['Bash', 'ls', true],
    ['Edit(*.ts)', 'echo x > a.ts', true],
    ['Edit(*.ts)', 'echo x > a.js', false],
    ['Read(.env)', 'cat .env', true],
    ['Read(.env)', 'cat a.env', false],
  ] as const)('%s and the command %s: %s', async ([condition, command, isRun]) => {
    expect(await ranFor(condition, 'Bash', { command })).toBe(isRun);
  });

  test.for([
    ['Edit(*.ts)', 'src/a.ts', true],
    ['Edit(*.ts)', 'src/a.js', false],
    ['Edit(/docs/**)', 'docs/a.md', true],
    ['Read(*.ts)', 'src/a.ts', false],
    ['Bash(git push:*)', 'a.ts', false],
  ] as const)('%s and the file %s: %s', async ([condition, path, isRun]) => {
    expect(await ranFor(condition, 'Edit', { file_path: path })).toBe(isRun);
  });

  test('holds for one of two with the same command', async () => {
    const hook = exit2('guarded');
    const engine = await hooked({
      PreToolUse: [
        { ...hook, if: 'mcp__other' },
        { ...hook, if: 'mcp__desk' },
      ],
    });
    await engine.run('go');
    expect(resultOf(engine)).toContain('guarded');
  });
});

describe('EXT-2: a hook before a call that ends the run', () => {
  const stop = () => ({ continue: false, stopReason: 'enough' });
  const calls = ['c1', 'c2'].map((id) => ({ id, name: DO, input: { n: 1 } }));

  test.for([
    ['before a call', { PreToolUse: [stop] }],
    ['at a question', { PermissionRequest: [stop] }],
  ] as const)('%s: neither that call nor a later one runs', async ([, hooks]) => {
    const engine = await hooked(hooks, { provider: scriptedModel({ calls }) });
    const { result } = await engine.run('go');
    expect(engine.ran).toEqual([]);
    expect(engine.asked).toEqual([]);
    expect(result).toMatchObject({
      status: 'cancelled',
      cause: 'hook',
      message: 'a hook ended the run: enough',
    });
    expect(resultOf(engine)).toContain(`${DO} did not run: a hook ended the run: enough`);
  });

  test('after a call: the next one of the same answer does not run', async () => {
    const engine = await hooked({ PostToolUse: [stop] }, { provider: scriptedModel({ calls }) });
    await engine.run('go');
    expect(engine.ran).toHaveLength(1);
    expect(resultOf(engine)).toContain('not run: a hook ended the run');
  });
});

describe('EXT-2: hooks around a question', () => {
  test('answer in place of a person', async () => {
    const allow = await hooked({ PermissionRequest: [reply({ decision: { behavior: 'allow' } })] });
    await allow.run('go');
    expect([allow.asked.length, allow.ran.length]).toEqual([0, 1]);
    const deny = await hooked({
      PermissionRequest: [reply({ decision: { behavior: 'deny', message: 'never' } })],
    });
    await deny.run('go');
    expect([deny.asked.length, deny.ran.length]).toEqual([0, 0]);
    expect(resultOf(deny)).toContain('never');
  });

  test.for<[string, unknown]>([
    ['decision: block', { decision: 'block', reason: 'never' }],
    ['decision: deny', { decision: 'deny', reason: 'never' }],
    [
      'decision: block beside an own yes',
      {
        decision: 'block',
        reason: 'never',
        hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
      },
    ],
    [
      'permissionDecision: deny',
      {
        hookSpecificOutput: {
          hookEventName: 'PermissionRequest',
          permissionDecision: 'deny',
          permissionDecisionReason: 'never',
        },
      },
    ],
    [
      'permissionDecision: deny beside an own yes',
      {
        hookSpecificOutput: {
          ...{ hookEventName: 'PermissionRequest', permissionDecision: 'deny' },
          ...{ permissionDecisionReason: 'never', decision: { behavior: 'allow' } },
        },
      },
    ],
    ['exit code 2', { type: 'command', command: 'echo never >&2; exit 2' }],
  ])('%s is a no there too', async ([, answer]) => {
    const isCommand = typeof answer === 'object' && answer !== null && 'command' in answer;
    const engine = await hooked({ PermissionRequest: [isCommand ? answer : () => answer] });
    await engine.run('go');
    expect([engine.asked.length, engine.ran.length]).toEqual([0, 0]);
    expect(resultOf(engine)).toContain('never');
  });

  test('decision: approve is a yes', async () => {
    const engine = await hooked({ PermissionRequest: [() => ({ decision: 'approve' })] });
    await engine.run('go');
    expect([engine.asked.length, engine.ran.length]).toEqual([0, 1]);
  });

  const changing = (updatedInput: unknown, more: object = {}) =>
    reply({ decision: { behavior: 'allow', updatedInput }, ...more });

  test('change the input of the call that they allow, and the model is told', async () => {
    const engine = await hooked({
      PreToolUse: [reply({ additionalContext: 'from before' })],
      PermissionRequest: [changing({ n: 2 }, { additionalContext: 'from the question' })],
    });
    await engine.run('go');
    expect([engine.asked, engine.ran]).toEqual([[], [{ n: 2 }]]);
    const text = resultOf(engine);
    expect(text).toContain('A hook changed the input of this call to {\\"n\\":2}');
    for (const part of ['did it', 'from before', 'from the question']) expect(text).toContain(part);
  });

  test.each([
    ['leave open', { additionalContext: 'from the question' }],
    ['ask a person again', { decision: { behavior: 'ask' }, additionalContext: 'from the question' }],
  ])('add context to a question that they %s', async (_, answer) => {
    const engine = await hooked({
      PreToolUse: [reply({ additionalContext: 'from before' })],
      PermissionRequest: [reply(answer)],
    });
    await engine.run('go');
    expect([engine.asked.length, engine.ran.length]).toEqual([1, 1]);
    for (const part of ['did it', 'from before', 'from the question'])
      expect(resultOf(engine)).toContain(part);
  });

  test('a changed input is judged again: a rule denies it, and a rule has a person asked about it, once', async () => {
    const run = async (rules: { deny?: string[]; ask?: string[] }) => {
      let questions = 0;
      const tools = [
        {
          ...toolOf('Bash', 'execute', async () => ({ content: 'did it' })),
          access: (input: unknown) => ({ command: String(Object(input).command) }),
        },
      ];
      const engine = await hooked(
        {
          PermissionRequest: [
            () => {
              questions += 1;
              return changing({ command: 'rm -r b' })();
            },
          ],
        },
        {
          tools,
          provider: scriptedModel(
            { calls: [{ id: 'c1', name: 'Bash', input: { command: 'touch a' } }] },
            { text: 'done' },
          ),
          ...rules,
        },
      );
      await engine.run('go');
      return { questions, asked: engine.asked.map(({ input }) => input), text: resultOf(engine) };
    };
    const denied = await run({ deny: ['Bash(rm -r b)'] });
    expect(denied).toMatchObject({ questions: 1, asked: [] });
    expect(denied.text).not.toContain('did it');
    const asked = await run({ ask: ['Bash(rm -r b)'] });
    expect(asked).toMatchObject({ questions: 1, asked: [{ command: 'rm -r b' }] });
    expect(asked.text).toContain('did it');
  });

  test('a changed input that does not fit the tool refuses the call', async () => {
    const engine = await hooked(
      { PermissionRequest: [changing({ n: 'two' })] },
      {
        tools: [
          {
            ...toolOf(DO, 'execute', async () => ({ content: 'did it' })),
            input: z.object({ n: z.number() }),
          },
        ],
      },
    );
    await engine.run('go');
    expect(resultOf(engine)).toContain(`a hook changed the input of ${DO}, and it is not valid`);
  });

  test('do not answer what a rule asks a person', async () => {
    const engine = await hooked(
      { PermissionRequest: [reply({ decision: { behavior: 'allow' } })] },
      { ask: [DO] },
    );
    await engine.run('go');
    expect(engine.asked).toHaveLength(1);
  });

  test('that ask leave it to a person, who reads why', async () => {
    let calls = 0;
    const told: unknown[] = [];
    const guard = () => {
      calls += 1;
      return { hookSpecificOutput: { decision: { behavior: 'ask', message: 'please look' } } };
    };
    const engine = await hooked({
      PermissionRequest: [guard],
      Notification: [(input: unknown) => told.push(input)],
    });
    await engine.run('go');
    expect(engine.asked).toMatchObject([
      { reason: expect.stringContaining('a hook asks: please look; '), suggestedRules: [], byHook: true },
    ]);
    expect([calls, told.length, engine.ran.length]).toEqual([1, 1, 1]);
  });

  test('are told that a person is asked', async () => {
    const told: unknown[] = [];
    const engine = await hooked({ Notification: [(input: unknown) => void told.push(input)] });
    await engine.run('go');
    expect(told).toMatchObject([{ notification_type: 'permission_prompt' }]);
  });
});

describe('EXT-2: hooks after a call', () => {
  test('object, add and replace; the model reads all of it with the result', async () => {
    const seen: unknown[] = [];
    const engine = await hooked({
      PostToolUse: [
        exit2('lint failed'),
        reply({ additionalContext: 'see STYLE.md' }),
        (input: unknown) => {
          seen.push(input);
          return { hookSpecificOutput: { updatedToolOutput: 'cleaned' } };
        },
      ],
    });
    await engine.run('go');
    const text = resultOf(engine);
    for (const part of ['cleaned', 'lint failed', 'see STYLE.md']) expect(text).toContain(part);
    expect(text).not.toContain('did it');
    expect(seen).toMatchObject([
      { tool_name: DO, tool_input: { n: 1 }, tool_response: { content: 'did it', is_error: false } },
    ]);
  });

  test('that failed run another event, and refused calls run none', async () => {
    const seen: string[] = [];
    const note = (name: string) => (input: { error?: string }) =>
      void seen.push(`${name} ${input.error ?? ''}`);
    const hooks = { PostToolUse: [note('ok')], PostToolUseFailure: [note('failed')] };
    const tools = [toolOf(DO, 'execute', async () => ({ content: 'broke', isError: true }))];
    await (await hooked(hooks, { tools })).run('go');
    await (await hooked(hooks, { answer: 'denied' })).run('go');
    expect(seen).toEqual(['failed broke']);
  });

  test('end the run with continue: false', async () => {
    const engine = await hooked({ PostToolUse: [() => ({ continue: false, stopReason: 'enough' })] });
    const { result } = await engine.run('go');
    expect(result).toMatchObject({
      status: 'cancelled',
      cause: 'hook',
      message: 'a hook ended the run: enough',
    });
  });
});

describe('EXT-2: hooks that learn that a call was refused', () => {
  const seen: Record<string, unknown>[] = [];
  const learn = (input: Record<string, unknown>) => {
    seen.push(input);
    return { hookSpecificOutput: { additionalContext: 'ask for less' } };
  };

  test.for([
    ['a rule', { deny: [DO] }, /denied by the rule/],
    ['the mode', { spec: { permissionMode: 'plan' } }, /in plan mode/],
    ['a person', { answer: 'denied' }, /is not permitted: .*, and no/],
  ] as const)('by %s, with the reason, and can tell the model more', async ([, options, reason]) => {
    seen.length = 0;
    // Each of these is one of the options.
    const engine = await hooked({ PermissionDenied: [learn] }, options as Parameters<typeof hooked>[1]);
    await engine.run('go');
    expect(seen).toMatchObject([
      {
        ...{ hook_event_name: 'PermissionDenied', tool_name: DO, tool_input: { n: 1 }, tool_use_id: 'c1' },
        reason: expect.stringMatching(reason),
      },
    ]);
    expect(engine.ran).toEqual([]);
    expect(resultOf(engine)).toContain('ask for less');
  });

  test('and not that it failed or worked', async () => {
    seen.length = 0;
    await (await hooked({ PermissionDenied: [learn] })).run('go');
    expect(seen).toEqual([]);
  });
});

describe('EXT-2: hooks after all calls of an answer', () => {
  const calls = [1, 2].map((n) => ({ id: `c${n}`, name: DO, input: { n } }));

  test('read each with its result, and tell the model more', async () => {
    const seen: unknown[] = [];
    const learn = (input: unknown) => {
      seen.push(input);
      return { hookSpecificOutput: { hookEventName: 'PostToolBatch', additionalContext: 'two more files' } };
    };
    const engine = await hooked(
      { PostToolBatch: [learn] },
      { provider: scriptedModel({ calls }, { text: 'done' }) },
    );
    await engine.run('go');
    const tool_response = { content: 'did it', is_error: false };
    expect(seen).toMatchObject([
      {
        tool_calls: calls.map(({ id, name, input }) => {
          return { tool_name: name, tool_input: input, tool_use_id: id, tool_response };
        }),
      },
    ]);
    expect(resultOf(engine)).toContain('two more files');
  });

  test.for([
    { decision: 'block', reason: 'enough' },
    { continue: false, stopReason: 'enough' },
  ])('end the run with %j, and the results are kept', async (answer) => {
    const engine = await hooked(
      { PostToolBatch: [() => answer] },
      { provider: scriptedModel({ calls }, { text: 'done' }) },
    );
    const { result } = await engine.run('go');
    expect(result).toMatchObject({ status: 'cancelled', cause: 'hook' });
    expect(engine.ran).toHaveLength(2);
    expect(resultOf(engine)).toContain('did it');
  });
});

describe('EXT-2: hooks at the end of an answer', () => {
  test('send the agent back to work, and say so the second time', async () => {
    const active: unknown[] = [];
    const stop = (input: { stop_hook_active?: boolean }) => {
      active.push(input.stop_hook_active);
      return input.stop_hook_active ? {} : { decision: 'block', reason: 'run the tests' };
    };
    const provider = scriptedModel({ text: 'done?' }, { text: 'done.' });
    const engine = await hooked({ Stop: [stop] }, { provider });
    const { result } = await engine.run('go');
    expect(result).toMatchObject({ status: 'done', text: 'done.', turns: 2 });
    expect(active).toEqual([false, true]);
    provider.assertDone();
  });

  test('that never let go end with the turns', async () => {
    const provider = scriptedModel(...Array.from({ length: 4 }, () => ({ text: 'done' })));
    const engine = await hooked({ Stop: [exit2('more')] }, { provider, spec: { maxTurns: 3 } });
    const { result } = await engine.run('go');
    expect(result).toMatchObject({ status: 'failed', cause: 'max_turns' });
  });

  test('of an agent type are those of an agent that others started', async () => {
    const engine = await hooked({}, { spec: { hooks: { Stop: [{ hooks: [exit2('x')] }] } } });
    expect(engine.runtime.hooks?.has(engine.agent, 'Stop')).toBe(true);
    expect(engine.runtime.hooks?.has(engine.agent, 'SubagentStop')).toBe(true);
  });
});

describe('SEC-1: what a call finds on disk when it begins', () => {
  const guard = { type: 'command', command: 'true' };

  test.for([
    ['default', ['c1']],
    ['bypassPermissions', ['c1', 'c2']],
  ] as const)('in %s are the hooks that let it through', async ([permissionMode, ids]) => {
    const found: unknown[] = [];
    const look = async () => {
      const noted = engine.recorded().flatMap((event) => (event.type === 'guards.noted' ? event.guards : []));
      found.push(noted.filter(({ hasEndedWell }) => hasEndedWell === true).length);
      return { content: 'looked' };
    };
    const calls = ids.map((id) => ({ id, name: DO, input: { n: 1 } }));
    const isAsked = permissionMode === 'default';
    const allows = `echo '{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}'`;
    const engine: HookedEngine = await hooked(
      { PreToolUse: [guard], ...(isAsked && { PermissionRequest: [{ ...guard, command: allows }] }) },
      {
        spec: { permissionMode },
        provider: scriptedModel({ calls }, { text: 'done' }),
        tools: [toolOf(DO, isAsked ? 'execute' : 'read', look)],
      },
    );
    await engine.run('go');
    expect(engine.asked).toEqual([]);
    expect(found).toEqual(isAsked ? [2] : [1, 1]);
  });
});

test('EXT-2: a call that is made again after a restart asks no hook again', async () => {
  let count = 0;
  const engine = await hooked({
    PreToolUse: [
      () => {
        count += 1;
        return { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'once' } };
      },
    ],
  });
  const [tool] = engine.agent.spec.tools;
  if (tool === undefined) throw new Error('there is a tool');
  const call = { type: 'tool_use', id: 'c9', name: DO, input: { n: 1 } } as const;
  const ask = () =>
    hookedCall(engine.agent, { tool, request: { call }, input: { n: 1 } }, new AbortController().signal);
  const first = await ask();
  expect(await ask()).toEqual(first);
  expect(first).toMatchObject({ kind: 'refused', reason: expect.stringContaining('once') });
  expect(count).toBe(1);
});

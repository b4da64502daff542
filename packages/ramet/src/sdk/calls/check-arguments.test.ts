/** Calls of the library that no compiler checks: all are refused before anything is read or changed. */
import { readdirSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import { UserMistake } from '../../schema/errors.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import * as library from '../index.ts';
import { VARIABLES } from './argument-kinds.ts';

/** As JavaScript calls it. */
type Untyped = Record<string, (...args: unknown[]) => Promise<unknown> | AsyncGenerator<unknown>>;

const functions = library as unknown as Untyped; // on purpose: the types would refuse every call of this file

async function mistakeOf(name: string, ...args: unknown[]): Promise<string> {
  const called = functions[name]?.(...args);
  const outcome = called !== undefined && 'next' in called ? called.next() : called;
  const error = await Promise.resolve(outcome).then(
    () => 'nothing was refused',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(UserMistake);
  return error instanceof Error ? error.message : '';
}

/** What comes before the options. */
const FIRST: Readonly<Record<string, unknown[]>> = {
  status: [],
  cost: ['abcd1234'],
  stop: ['abcd1234'],
  undo: ['abcd1234'],
  blame: ['a.txt'],
  diff: ['abcd1234'],
  previewMerge: [['one']],
  mergeBranches: [['one']],
  continueMerge: [],
  mergeQueue: [],
  listWorktrees: [],
  showWorktree: ['one'],
  commitWorktree: ['one'],
  removeWorktrees: [['one']],
  collectWorktrees: [],
  operatorStatus: [],
  askOperator: [{ kind: 'pause' }],
  listSessions: [],
  renameSession: ['abcd1234', 'A title'],
  deleteSessions: [['abcd1234']],
  transcript: ['abcd1234'],
  exportSession: ['abcd1234'],
  readEvents: ['abcd1234'],
  explainCache: ['abcd1234'],
  planTasks: ['tasks.md'],
  runStatistics: [],
  collectGarbage: [],
  checkHealth: [],
  repairSession: ['abcd1234'],
  reviewTrust: [],
  trustFolder: [],
  revokeTrust: [],
  readSettings: [],
  listAgentTypes: [],
  checkAgentTypes: [['a.md']],
  viewAgentType: ['Explore'],
  listServers: [],
  addServer: ['one', { command: 'true' }],
  removeServer: ['one'],
  tryServers: [['one']],
  logInToServer: ['one'],
  showMemory: [],
  explainMemory: ['a line'],
  saveMemoryNote: ['a note'],
  editMemory: ['project', (text: string) => text],
  undoMemory: [],
  listTeams: [],
  showTeam: [],
  sendToTeam: ['lead', 'hello'],
  answerPlan: ['ada'],
  stopTeam: [],
  reopenTeam: [],
};
const CALLS = Object.entries(FIRST);

describe('LIB-1: a call that is not understood does nothing', () => {
  test('every function of the library is tried here', () => {
    const others = ['openSession', 'tool', 'ModelError', 'RametError', 'UserMistake', 'VERSION'];
    // It takes nothing.
    others.push('currentAgentId');
    const all = Object.keys(library).filter((name) => !others.includes(name));
    expect(Object.keys(FIRST).sort()).toEqual(all.sort());
  });

  test.each(CALLS)('%s refuses an option that it does not have', async (name, first) => {
    const mistake = await mistakeOf(name, ...first, { dryrun: true });
    expect(mistake).toMatch(new RegExp(`^${name}: there is no option "dryrun"; there are cwd, env, .+$`));
  });

  test.each(CALLS)('%s refuses options of a wrong type', async (name, first) => {
    for (const wrong of ['abcd1234', null, [], 1, () => {}])
      expect(await mistakeOf(name, ...first, wrong)).toContain('the argument for options is ');
    expect(await mistakeOf(name, ...first, { cwd: 1 })).toBe(
      `${name}: the option cwd is 1; give a text that is not empty`,
    );
    expect(await mistakeOf(name, ...first, { signal: {} })).toContain('give an AbortSignal');
    expect(await mistakeOf(name, ...first, { note: 'x' })).toContain(
      'the option note is "x"; give a function',
    );
  });

  test.each(CALLS.filter(([, first]) => first.length > 0))(
    '%s refuses a first argument of a wrong type',
    async (name) => {
      for (const wrong of [null, 7, {}, '', ['', 1]]) expect(await mistakeOf(name, wrong)).toMatch(/; give /);
    },
  );

  test('a list is not a text, and options do not come first', async () => {
    expect(await mistakeOf('undo', { dryRun: true })).toBe(
      'undo: the session is an object; give a text that is not empty',
    );
    expect(await mistakeOf('mergeBranches', 'main')).toContain('is "main"; give a list of texts');
    expect(await mistakeOf('undo', 'abcd1234', { session: 'abcd1234' })).toContain('no option "session"');
  });

  test.each([
    ['undo', { turn: 1.5 }, 'the option turn is 1.5; give a whole number above 0'],
    ['undo', { force: 'yes' }, 'the option force is "yes"; give true or false'],
    ['mergeBranches', { strategy: 'ours' }, 'give one of merge, squash, rebase, cherry-pick'],
    ['mergeBranches', { check: true }, 'the option check is true; give a command, or false'],
    ['mergeBranches', { checkSeconds: Number.NaN }, 'the option checkSeconds is NaN; give a number'],
    ['status', { limit: 0 }, 'the option limit is 0; give a whole number above 0'],
  ])('%s refuses %o', async (name, options, reason) => {
    expect(await mistakeOf(name, ...(FIRST[name] ?? []), options)).toContain(reason);
  });

  test.each([
    [{ env: { A: 5 } }, /^openSession: the option env\.A is 5; give a text$/],
    [
      { plugins: ['a', ''] },
      /^openSession: the option plugins\[1\] is an empty text; give a text that is not empty$/,
    ],
    [{ additionalDirectories: ['/nope'] }, /no directory \/nope: .*\(additionalDirectories, --add-dir\)$/],
    [{ plugins: ['/nope'] }, /no folder \/nope: .*\(plugins, --plugin-dir\)$/],
    [{ provider: {} }, /the option provider is an object; give a provider, .* the methods send and close$/],
    [{ clock: {} }, /the option clock is an object; give a clock: an object with the methods now and sleep$/],
    [{ broker: {} }, /the option broker is an object; give a broker: an object with the method ask$/],
    [
      { agentTypes: { a: { description: 5, prompt: 'p' } } },
      /^openSession: agentTypes\.a\.description is 5; give a text$/,
    ],
    [{ systemPromt: 'x' }, /^openSession: there is no option "systemPromt"; there are cwd, env, .*$/],
    [{ agents: { critic: { description: 'd', prompt: 'p' } } }, /; agent types go into agentTypes$/],
    [{ agents: { dept: 3 } }, /no option "agents\.dept"; .* did you mean agents\.depth\?$/],
    [{ modle: 'haiku' }, /; did you mean model\?$/],
    [{ permissionmode: 'plan' }, /; did you mean permissionMode\?$/],
    [
      { permissions: { alow: ['Read'] } },
      /no option "permissions\.alow"; .* did you mean permissions\.allow\?$/,
    ],
    [{ permissions: { allow: 'Read' } }, /the option permissions\.allow is "Read"; give a list of texts$/],
    [{ retry: { retries: 1 } }, /no option "retry\.retries"; there are maxRetries, /],
    [
      { thinking: { budgetTokens: 2000 } },
      /no option "thinking\.budgetTokens"; .* mean thinking\.budget_tokens\?$/,
    ],
    [
      { thinking: { type: 'nonsense' } },
      /the option thinking\.type is "nonsense"; give one of disabled, adaptive, enabled$/,
    ],
    [{ thinking: {} }, /^thinking has no type: give \{ type: 'enabled', budget_tokens: 4000 \}, /],
    [
      { thinking: { type: 'enabled', budget_tokens: 2048, foo: 1 } },
      /no option "thinking\.foo"; there are type, effort, budget_tokens$/,
    ],
    [
      { thinking: { type: 'enabled', budget_tokens: 2048, effort: 'low' } },
      /^thinking of the type enabled has no effort: give /,
    ],
    [
      { thinking: { type: 'adaptive', budget_tokens: 2048 } },
      /the type adaptive has no budget_tokens: give /,
    ],
    [
      { thinking: { type: 'disabled', effort: 'low' } },
      /^thinking of the type disabled has no effort: give /,
    ],
    [
      { thinking: { type: 'enabled' } },
      /^thinking takes a whole number of at least 1024 tokens: give budget_tokens$/,
    ],
    [
      { thinking: { type: 'adaptive', effort: 'huge' } },
      /the option thinking\.effort is "huge"; give one of /,
    ],
    [{ budget: { dollars: 1 } }, /^the option budget is wrong: it has no "dollars": there are /],
    [{ cwd: 7 }, /the option cwd is 7; give a text that is not empty$/],
    [{ onRecord: 'log' }, /the option onRecord is "log"; give a function$/],
    [{ quite_another_thing: true }, /attended, housekeeping, background, settings$/],
    ['a prompt', /^openSession: the argument for options is "a prompt"; give an object$/],
  ])('openSession refuses %o, and makes no session', async (options, reason) => {
    const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
    const given = typeof options === 'string' ? options : { cwd: temporaryDirectory(), env, ...options };
    expect(await mistakeOf('openSession', given)).toMatch(reason);
    expect(readdirSync(env.RAMET_HOME)).toEqual([]);
  });

  /** A place and a home of its own. */
  const elsewhere = () => ({
    ...{ cwd: temporaryDirectory(), provider: scriptedModel() },
    env: { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH },
  });
  class Rights {
    deny = ['Bash'];
  }
  const holders = (): [string, object][] => [
    ['a Map', new Map([['deny', ['Bash']]])],
    ['a Date', new Date(0)],
    ['a Rights', new Rights()],
    ['an Error', new Error('no')],
    ['an object of another prototype', Object.create({ deny: ['Bash'] })],
  ];
  test.each([
    ...['env', 'thinking', 'budget', 'agents', 'hooks', 'agentTypes', 'permissions', 'retry'],
    ...['mcpServers', 'settings'],
  ])('the option %s is a plain object', async (option) => {
    for (const [what, holder] of holders())
      expect(await mistakeOf('openSession', { ...elsewhere(), [option]: holder })).toMatch(
        `openSession: the option ${option} is ${what}; give a plain object`,
      );
  });

  test.each<[object, string]>([
    [{ agentTypes: { a: { description: 'd', prompt: 'p', budget: new Map() } } }, 'agentTypes.a.budget'],
    [{ agentTypes: { a: new Map() } }, 'agentTypes.a'],
    [{ settings: { permissions: new Map() } }, 'settings.permissions'],
    [{ mcpServers: { a: { command: 'x', env: new Map() } } }, 'mcpServers.a.env'],
    [{ hooks: { PreToolUse: [new Map()] } }, 'hooks.PreToolUse[0]'],
    [{ prices: [new Map()] }, 'prices[0]'],
  ])('so is what is within it: %o', async (options, part) => {
    expect(await mistakeOf('openSession', { ...elsewhere(), ...options })).toMatch(
      `openSession: the option ${part} is a Map; give a plain object`,
    );
  });

  test('an address in a server is a text', async () => {
    const mcpServers = { a: { url: new URL('http://127.0.0.1/') } };
    expect(await mistakeOf('openSession', { ...elsewhere(), mcpServers })).toMatch(
      'openSession: the option mcpServers.a.url is a URL; give its text, url.href',
    );
  });

  test('a literal of another realm, one without a prototype, a module and the environment of the process are plain', async () => {
    const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
    const place = { cwd: temporaryDirectory(), env, provider: scriptedModel() };
    const permissions = runInNewContext("({ deny: ['Bash'] })");
    const budget = Object.assign(Object.create(null), { usd: 1 });
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    await using session = await library.openSession({ ...place, permissions, budget });
    expect(session.id).toMatch(/^\w{8}$/);
    expect(await mistakeOf('openSession', { ...place, agentTypes: { a: cyclic } })).toContain(
      'no field "self"',
    );
    expect(VARIABLES.accepts(process.env)).toBe(true);
  });

  test.each(CALLS)('%s takes no Map and no object of a class for options', async (name, first) => {
    for (const [what, holder] of holders()) {
      // A call that takes it finds another mistake, and does not act on this place.
      const options = Object.assign(holder, { unknown: true });
      expect(await mistakeOf(name, ...first, options)).toBe(
        `${name}: the argument for options is ${what}; give a plain object`,
      );
    }
    expect(await mistakeOf(name, ...first, { env: new Map(), unknown: true })).toContain(
      'the option env is a Map; give a plain',
    );
  });

  test('the methods of a session refuse options that they do not have', async () => {
    const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
    const model = scriptedModel();
    await using session = await library.openSession({ cwd: temporaryDirectory(), env, provider: model });
    // On purpose: the types would refuse every call.
    const methods = session as unknown as Untyped;
    for (const [name, args, reason] of [
      ['run', ['x', { schmea: {} }], 'session.run: there is no option "schmea"; there are signal, '],
      ['run', [7], 'session.run: the prompt is 7; give a text, a list of parts, or null'],
      ['ask', [''], 'session.run: the prompt is an empty text; give a text, a list of parts, or null'],
      [
        'ask',
        [[{ type: 'image', data: 5 }, 'x']],
        'part 1 of the prompt is refused: the data of an image is no text',
      ],
      [
        'fork',
        ['x', { foo: 1 }],
        'session.fork: there is no option "foo"; there are description, name, isolation,',
      ],
      ['fork', [], 'session.fork: the prompt is undefined; give a text that is not empty'],
      ['spawn', [], 'session.spawn: the argument is undefined; give an object: { prompt, description, '],
      ['spawn', [{ prompt: 'x' }], 'session.spawn: the option description is undefined; give a text'],
      [
        'spawn',
        [{ prompt: 'x', description: 'x', agent: 'plan' }],
        'session.spawn: there is no option "agent"',
      ],
      ['spawn', [{ prompt: 'x', description: 'x', expect: { file: [] } }], 'did you mean expect.files?'],
      ['attach', ['a.txt'], 'session.attach: the argument for paths is "a.txt"; give a list of texts'],
      ['command', ['ls', { cwd: '/' }], 'session.command: there is no option "cwd"'],
      ['undo', [{ dryRun: true }], 'session.undo: there is no option "dryRun"'],
      [
        'rewind',
        [{ prompt: 1, what: 'all' }],
        'the option what is "all"; give one of conversation, files, both',
      ],
      ['rewind', [{}], 'session.rewind: the option prompt is undefined; give a whole number above 0'],
      ['rewind', [{ prompt: 1 }], 'session.rewind: the option what is undefined; give one of conversation, '],
      ['rewind', [], 'session.rewind: the argument is undefined; give an object: { prompt, what, force }'],
      ['compact', [{ instruction: 'x' }], 'did you mean instructions?'],
      ['compact', [new Map()], 'session.compact: the argument for options is a Map; give a plain object'],
      [
        'ask',
        ['x', { schema: new Map() }],
        'session.ask: the option schema is a Map; give a Zod 4 or Standard',
      ],
      [
        'spawn',
        [{ prompt: 'x', description: 'x', budget: new Map() }],
        'the option budget is a Map; give a plain',
      ],
      ['spawn', [new Map()], 'session.spawn: the argument is a Map; give a plain object: { prompt, '],
    ] as const) {
      const called = methods[name]?.(...args);
      const outcome = called !== undefined && 'next' in called ? called.next() : called;
      await expect(outcome).rejects.toThrow(reason);
    }
    const setModel = session.setModel as unknown as (model: unknown) => void; // on purpose, as above
    expect(() => setModel(5)).toThrow('session.setModel: the model is 5; give a text that is not empty');
    expect(model.requests).toEqual([]);
  });

  test('a session that is closed takes nothing more', async () => {
    const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
    const options = { cwd: temporaryDirectory(), env, provider: scriptedModel() };
    const session = await library.openSession(options);
    await session.close();
    const closed = 'this session is closed: open it again with resume';
    await expect(session.fork('x')).rejects.toThrow(closed);
    await expect(session.spawn({ prompt: 'x', description: 'x' })).rejects.toThrow(closed);
    await expect(session.tell('x', 'y')).rejects.toThrow(closed);
    await expect(session.remember('x')).rejects.toThrow(closed);
    await expect(session.ask('x')).rejects.toThrow(closed);
    expect(() => session.setModel('haiku')).toThrow(closed);
    expect(() => session.setPermissionMode('plan')).toThrow(closed);
  });

  test('the team of a session and a field of a server that has no effect are told', async () => {
    const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
    const provider = scriptedModel();
    const mcpServers = { a: { command: 'true', foo: 1 } };
    await using session = await library.openSession({
      ...{ cwd: temporaryDirectory(), env, provider, mcpServers, team: 'crew' },
    });
    expect(session.notices).toContain(
      'the MCP server a in the option mcpServers has the field foo, which has no effect here',
    );
    // On purpose: the types would refuse every call.
    const team = session.team as unknown as Untyped;
    for (const [name, args, reason] of [
      ['add', [{}], 'session.team.add: the option name is undefined; give a text that is not empty'],
      [
        'add',
        [{ name: 'bo', kind: 'x' }],
        'session.team.add: there is no option "kind"; there are name, type',
      ],
      ['send', ['bo', 'hi'], 'session.team.send: the argument is "bo"; give an object: { to, text }'],
      ['send', [{ to: 'bo' }], 'session.team.send: the option text is undefined'],
      [
        'answerPlan',
        [{ member: 'bo' }],
        'session.team.answerPlan: the option approve is undefined; give true or',
      ],
    ] as const)
      await expect(team[name]?.(...args)).rejects.toThrow(reason);
    expect(() =>
      library.tool({ name: 'a b', description: 'x', inputSchema: { type: 'object' }, run: () => '' }),
    ).toThrow('tool "a b": models call it by its name: give 1 to 128 letters, digits, _ and -');
  });

  test('session.operate refuses what it does not know before anything runs', async () => {
    const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
    const place = { cwd: temporaryRepository(), env, provider: scriptedModel() };
    await using session = await library.openSession(place);
    // On purpose: the types would refuse every call.
    const operate = session.operate as unknown as (order: unknown) => Promise<unknown>;
    for (const [order, reason] of [
      [{ file: 'tasks.md', chekc: 'false' }, 'session.operate: there is no option "chekc"; there are file, '],
      [{ file: 5 }, 'session.operate: the option file is 5; give a text that is not empty'],
      [{ parallel: -3 }, 'the option parallel is -3; give a whole number above 0, or auto'],
      [{ parallel: 'x' }, 'the option parallel is "x"; give a whole number above 0, or auto'],
      [{ parallel: 0 }, 'the option parallel is 0; give'],
      [{ retries: -1 }, 'the option retries is -1; give a whole number of at least 0'],
      [{ attempts: 0 }, 'the option attempts is 0; give a whole number above 0'],
      [{ maxBudgetUsd: 0 }, 'the option maxBudgetUsd is 0; give a number above 0'],
      [{ check: 7 }, 'the option check is 7; give a command, or false'],
      [{ isolation: 'moon' }, 'give one of auto, worktree'],
      [{ signal: {} }, 'give an AbortSignal'],
      ['tasks.md', 'session.operate: the argument for options is "tasks.md"; give an object'],
    ] as const)
      await expect(operate(order)).rejects.toThrow(reason);
  });
});

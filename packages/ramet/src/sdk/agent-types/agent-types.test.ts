import { realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../test/fixtures/command.ts';
import {
  call,
  type FamilySession,
  lastTexts,
  startAgents,
  startFamily,
} from '../../../test/fixtures/family.ts';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { builtInDefinitions, typeLines } from '../../agents/prompts/built-in.ts';
import type { RequestRecord } from '../../emulator/index.ts';
import { trust } from '../../system/trust.ts';
import { agentToolFor } from '../../tools/agent.ts';
import { checkTypes, listAgentTypes } from '../calls/check-types.ts';
import { readSettingsInDetail } from '../calls/settings-report.ts';
import { checkHealth } from '../doctor/doctor.ts';
import { findPlugins } from '../extensions/plugins.ts';
import { knownOffers } from '../mcp/known-offers.ts';
import { listServers } from '../mcp/manage-servers.ts';
import { findPlace } from '../place.ts';
import { openSession } from '../session/session.ts';
import { openAgentTypes } from './agent-types.ts';
import { viewChild } from './child-view.ts';

const agentTool = agentToolFor({ fork: true, types: typeLines(builtInDefinitions) });

const DONE = { text: 'Scope: done.' };

function definition(name: string, fields = '', body = `I am ${name}, and I look.`): string {
  return `---\nname: ${name}\ndescription: Knows all of ${name}.\n${fields}---\n${body}\n`;
}

function agentDescription(record: RequestRecord | undefined): string {
  const tools: readonly { name?: unknown; description?: unknown }[] = record?.request?.tools ?? [];
  return String(tools.find(({ name }) => name === 'Agent')?.description);
}

function toolNames(record: RequestRecord | undefined): unknown[] {
  const tools: readonly { name?: unknown }[] = record?.request?.tools ?? [];
  return tools.map(({ name }) => name);
}

/** What the Agent call that started nobody was answered with. */
async function refused(family: FamilySession, prompt = 'Go.'): Promise<string> {
  await family.run(prompt);
  return lastTexts(family.requestsOf(prompt).at(-1)).join('\n');
}

function asking(type: string, task = 'look around', input: Record<string, unknown> = {}): object {
  return { 'Go.': [startAgents([task], { subagent_type: type, ...input }), DONE], [task]: [DONE] };
}

describe('TYPE-3: what the main agent is told about types', () => {
  test('without files the Agent tool is what it always is', async () => {
    const family = await startFamily({ cast: { 'Go.': [DONE] } });
    await family.run('Go.');
    expect(agentDescription(family.requestsOf('Go.')[0])).toBe(agentTool.description);
  });

  test('types of files are in the Agent tool, each with a line, and stay there for the whole session', async () => {
    const family = await startFamily({
      cast: { 'Go.': [DONE], 'Again.': [DONE], 'Third.': [DONE] },
      home: {
        'agents/a.md': definition('reviewer', 'tools: Read\n'),
        'agents/long.md': `---\nname: long\ndescription: "${'many words '.repeat(80)}<example>user: x</example>"\n---\np\n`,
      },
    });
    await family.run('Go.');
    const first = agentDescription(family.requestsOf('Go.')[0]);
    expect(first).toContain('\n- reviewer: Knows all of reviewer.\n');
    expect(first).toMatch(/^- long: many words .{150,240}…$/m);
    expect(first).not.toContain('example>');
    writeFiles(family.home, { 'agents/b.md': definition('newcomer') });
    rmSync(join(family.home, 'agents/long.md'));
    await family.run('Again.');
    const [again] = family.requestsOf('Again.');
    expect(agentDescription(again)).toBe(first);
    expect(lastTexts(again)).toEqual([
      '<agent-types>\nThe types for subagent_type have changed since this session began.\nNew or changed:\n- newcomer: Knows all of newcomer.\nNo longer there: long\n</agent-types>',
      'Again.',
    ]);
    await family.run('Third.');
    expect(lastTexts(family.requestsOf('Third.')[0])).toEqual(['Third.']);
  });

  test('a list that is too long continues with names alone', async () => {
    const many = Array.from({ length: 300 }, (_, at) => `worker-${String(at).padStart(3, '0')}`);
    const family = await startFamily({
      cast: { 'Go.': [DONE], 'Again.': [DONE] },
      home: Object.fromEntries(
        many.map((name) => [
          `agents/${name}.md`,
          `---\nname: ${name}\ndescription: ${'x'.repeat(150)}\n---\np\n`,
        ]),
      ),
    });
    await family.run('Go.');
    const description = agentDescription(family.requestsOf('Go.')[0]);
    expect(description.length).toBeLessThan(agentTool.description.length + 8_500);
    expect(description).toMatch(
      /\nAlso, without a description here: worker-\d+, .* and \d+ more\. To find a type, .*\n/,
    );
    await family.run('Again.');
    expect(lastTexts(family.requestsOf('Again.')[0])).toEqual(['Again.']);
  });

  test('FORK-9: a resumed session keeps the tool it began with, its children too, and learns what changed', async () => {
    const family = await startFamily({
      cast: { 'Go.': [DONE] },
      home: { 'agents/a.md': definition('reviewer') },
    });
    await family.run('Go.');
    const first = agentDescription(family.requestsOf('Go.')[0]);
    writeFiles(family.home, { 'agents/b.md': definition('newcomer') });
    const again = await family.reopen({
      'Again.': [startAgents(['work'], { subagent_type: 'general-purpose' }), DONE],
      work: [DONE],
    });
    await again.run('Again.');
    expect(agentDescription(again.requestsOf('Again.')[0])).toBe(first);
    expect(agentDescription(again.requestsOf('work')[0])).toBe(first);
    expect(lastTexts(again.requestsOf('Again.')[0])[0]).toContain('New or changed:\n- newcomer: ');
    expect(lastTexts(again.requestsOf('Again.')[0])[0]).not.toContain('reviewer');
  });

  test('a file that replaces a built-in type replaces its line too', async () => {
    const family = await startFamily({
      cast: { 'Go.': [DONE] },
      home: { 'agents/e.md': definition('Explore') },
    });
    await family.run('Go.');
    const description = agentDescription(family.requestsOf('Go.')[0]);
    expect(description.match(/^- Explore: .*/gm)).toEqual(['- Explore: Knows all of Explore.']);
  });
});

describe('TYPE-3: agents of definition files', () => {
  test('PROMPT-1: the first request is the prompt of the file, its tools, and what it is told about its place', async () => {
    const probes = { 'AGENTS.md': 'Probe-instructions.\n', 'README.md': '# x\n' };
    const home = {
      'agents/plain.md': definition('plain', 'tools: Read, Grep, LS\n', 'Probe-system-prompt.'),
      'agents/bare.md': definition(
        'bare',
        'omitClaudeMd: true\nomitGitStatus: true\ndisallowedTools: [Bash, Agent]\n',
      ),
    };
    const family = await startFamily({
      cast: {
        'Probe-conversation.': [
          {
            tool_use: [
              { name: 'Agent', input: { prompt: 'task one', description: 'd', subagent_type: 'plain' } },
              { name: 'Agent', input: { prompt: 'task two', description: 'd', subagent_type: 'Bare' } },
              { name: 'Agent', input: { prompt: 'task three', description: 'd' } },
            ],
          },
          DONE,
        ],
        'task one': [DONE],
        'task two': [DONE],
        'task three': [DONE],
      },
      files: probes,
      home,
    });
    await family.run('Probe-conversation.');
    const [plain, bare, fork] = ['task one', 'task two', 'task three'].map(
      (task) => family.requestsOf(task)[0],
    );
    const seen = (record: RequestRecord | undefined): boolean[] =>
      [
        'Probe-system-prompt.',
        'Probe-instructions.',
        'Probe-conversation.',
        'Git branch',
        '<sub-agent>',
        'Working directory',
      ].map((probe) => record?.body.includes(probe) ?? false);
    expect(seen(plain)).toEqual([true, true, false, true, true, true]);
    expect(seen(bare)).toEqual([false, false, false, false, true, true]);
    expect(seen(fork)).toEqual([false, true, true, true, false, true]);
    expect(toolNames(plain)).toEqual(['Read', 'Grep']);
    expect(toolNames(bare)).not.toContain('Bash');
    expect(toolNames(bare)).not.toContain('Agent');
    expect(toolNames(bare)).toContain('Write');
    expect(plain?.request?.system).toEqual([expect.objectContaining({ text: 'Probe-system-prompt.' })]);
  });

  test('RES-1: model, turns and background are what the file says, unless the call says otherwise', async () => {
    const again = { tool_use: [{ name: 'Glob', input: { pattern: '*' } }] };
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['dig'], { subagent_type: 'digger' }), DONE, DONE, DONE],
        dig: [again, again, again],
      },
      home: { 'agents/d.md': definition('digger', 'model: haiku\nmaxTurns: 2\nbackground: true\n') },
    });
    const { events } = await family.run('Go.');
    expect(family.requestsOf('dig')[0]?.request?.model).toBe('claude-haiku-4-5');
    expect(family.requestsOf('dig')).toHaveLength(3);
    const started = family.recordedOf(2).find(({ type }) => type === 'agent.started');
    expect(started).toMatchObject({ agentType: 'digger', maxTurns: 2, origin: { background: true } });
    const origin = expect.objectContaining({ background: true });
    expect(events).toContainEqual(expect.objectContaining({ type: 'agent_started', origin }));
  });

  test('an adviser that asks for no tools is started without any', async () => {
    const family = await startFamily({
      cast: { ...asking('adviser') },
      home: { 'agents/a.md': definition('adviser', 'tools: []\n') },
    });
    await family.run('Go.');
    const [request, ...more] = family.requestsOf('look around');
    expect(more).toEqual([]);
    expect(request?.request).not.toHaveProperty('tools');
  });

  test('one of hundreds that the prompt has no room for is found by a topic, and used', async () => {
    const many = Array.from({ length: 400 }, (_, index) => [
      `agents/f${index}.md`,
      definition(`collection-of-fillers-${index}`),
    ]);
    const home = {
      ...Object.fromEntries(many),
      'agents/z.md': definition('zz-scaffolding-django-pro'),
    };
    const by = (subagent_type: string) =>
      call('Agent', { prompt: 'look around', description: 'look', subagent_type });
    const family = await startFamily({
      home,
      cast: {
        'Go.': [by('django'), by('zz-scaffolding-django-pro'), { text: 'ok' }],
        'look around': [{ text: 'seen' }],
      },
    });
    await family.run('Go.');
    const [first, second] = family.requestsOf('Go.');
    const told = JSON.stringify(first?.request?.tools);
    expect(told).not.toContain('zz-scaffolding');
    expect(told).toMatch(/and \d{3} more\. To find/);
    expect(told).toContain('To find a type, give a topic as subagent_type');
    expect(lastTexts(second)[0]).toMatch(
      /^No agent was started: there is no agent type "django"; the nearest of 406 are:\n- zz-scaffolding-django-pro: .*\nWithout subagent_type it is a fork\.$/,
    );
    expect(family.requestsOf('look around')).toHaveLength(1);
  });

  test('one that is left without tools is not started, with the reason', async () => {
    const cast = asking('odd');
    const family = await startFamily({
      cast: { ...cast },
      home: { 'agents/o.md': definition('odd', 'tools: LS, WebSearch\n') },
    });
    expect(await refused(family)).toMatch(
      /No agent was started: the agent type "odd" has no tool that you have \(it asks for LS, WebSearch\); it is defined in .*o\.md/,
    );
    expect(family.requestsOf('look around')).toEqual([]);
  });

  test('RES-3, SEC-1: a mode wider than the parent has gives no right', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['write'], { subagent_type: 'wide' }), DONE],
        write: [{ tool_use: [{ name: 'Bash', input: { command: 'touch made.txt' } }] }, DONE],
      },
      permissionMode: 'default',
      home: { 'agents/w.md': definition('wide', 'permissionMode: bypassPermissions\n') },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('write')[1])[0]).toMatch(/not permitted|denied|permission/i);
  });

  test('SEC-1: one of a repository that is not trusted is refused with what to do, and runs once it is trusted', async () => {
    const family = await startFamily({
      cast: {
        ...asking('theirs'),
        'Again.': [startAgents(['look around'], { subagent_type: 'theirs' }), DONE],
      },
      files: { '.claude/agents/t.md': definition('theirs', '', 'Their prompt.') },
    });
    expect(family.session.notices).toEqual([
      expect.stringContaining('1 agent definition of this repository is not active'),
    ]);
    expect(await refused(family)).toMatch(
      /"theirs" is defined in .*t\.md, and this repository is not trusted: .*ramet trust/,
    );
    trust({ home: family.home, root: family.cwd });
    await family.run('Again.');
    expect(family.requestsOf('look around')[0]?.body).toContain('Their prompt.');
  });

  test('a type whose file is broken is refused with the file and the line', async () => {
    const family = await startFamily({
      cast: { ...asking('broken') },
      home: { 'agents/b.md': '---\nname: broken\ntools: { a: 1 }\ndescription: d\n---\np\n' },
    });
    expect(await refused(family)).toMatch(/"broken" cannot be used: .*b\.md:3: tools: it is neither/);
  });

  test('a changed file is used by the next agent, also when no watcher told of it', async () => {
    const family = await startFamily({
      cast: { ...asking('a'), 'Again.': [startAgents(['look around'], { subagent_type: 'a' }), DONE] },
      home: { 'agents/a.md': definition('a', '', 'The old prompt.') },
    });
    await family.run('Go.');
    writeFileSync(join(family.home, 'agents/a.md'), definition('a', '', 'The new prompt.'));
    await family.run('Again.');
    const [before, after] = family.requestsOf('look around');
    expect([before?.body.includes('The old prompt.'), after?.body.includes('The new prompt.')]).toEqual([
      true,
      true,
    ]);
  });

  test('an edit that breaks a file is told in the journal while the session runs', async () => {
    const family = await startFamily({ cast: { 'Go.': [DONE] }, home: { 'agents/a.md': definition('a') } });
    await family.run('Go.');
    writeFileSync(join(family.home, 'agents/a.md'), '---\nname: a\n---\n');
    const warned = (): boolean =>
      family
        .recorded()
        .some(({ event }) => event.type === 'warning.raised' && event.code === 'agent_definition');
    await eventually(warned);
  });

  test('a folder that appears while the session runs is found with the next prompt', async () => {
    const family = await startFamily({ cast: { 'Go.': [DONE], 'Again.': [DONE] } });
    await family.run('Go.');
    writeFiles(family.home, { 'agents/late.md': definition('late') });
    await family.run('Again.');
    expect(lastTexts(family.requestsOf('Again.')[0])[0]).toContain('- late: Knows all of late.');
  });

  test('a folder that appears while the session runs is there for all agents that start together', async () => {
    const cwd = temporaryDirectory();
    const env = { RAMET_HOME: join(cwd, 'home') };
    using types = await openAgentTypes(findPlace({ cwd, env }), env);
    const knowsLate = async (): Promise<boolean> => {
      await types.refresh('late');
      return types.definitions.some(({ name }) => name === 'late');
    };
    expect(await knowsLate()).toBe(false);
    await new Promise(setImmediate);
    writeFiles(env.RAMET_HOME, { 'agents/late.md': definition('late') });
    expect(await Promise.all([knowsLate(), knowsLate()])).toEqual([true, true]);
  });
});

describe('EXT-1: managed policy that allows only its own hooks, servers or plugins', () => {
  test('names the agent types and the plugins that lose something by it', async () => {
    const cwd = temporaryDirectory();
    const env = { RAMET_HOME: join(cwd, 'home') };
    const hooks = 'hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: "true"\n';
    writeFiles(env.RAMET_HOME, {
      'agents/ha.md': definition('ha', hooks),
      'agents/sa.md': definition('sa', 'mcpServers:\n  - own:\n      command: node\n'),
      'agents/plain.md': definition('plain', 'mcpServers:\n  - shared\n'),
      'plugins/p/.claude-plugin/plugin.json': '{"name":"p"}',
    });
    const place = findPlace({ cwd, env });
    using types = await openAgentTypes(place, env, { hooks: 'managed', servers: 'managed', plugins: [] });
    expect(types.notices()).toEqual([
      'managed policy allows only its own hooks; left out of the agent types ha',
      'managed policy allows only its own MCP servers; left out of the agent types sa',
    ]);
    using free = await openAgentTypes(place, env, { plugins: [] });
    expect(free.notices()).toEqual([]);
    const found = await findPlugins(place, { env, settings: { policy: { plugins: 'managed' } } });
    expect(found.plugins).toEqual([]);
    expect(found.problems).toEqual([
      `${join(place.home, 'plugins/p')}: left out, managed policy allows only its own plugins`,
    ]);
  });

  test('doctor, settings, mcp ls, agents show and agents validate name them too', async () => {
    const cwd = temporaryDirectory();
    const env = {
      RAMET_HOME: join(cwd, 'home'),
      RAMET_MANAGED_DIR: join(cwd, 'managed'),
      RAMET_PROVIDER: 'recipe',
    };
    const hooks = 'hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: "true"\n';
    const path = join(env.RAMET_HOME, 'agents/ha.md');
    writeFiles(cwd, {
      'home/agents/ha.md': definition('ha', `${hooks}mcpServers:\n  - own:\n      command: node\n`),
      'managed/settings.json': '{"policy":{"hooks":"managed","mcpServers":"managed"}}',
    });
    const here = { cwd, env };
    const [noHooks, noServers] = [
      'left out, managed policy allows only its own hooks',
      'left out, managed policy allows only its own MCP servers',
    ];
    const { unusedExtensions } = await readSettingsInDetail(here);
    expect(unusedExtensions).toEqual([
      { what: 'hooks of the agent type ha', source: path, why: noHooks },
      { what: 'mcpServers of the agent type ha', source: path, why: noServers },
    ]);
    expect((await checkTypes([], here)).problems).toMatchObject([
      { path, field: 'hooks', level: 'warning', message: noHooks },
      { path, field: 'mcpServers', level: 'warning', message: noServers },
    ]);
    expect((await viewChild('ha', here)).leftOut).toEqual([
      'hooks: managed policy allows only its own hooks',
      'mcpServers: managed policy allows only its own MCP servers',
    ]);
    expect((await listServers(here)).problems).toEqual([
      'managed policy allows only its own MCP servers; left out of the agent types ha',
    ]);
    const checks = await checkHealth(here);
    expect(checks.find(({ name }) => name === 'extensions')?.found).toContain(noHooks);
    expect(checks.find(({ name }) => name === 'mcp')?.found).toContain('left out of the agent types ha');
    expect((await checkTypes([], { cwd, env: { ...env, RAMET_MANAGED_DIR: cwd } })).problems).toEqual([]);
  });

  test('hooks and servers of plugins that it leaves out are named at the start and in every list', async () => {
    const { here, plugin } = pluginPlace();
    const env = { ...here.env, RAMET_MANAGED_DIR: join(here.cwd, 'managed') };
    writeFiles(here.cwd, {
      'managed/settings.json': '{"policy":{"hooks":"managed","mcpServers":"managed"}}',
    });
    const [noHooks, noServers] = [
      'managed policy allows only its own hooks',
      'managed policy allows only its own MCP servers',
    ];
    await using session = await openSession({ ...here, env, model: 'recipe' });
    expect(session.notices).toContain(`${noHooks}; left out of the plugins pl`);
    expect(session.notices.join('\n')).toContain('pl:pg');
    const { unusedExtensions } = await readSettingsInDetail({ ...here, env });
    expect(unusedExtensions).toEqual([
      { what: 'hooks of the plugin pl', source: plugin, why: `left out, ${noHooks}` },
      { what: 'mcpServers of the plugin pl', source: plugin, why: `left out, ${noServers}` },
    ]);
    expect((await listServers({ ...here, env })).servers).toMatchObject([
      { name: 'pl:pg', unused: noServers },
    ]);
    const checks = await checkHealth({ ...here, env });
    expect(checks.find(({ name }) => name === 'extensions')?.found).toContain(noHooks);
    expect(checks.find(({ name }) => name === 'mcp')?.found).toContain('not started: pl:pg');
  });
});

/** A plugin that the user's settings name: an agent with a mistake, a command, a hook and a server that does not start. */
function pluginPlace(): { here: { cwd: string; env: NodeJS.ProcessEnv }; plugin: string } {
  const cwd = realpathSync(temporaryDirectory());
  const plugin = join(cwd, 'pl');
  writeFiles(cwd, {
    'home/settings.json': JSON.stringify({ plugins: [plugin] }),
    'pl/agents/aa.md': definition('aa', 'colour: red\n'),
    'pl/commands/go.md': '---\ndescription: [a] | b\n---\nGo.\n',
    'pl/hooks/hooks.json': '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}',
    'pl/.mcp.json': JSON.stringify({ mcpServers: { pg: { command: process.execPath, args: ['-e', ''] } } }),
  });
  const env = { PATH: process.env.PATH, RAMET_HOME: join(cwd, 'home'), RAMET_PROVIDER: 'recipe' };
  return { here: { cwd, env }, plugin };
}

describe('EXT-3: what plugins bring', () => {
  test('commands that list and test know the agents and servers that sessions have', async () => {
    const { here, plugin } = pluginPlace();
    const { types, problems } = await listAgentTypes(here);
    expect(types.map(({ name }) => name)).toContain('pl:aa');
    expect(problems).toMatchObject([{ path: join(plugin, 'agents/aa.md'), field: 'colour' }]);
    expect((await checkTypes([], here)).definitions).toBe(1);
    expect((await viewChild('pl:aa', here)).definition.path).toBe(join(plugin, 'agents/aa.md'));
    expect((await listServers(here)).servers).toMatchObject([
      { name: 'pl:pg', source: plugin, unused: null },
    ]);
    expect((await knownOffers(here)).servers).toEqual(['pl_pg']);
    const checks = await checkHealth(here);
    expect(checks.find(({ name }) => name === 'mcp')?.found).toMatch(/^0 of 1 servers start; pl:pg: /);
  });

  test('a command with a mistake that is in use is not called unused', async () => {
    const { here, plugin } = pluginPlace();
    const { unusedExtensions, flawedExtensions } = await readSettingsInDetail(here);
    expect(unusedExtensions).toEqual([]);
    expect(flawedExtensions).toMatchObject([
      {
        source: expect.stringContaining(join(plugin, 'commands/go.md')),
        why: expect.stringContaining('YAML'),
      },
    ]);
    const found = (await checkHealth(here)).find(({ name }) => name === 'extensions')?.found;
    expect(found).toContain('in use, with a mistake: ');
    expect(found).not.toContain('not in use');
  });

  test('fields that mean something elsewhere and nothing here are named, each once', async () => {
    const { here } = pluginPlace();
    const written = '---\nname: NAME\ndescription: d\npaths: src/**\n---\nDo it.\n';
    writeFiles(here.cwd, {
      'pl/skills/a/SKILL.md': written.replace('NAME', 'a'),
      'pl/skills/b/SKILL.md': written.replace('NAME', 'b'),
      'pl/agents/bb.md': definition('bb', 'observer: [a]\n'),
    });
    const { inactiveFields } = await readSettingsInDetail(here);
    expect(inactiveFields).toEqual([
      {
        what: 'paths',
        source: expect.stringMatching(/SKILL\.md:4 and 1 more$/),
        why: 'without effect in Ramet',
      },
      { what: 'observer', source: expect.stringMatching(/bb\.md:\d+$/), why: 'without effect in Ramet' },
    ]);
    const found = (await checkHealth(here)).find(({ name }) => name === 'extensions')?.found;
    expect(found).toMatch(/without effect: paths \(\S+ and 1 more\) \(and 1 more: see ramet settings\)/);
  });
});

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Cast,
  call,
  eventsOf,
  type FamilySession,
  lastTexts,
  startAgents,
  startFamily,
} from '../../../test/fixtures/family.ts';
import { LINE_SERVER } from '../../../test/fixtures/mcp/servers.ts';

const REPORT = { text: 'Scope: child. Done.' };

function line(option = ''): { command: string; args: string[] } {
  return { command: process.execPath, args: [LINE_SERVER, 'good', option] };
}

function mcp(tool: string): ReturnType<typeof call> {
  return call('McpCall', { tool, arguments: { text: 'x' } });
}

function definition(name: string, fields: string): string {
  return `---\nname: ${name}\ndescription: d\n${fields}\n---\nYou.\n`;
}

const SERVERS = {
  permissions: { allow: ['mcp__own', 'mcp__a', 'mcp__b', 'mcp__later'] },
  mcpServers: { a: line('a'), b: line('b') },
};

/** What an agent does once it is resumed: it tries everything. */
const TRIES = ['mcp__a__echo', 'mcp__a__add', 'mcp__b__echo', 'mcp__own__echo', 'mcp__later__echo'];

/** The agent has ended; another process sends it a message. */
async function toldAgain(
  family: FamilySession,
  change: () => void,
  { task = 'child', more = {} }: { task?: string; more?: Parameters<FamilySession['reopen']>[1] } = {},
): Promise<{ again: FamilySession; texts: string[]; answer: string }> {
  const told: Cast = {
    [task]: [
      REPORT,
      ...TRIES.map(mcp),
      call('Bash', { command: 'echo ran > ran.txt' }),
      call('Write', { file_path: 'written.txt', content: 'w' }),
      REPORT,
    ],
    'Again.': [call('SendMessage', { to: 'worker', message: 'Try.' }), { text: 'Sent.' }],
    '<task-notification>': [{ text: 'Heard.' }],
  };
  change();
  const again = await family.reopen(told, more);
  await again.run('Again.');
  const answer = lastTexts(again.requestsOf('Again.')[1])[0] ?? '';
  const texts = again
    .requestsOf(task)
    .slice(2)
    .map((record) => lastTexts(record)[0] ?? '');
  return { again, texts, answer };
}

async function withType(
  fields: string,
  { also = {}, task = 'child' }: { also?: Record<string, string>; task?: string } = {},
): Promise<FamilySession> {
  const family = await startFamily({
    ...SERVERS,
    home: { 'agents/narrow.md': definition('narrow', fields), ...also },
    cast: {
      'Go.': [startAgents([task], { subagent_type: 'narrow', name: 'worker' }), { text: 'Done.' }],
      [task]: [REPORT],
    },
  });
  await family.run('Go.');
  return family;
}

describe('RES-3: a resumed agent has the MCP servers that it had', () => {
  test.for([
    ['is gone', null],
    ['asks for more', 'tools: Read, Bash, Write, mcp__a, mcp__b'],
    ['asks for all', 'model: inherit'],
  ] as const)('when its definition %s', async ([, fields]) => {
    const family = await withType('tools: Read, mcp__a__echo');
    const path = join(family.home, 'agents/narrow.md');
    const { texts } = await toldAgain(family, () => {
      if (fields === null) rmSync(path);
      else writeFileSync(path, definition('narrow', fields));
    });
    expect(texts[0]).toBe('echo: x');
    expect(texts[1]).toContain('There is no tool mcp__a__add');
    expect(texts[2]).toContain('The servers are a;');
    expect(texts[3]).toContain('The servers are a;');
    expect(texts[5]).toMatch(/no tool|not (?:available|offered)|Bash/);
  });

  test('without those that it was refused', async () => {
    const family = await withType('disallowedTools: mcp__b, mcp__a__add');
    const { texts } = await toldAgain(family, () => rmSync(join(family.home, 'agents/narrow.md')));
    expect(texts[0]).toBe('echo: x');
    expect(texts[1]).toContain('There is no tool mcp__a__add');
    expect(texts[2]).toContain('The servers are a;');
  });

  test('and none that was set up later', async () => {
    const family = await withType('disallowedTools: mcp__b');
    const { texts } = await toldAgain(family, () => {}, {
      more: { mcpServers: { ...SERVERS.mcpServers, later: line('later') } },
    });
    expect(texts[0]).toBe('echo: x');
    expect(texts[4]).toContain('The servers are a;');
  });

  test('its own server only as it was, with a notice when it is not', async () => {
    const inline = (option: string): string =>
      `tools: Read\nmcpServers:\n  - ${JSON.stringify({ own: line(option) })}`;
    const same = await withType(inline('one'));
    expect((await toldAgain(same, () => {})).texts[3]).toBe('echo: x');
    const other = await withType(inline('one'));
    const path = join(other.home, 'agents/narrow.md');
    const { again, texts } = await toldAgain(other, () =>
      writeFileSync(path, definition('narrow', inline('two'))),
    );
    expect(texts.filter((text) => text === 'echo: x')).toEqual([]);
    const warned = again.recorded().flatMap(({ event }) => eventsOf([event], 'warning.raised'));
    expect(warned.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/resumes without the MCP server own/),
    );
  });

  test('when it was cut off, and its parent waits for it', async () => {
    const family = await startFamily({
      ...SERVERS,
      home: { 'agents/narrow.md': definition('narrow', 'tools: Read, mcp__a__echo') },
      cast: {
        'Go.': [startAgents(['child'], { subagent_type: 'narrow' }), { text: 'Done.' }],
        child: [call('Read', { file_path: 'README.md' }), () => new Promise(() => {})],
      },
    });
    const stop = new AbortController();
    const run = family.run('Go.', { signal: stop.signal });
    await expect.poll(() => family.requestsOf('child').length, { timeout: 10_000 }).toBe(2);
    stop.abort('SIGINT');
    await run;
    rmSync(join(family.home, 'agents/narrow.md'));
    const again = await family.reopen({
      'Go.': [startAgents(['child']), { text: 'Done.' }],
      child: [REPORT, mcp('mcp__b__echo'), mcp('mcp__a__echo'), REPORT],
    });
    await again.run(null);
    const texts = again
      .requestsOf('child')
      .slice(-2)
      .map((record) => lastTexts(record)[0]);
    expect(texts[0]).toContain('The servers are a;');
    expect(texts[1]).toBe('echo: x');
  });
});

describe('RES-3: what holds an agent back still does after a resume', () => {
  const DENIES = 'hooks: {"PreToolUse":[{"hooks":[{"type":"command","command":"echo no >&2; exit 2"}]}]}';

  test('one whose type has lost its hooks, or has others, is not resumed', async () => {
    for (const fields of [null, 'model: inherit', 'hooks: {"PreToolUse":[]}']) {
      const family = await withType(DENIES);
      const path = join(family.home, 'agents/narrow.md');
      const { answer, texts } = await toldAgain(family, () => {
        if (fields === null) rmSync(path);
        else writeFileSync(path, definition('narrow', fields));
      });
      expect(answer).toMatch(/^worker cannot be resumed: .*hooks/);
      expect(texts).toEqual([]);
    }
  });

  test('with the same hooks it is, and they refuse', async () => {
    const family = await withType(DENIES);
    const { texts } = await toldAgain(family, () => {});
    expect(texts[0]).toContain('no');
    expect(texts).toHaveLength(7);
    expect(texts.filter((text) => text.startsWith('echo: '))).toEqual([]);
  });

  test('limits and modes of the agents above it hold, also when another agent resumes it', async () => {
    const family = await startFamily({
      permissionMode: 'bypassPermissions',
      home: { 'agents/upper.md': definition('upper', 'tools: Agent, Read, Write, Bash(git log:*)') },
      cast: {
        'Go.': [startAgents(['upper'], { subagent_type: 'upper' }), { text: 'Done.' }],
        upper: [startAgents(['lower'], { subagent_type: 'general-purpose', name: 'worker' }), REPORT],
        lower: [REPORT],
      },
    });
    await family.run('Go.');
    const { texts } = await toldAgain(family, () => {}, { task: 'lower' });
    expect(texts[5]).toContain('agents of this type may use only Bash(git log:*)');
  });

  test('an agent below one in plan mode stays in plan mode', async () => {
    const family = await startFamily({
      permissionMode: 'bypassPermissions',
      home: { 'agents/upper.md': definition('upper', 'permissionMode: plan') },
      cast: {
        'Go.': [startAgents(['upper'], { subagent_type: 'upper' }), { text: 'Done.' }],
        upper: [startAgents(['lower'], { subagent_type: 'general-purpose', name: 'worker' }), REPORT],
        lower: [REPORT],
      },
    });
    await family.run('Go.');
    const { texts } = await toldAgain(family, () => {}, { task: 'lower' });
    expect(texts[6]).toMatch(/plan/);
  });

  test('what a program refuses to a fork it refuses to the agents of that fork', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [{ text: 'Ready.' }],
        fork: [startAgents(['lower'], { subagent_type: 'general-purpose' }), REPORT],
        lower: [call('Bash', { command: 'echo ran' }), REPORT],
      },
    });
    await family.run('Go.');
    const fork = await family.session.fork('fork', {
      canUseTool: ({ tool }) =>
        tool === 'Bash' ? { allowed: false, reason: 'no shell' } : { allowed: true },
    });
    await fork.result;
    expect(lastTexts(family.requestsOf('lower')[1])[0]).toContain('no shell');
  });
});

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { readHooks } from '../../extensions/hooks/hook-config.ts';
import { checkServer } from '../../extensions/mcp/server-config.ts';
import { changeTrust, trustOf } from '../calls/trust.ts';
import { findPlace } from '../place.ts';
import { openStore } from './agent-types.ts';

const FILES = { 'srv/s.js': '1;\n', 'hooks/h.sh': 'exit 0\n', 'src/a.ts': 'export {};\n' };

interface Project {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

function project(agentFile: string, name = 'own.md'): Project {
  const base = temporaryDirectory();
  const root = join(base, 'work');
  writeFiles(root, { ...FILES, '.git/HEAD': '', [`.claude/agents/${name}`]: agentFile });
  const env = { RAMET_HOME: join(base, 'home'), HOME: join(base, 'user') };
  changeTrust('trust', { cwd: root, env });
  return { root, env };
}

/** What a session would run for agents of that type, read as the session reads it. */
function runsOf({ mcpServers = [], hooks }: AgentDefinition, root: string): string[][] {
  const servers = mcpServers.flatMap((one) => (typeof one === 'string' ? [] : Object.values(one)));
  return [
    ...servers.flatMap((one) => {
      const checked = checkServer(one, { env: {}, isForeign: true, folder: root });
      if (!checked.ok || checked.config.type !== 'stdio') return [];
      return [[checked.config.command, ...checked.config.args]];
    }),
    ...readHooks(hooks, { label: 'x' }).hooks.flatMap((hook) =>
      hook.kind === 'command' ? [[hook.command, ...(hook.args ?? [])]] : [],
    ),
  ];
}

async function seen({ root, env }: Project): Promise<{
  definition: AgentDefinition | undefined;
  covered: { files: string[]; unfollowed: string[] }[];
  /** Why what its agents would run must not run. */
  refused: (string | null)[];
}> {
  using store = await openStore(findPlace({ cwd: root, env }), env);
  await store.refresh();
  const definition = store.catalog.definitions.find(({ name }) => name === 'own');
  const runs = definition === undefined ? [] : runsOf(definition, root);
  return {
    definition,
    covered: trustOf({ cwd: root, env })
      .parts.filter(({ kind }) => kind === 'agent')
      .map(({ files, unfollowed }) => ({ files, unfollowed })),
    refused: runs.map((texts) => definition?.check?.(texts, root) ?? null),
  };
}

const HEAD = 'name: own\ndescription: Looks.\n';
const front = (fields: string, head = HEAD): string => `---\n${head}${fields}\n---\nLook at it.\n`;
const SERVER = 'srv/s.js';
const HOOK = 'hooks/h.sh';
const hooks = (command: string): string =>
  `hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n${command}`;

const FORMS: readonly (readonly [form: string, fields: string, file: string])[] = [
  [
    'a block, as most write it',
    'mcpServers:\n  - own:\n      command: node\n      args:\n        - srv/s.js\n        - --port',
    SERVER,
  ],
  ['a block of one object', 'mcpServers:\n  own:\n    command: node\n    args: [srv/s.js]', SERVER],
  ['arguments first', 'mcpServers:\n  - own:\n      args: [srv/s.js]\n      command: node', SERVER],
  [
    'an environment beside it',
    'mcpServers:\n  - own:\n      type: stdio\n      command: node\n      env: {LEVEL: "2"}\n      args: [srv/s.js]',
    SERVER,
  ],
  ['flow style', 'mcpServers: [{own: {command: node, args: [srv/s.js]}}]', SERVER],
  ['JSON', 'mcpServers: [{"own": {"command": "node", "args": ["srv/s.js"]}}]', SERVER],
  [
    'quotes',
    `"mcpServers":\n  - 'own':\n      "command": 'node'\n      'args': ["srv/s.js", 'it''s']`,
    SERVER,
  ],
  [
    'escapes that JSON does not have',
    'mcpServers:\n  - own:\n      command: node\n      args: ["srv\\x2fs.js"]',
    SERVER,
  ],
  [
    'arguments on several lines',
    'mcpServers:\n  - own:\n      command: node\n      args: [\n        "srv/s.js",\n        --all,\n      ]',
    SERVER,
  ],
  [
    'a literal text',
    'mcpServers:\n  - own:\n      command: node\n      args:\n        - |-\n          srv/s.js',
    SERVER,
  ],
  [
    'a folded text',
    'mcpServers:\n  - own:\n      command: >-\n        node\n      args:\n        - >-\n          srv/s.js',
    SERVER,
  ],
  [
    'an anchor within the field',
    'mcpServers:\n  - own: {command: &run node, args: &with [srv/s.js]}\n  - two: {command: *run, args: *with}',
    SERVER,
  ],
  [
    'an anchor of another field',
    'initialPrompt: &script srv/s.js\nmcpServers:\n  - own: {command: node, args: [*script]}',
    SERVER,
  ],
  [
    'a comment and a document end',
    'mcpServers: # own\n  - own: # one\n      command: node # runs\n      args: [srv/s.js] # it',
    SERVER,
  ],
  ['hooks in a block', hooks('          command: sh hooks/h.sh'), HOOK],
  ['hooks in quotes', hooks('          command: "sh hooks/h.sh"'), HOOK],
  ['hooks with escapes', hooks('          command: "sh \\u0068ooks/h.sh"'), HOOK],
  [
    'hooks with a literal text',
    hooks('          command: |\n            true\n            sh hooks/h.sh'),
    HOOK,
  ],
  ['hooks with a folded text', hooks('          command: >-\n            sh\n            hooks/h.sh'), HOOK],
  ['hooks with arguments', hooks('          command: sh\n          args:\n            - hooks/h.sh'), HOOK],
  ['hooks in flow style', 'hooks: {PreToolUse: [{hooks: [{type: command, command: sh hooks/h.sh}]}]}', HOOK],
  [
    'hooks with an anchor',
    `${hooks('          command: &c sh hooks/h.sh')}\n  PostToolUse:\n    - hooks: [{type: command, command: *c}]`,
    HOOK,
  ],
];

const OTHERS: readonly (readonly [form: string, file: string, name?: string])[] = [
  [
    'a description that no parser of YAML takes',
    front(
      'mcpServers:\n  - own:\n      command: node\n      args:\n        - srv/s.js',
      'name: own\ndescription: Use when: now. <example>user: "Why?" #1</example>\n',
    ),
  ],
  ['tabs in place of spaces', front('mcpServers:\n\town:\n\t\tcommand: node\n\t\targs:\n\t\t\t- srv/s.js')],
  [
    'line ends and a mark of another system',
    `\ufeff${front('mcpServers:\n  - own:\n      command: node\n      args:\n        - srv/s.js').replaceAll('\n', '\r\n')}`,
  ],
  [
    'a file of YAML',
    `${HEAD}prompt: |\n  hooks:\n    command: node\nmcpServers:\n  own:\n    command: node\n    args:\n      - srv/s.js\n`,
    'own.yaml',
  ],
];

describe('SEC-1: of an agent file count the files that its hooks and servers run', () => {
  const rows = [
    ...FORMS.map(([form, fields, file]) => [form, front(fields), file, undefined] as const),
    ...OTHERS.map(([form, text, name]) => [form, text, SERVER, name] as const),
  ];

  test.for(rows)('%s', async ([_form, text, file, name]) => {
    const work = project(text, name);
    const first = await seen(work);
    expect(first.covered).toEqual([{ files: [file], unfollowed: [] }]);
    expect(first.refused.length).toBeGreaterThan(0);
    expect(first.refused.every((why) => why === null)).toBe(true);
    writeFiles(work.root, { 'src/a.ts': 'export const edited = 1;\n', 'src/new.ts': '' });
    expect((await seen(work)).refused).toEqual(first.refused);
    writeFiles(work.root, { [file]: 'changed\n' });
    const { definition } = await seen(work);
    expect(definition).toBeUndefined();
  });

  test.for(rows)('%s: a session that has begun runs no changed one', async ([_form, text, file, name]) => {
    const work = project(text, name);
    using store = await openStore(findPlace({ cwd: work.root, env: work.env }), work.env);
    await store.refresh();
    const definition = store.catalog.definitions.find((one) => one.name === 'own');
    const runs = definition === undefined ? [] : runsOf(definition, work.root);
    expect(runs).not.toHaveLength(0);
    writeFiles(work.root, { [file]: 'changed\n' });
    for (const texts of runs)
      expect(definition?.check?.(texts, work.root)).toContain(`${file} is not what you trusted`);
  });

  test('words of its prompt and of other fields run nothing', async () => {
    const fields =
      'color: blue\ninitialPrompt: |\n  hooks:\n    command: node\n  mcpServers:\n    command: node';
    const work = project(
      `${front(fields)}\nhooks:\n  command: node\nmcpServers:\n  - command: sh srv/s.js\n`,
    );
    expect(await seen(work)).toMatchObject({
      definition: { name: 'own' },
      covered: [{ files: [], unfollowed: [] }],
    });
  });

  test('a file that cannot be read is covered by the words in it', async () => {
    const work = project(
      '---\nname: own\nhooks:\n  - "x\n    command: sh hooks/h.sh\nmcpServers: srv/s.js\n',
    );
    const { covered, definition } = await seen(work);
    expect(definition).toBeUndefined();
    expect(covered[0]?.files).toEqual([HOOK, SERVER]);
  });
});

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../test/fixtures/temporary.ts';
import type { SettingValue } from './setting-value.ts';
import { settingsSchema } from './settings-schema.ts';
import { COMMAND_SETTINGS, withholdChanged, withholdUntrusted } from './untrusted-values.ts';

/** Settings that hold texts, and none of them runs. */
const PLAIN_TEXTS: readonly string[] = [
  ...['$schema', 'model', 'fallbackModel', 'effort', 'provider', 'models.*', 'launch', 'cleanupPeriodDays'],
  ...['permissions.allow', 'permissions.ask', 'permissions.deny', 'permissions.defaultMode'],
  ...[
    'agents.executor',
    'limits.countAsHeavy',
    'sandbox.readOnly',
    'sandbox.worktree',
    'sandbox.sockets',
    'env.childVariables',
  ],
  ...[
    'worktree.directory',
    'worktree.base',
    'worktree.copy',
    'worktree.default',
    'worktree.dirty',
    'worktree.symlinkDirectories',
  ],
  ...['worktree.sparsePaths', 'worktree.dependencies', 'worktree.precious'],
  ...['operate.review', 'operate.models.*', 'policy.*', 'policy.models'],
];

interface Shaped {
  readonly _zod: {
    readonly def: {
      readonly type: string;
      readonly shape?: Record<string, Shaped>;
      readonly innerType?: Shaped;
      readonly element?: Shaped;
      readonly valueType?: Shaped;
      readonly options?: readonly Shaped[];
    };
  };
}

/** Paths of everything in a schema that can hold a text. */
function textsIn({ _zod: { def } }: Shaped, path: string): string[] {
  const inside = (one: Shaped | undefined, key?: string): string[] =>
    one === undefined ? [] : textsIn(one, key === undefined ? path : path === '' ? key : `${path}.${key}`);
  if (def.shape !== undefined) return Object.entries(def.shape).flatMap(([key, one]) => inside(one, key));
  if (def.options !== undefined) return def.options.flatMap((one) => inside(one));
  const inner = [...inside(def.innerType), ...inside(def.element), ...inside(def.valueType)];
  if (inner.length > 0) return inner;
  return ['number', 'boolean', 'int', 'undefined', 'null'].includes(def.type) ||
    def.innerType !== undefined ||
    def.valueType !== undefined
    ? []
    : [path];
}

describe('SEC-1: settings that hold a command', () => {
  test('are listed: a new setting with a text is either among them or runs nothing', () => {
    // What a schema is made of is part of no type.
    const found = new Set(textsIn(settingsSchema as unknown as Shaped, ''));
    const isCommand = (path: string): boolean =>
      Object.keys(COMMAND_SETTINGS).some((key) => path === key || path.startsWith(`${key}.`));
    const isPlain = (path: string): boolean =>
      PLAIN_TEXTS.some((key) => path === key || (key.endsWith('.*') && path.startsWith(key.slice(0, -1))));
    expect([...found].filter((path) => !isCommand(path) && !isPlain(path))).toEqual([]);
    for (const key of Object.keys(COMMAND_SETTINGS))
      expect(
        [...found].some((path) => path === key || path.startsWith(`${key}.`)),
        key,
      ).toBe(true);
  });

  test.for(Object.entries(COMMAND_SETTINGS))(
    '%s is withheld before trust, and once changed',
    ([key, how]) => {
      const value: SettingValue = {
        ...{ level: 'repository', source: 'x', line: 1, value: 'true', isEntry: false, unused: null },
        path: key.split('.'),
      } as const;
      expect(withholdUntrusted([value], {})[0]?.unused).not.toBeNull();
      expect(withholdChanged([value], {})[0]?.unused === null).toBe(how === 'alone');
    },
  );

  test.for(Object.keys(COMMAND_SETTINGS))('%s is in what trust keeps', async (key) => {
    const { collectParts } = await import('../extensions/trust/collect-parts.ts');
    const { describePart } = await import('../extensions/trust/folder-part.ts');
    const root = temporaryDirectory();
    const digests = (command: string): string[] => {
      const [name = '', inner] = key.split('.');
      const own = SHAPES[name]?.(command) ?? command;
      const content = { [name]: inner === undefined ? own : { [inner]: command } };
      writeFiles(root, { '.ramet/settings.json': JSON.stringify(content), 'plug/a.md': command });
      const place = { cwd: root, root, home: join(root, 'home'), userHome: null, folders: [root] };
      return collectParts(place, () => null).map((part) => describePart(part, root).digest);
    };
    expect(digests('echo one')).not.toEqual([]);
    expect(digests('echo one')).not.toEqual(digests('echo two'));
  });
});

const SHAPES: Readonly<Record<string, (command: string) => unknown>> = {
  hooks: (command) => ({ Stop: [{ hooks: [{ type: 'command', command }] }] }),
  mcpServers: (command) => ({ one: { command } }),
  statusLine: (command) => ({ command }),
  plugins: () => ['plug'],
};

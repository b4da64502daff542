import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import { checkTrust } from '../doctor/place-checks.ts';
import { listAgentTypes, listServers } from '../library-setup.ts';
import { findPlace } from '../place.ts';
import { sessionSettings } from '../session/setup/session-settings.ts';
import { callerOf } from './caller.ts';
import { changeTrust, type ReviewedPart, trustOf } from './trust.ts';

const MORE = 'is run too: this version of Ramet follows more files';
const NOW = 'is run now and was not when you trusted it';

interface Trusted {
  readonly root: string;
  readonly call: { cwd: string; env: Record<string, string> };
  part(): ReviewedPart;
  /** The entry as one that follows fewer files had written it; `null`: before entries said which one it was. */
  asTrustedBy(version: string | null, ...unknown: string[]): void;
  trust(): void;
}

interface WrittenPart {
  by?: string;
  digest?: string;
  files?: Record<string, unknown>;
}
type Parts = Record<string, WrittenPart>;
/** An entry with its parts, or the texts of them. */
type Written = Parts & { parts?: Parts };

const mapValues = (all: Parts, change: (part: WrittenPart) => WrittenPart): Parts =>
  Object.fromEntries(Object.entries(all).map(([key, part]) => [key, change(part)]));

const HOOKS = JSON.stringify({
  hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'bash .claude/hooks/m.sh' }] }] },
});

function trusted(files: Record<string, string> = {}): Trusted {
  const root = temporaryRepository({
    '.claude/settings.json': HOOKS,
    '.claude/hooks/m.sh': '. lib/x.sh\n',
    'lib/x.sh': 'echo one\necho two\n',
    ...files,
  });
  const base = temporaryDirectory();
  const home = join(base, 'ramet');
  const call = { cwd: root, env: { PATH: process.env.PATH ?? '', HOME: base, RAMET_HOME: home } };
  changeTrust('trust', call);
  const folder = join(home, 'trusted');
  const edit = (name: string, change: (value: Written) => Written): void => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')))));
  };
  return {
    ...{ root, call },
    part() {
      const found = trustOf(call).parts.find(({ kind }) => kind === 'hooks');
      if (found === undefined) throw new Error('no hooks');
      return found;
    },
    asTrustedBy(version, ...unknown) {
      const said = version === null ? {} : { by: version };
      const change = (all: Parts, isEntry: boolean): Parts =>
        mapValues(all, ({ by: _, files = {}, ...part }) => {
          const kept = Object.entries(files).filter(([path]) => !unknown.includes(path));
          const isLess = kept.length < Object.keys(files).length || unknown.length === 0;
          return {
            ...{ ...part, files: Object.fromEntries(kept) },
            ...(isEntry && { ...said, ...(isLess && { digest: 'of other files' }) }),
          };
        });
      for (const name of readdirSync(folder))
        edit(name, ({ parts, ...value }) =>
          parts === undefined ? change(value, false) : { ...value, parts: change(parts, true) },
        );
    },
    trust: () => void changeTrust('trust', call),
  };
}

function doctor({ call }: Trusted): string {
  const caller = callerOf(call);
  return checkTrust({ caller, place: findPlace(caller) }).found;
}

describe('SEC-1: a file that a newer version of Ramet follows', () => {
  test.for([
    ['an entry that does not say its version', null],
    ['another version', '0.0.1'],
  ] as const)('is shown as such, with its whole text: %s', ([_, version]) => {
    const folder = trusted();
    folder.asTrustedBy(version, 'lib/x.sh');
    expect(folder.part()).toMatchObject({
      state: 'changed',
      followsMore: true,
      difference: [`lib/x.sh ${MORE}:`, '+ echo one', '+ echo two'],
    });
    expect(doctor(folder)).toContain(
      'hooks of .claude/settings.json (files that were not followed when you trusted it)',
    );
    folder.trust();
    expect(folder.part()).toMatchObject({ state: 'trusted', followsMore: false, difference: [] });
  });
});

test('SEC-1: what runs such a file does not run, and a line says why: commands, agent files and servers', async () => {
  const folder = trusted({
    '.ramet/settings.json': JSON.stringify({ worktree: { setup: 'sh .claude/hooks/m.sh' } }),
    '.claude/agents/a.md':
      '---\nname: a\ndescription: d\nhooks:\n  Stop:\n    - hooks: [{ type: command, command: sh .claude/hooks/m.sh }]\n---\nText\n',
    '.mcp.json': JSON.stringify({ mcpServers: { s: { command: 'sh', args: ['.claude/hooks/m.sh'] } } }),
  });
  folder.asTrustedBy(null, 'lib/x.sh');
  const { followed, ...other } = Object.groupBy(trustOf(folder.call).parts, ({ followsMore }) =>
    followsMore ? 'followed' : 'other',
  );
  expect(followed?.map(({ kind }) => kind).sort()).toEqual(['agent', 'hooks', 'mcp', 'setup']);
  expect(other.other?.every(({ state }) => state === 'trusted') ?? true).toBe(true);
  expect((await sessionSettings(folder.call)).notices).toContain(
    '.ramet/settings.json: its setup command runs files that were not followed when you trusted it, and does not run (ramet trust --show shows them)',
  );
  const agents = await listAgentTypes(folder.call);
  expect(JSON.stringify(agents)).toContain(
    'it runs files that were not followed when you trusted it: ramet trust --show shows them',
  );
  const servers = await listServers(folder.call);
  expect(JSON.stringify(servers)).toContain(
    'runs files that were not followed when you trusted it: ramet trust --show shows them',
  );
});

describe('SEC-1: a file that a trusted part runs and did not run when it was trusted', () => {
  test('is shown with its whole text where this version gave the trust', () => {
    const folder = trusted({ 'lib/y.sh': 'echo y\n' });
    writeFiles(folder.root, { '.claude/hooks/m.sh': '. lib/x.sh\n. lib/y.sh\n' });
    expect(folder.part()).toMatchObject({
      state: 'changed',
      followsMore: false,
      difference: ['.claude/hooks/m.sh:', '  . lib/x.sh', '+ . lib/y.sh', `lib/y.sh ${NOW}:`, '+ echo y'],
    });
    expect(doctor(folder)).toMatch(/not as it is now: hooks of \.claude\/settings\.json$/);
  });

  test('is not put down to the version where a file that was trusted has changed as well, or is gone', () => {
    const folder = trusted();
    folder.asTrustedBy(null, 'lib/x.sh');
    writeFiles(folder.root, { '.claude/hooks/m.sh': '. lib/x.sh # edited\n' });
    expect(folder.part()).toMatchObject({ followsMore: false });
    expect(folder.part().difference).toContain(`lib/x.sh ${NOW}:`);
    const other = trusted({ 'lib/y.sh': 'echo y\n', '.claude/hooks/m.sh': '. lib/x.sh\n. lib/y.sh\n' });
    other.asTrustedBy(null, 'lib/x.sh');
    rmSync(join(other.root, 'lib/y.sh'));
    expect(other.part()).toMatchObject({
      followsMore: false,
      difference: ['- lib/y.sh is gone', `lib/x.sh ${NOW}:`, '+ echo one', '+ echo two'],
    });
  });

  test('is named with the reason where its text is not shown', () => {
    const folder = trusted();
    const of = (text: string): readonly string[] => {
      writeFiles(folder.root, { 'lib/x.sh': text });
      folder.trust();
      folder.asTrustedBy(null, 'lib/x.sh');
      return folder.part().difference;
    };
    expect(of('')).toEqual([`lib/x.sh ${MORE} (it is empty)`]);
    expect(of('true\n\0')).toEqual([`lib/x.sh ${MORE} (not shown: it is no text)`]);
    expect(of(`#${'x'.repeat(40_000)}\n`)).toEqual([`lib/x.sh ${MORE} (not shown: it has more than 32 KiB)`]);
  });
});

describe('SEC-1: a file that has changed', () => {
  test('is shown whole where what was trusted was no text, and named where it is none now', () => {
    const folder = trusted({ 'lib/x.sh': 'true\n\0' });
    writeFiles(folder.root, { 'lib/x.sh': 'echo text\n' });
    expect(folder.part().difference).toEqual([
      'lib/x.sh has changed, and what it was is not kept. It is now:',
      '+ echo text',
    ]);
    folder.trust();
    writeFiles(folder.root, { 'lib/x.sh': 'echo\0\n' });
    expect(folder.part().difference).toEqual(['lib/x.sh has changed (not shown: it is no text)']);
  });

  test('and is not run any more, or is gone, is named as that', () => {
    const folder = trusted({ 'lib/y.sh': 'echo y\n', '.claude/hooks/m.sh': '. lib/x.sh\n. lib/y.sh\n' });
    writeFiles(folder.root, { '.claude/hooks/m.sh': '. lib/x.sh\n' });
    expect(folder.part().difference.at(-1)).toBe('- lib/y.sh does not count any more');
    rmSync(join(folder.root, 'lib/y.sh'));
    expect(folder.part().difference.at(-1)).toBe('- lib/y.sh is gone');
  });
});

test('SEC-1: a part that differs in what cannot be followed alone says so', () => {
  const folder = trusted();
  folder.asTrustedBy(null);
  expect(folder.part()).toMatchObject({
    state: 'changed',
    followsMore: false,
    difference: ['this version of Ramet reads its commands in another way: look at what is not followed'],
  });
});

test('SEC-1: a new file in the folder of a skill is not put down to the version', () => {
  const folder = trusted({ '.claude/skills/s/SKILL.md': '---\nname: s\ndescription: d\n---\nText\n' });
  const skill = (): ReviewedPart | undefined =>
    trustOf(folder.call).parts.find(({ kind }) => kind === 'skill');
  folder.asTrustedBy(null);
  writeFiles(folder.root, { '.claude/skills/s/x.sh': 'echo x\n' });
  expect(skill()).toMatchObject({
    state: 'changed',
    followsMore: false,
    difference: ['.claude/skills/s/x.sh is new:', '+ echo x'],
  });
});

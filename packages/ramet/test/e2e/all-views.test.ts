/**
 * Every command, from the grammar: its help, and what it prints if it is a view. A new command has to be entered below, as a
 * view with arguments to try it with, or as one that does something.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, test as plain } from 'vitest';
import { COMMAND_GROUPS } from '../../src/cli/program.ts';
import type { Answer } from '../../src/emulator/answer.ts';
import { runHere } from '../fixtures/command-here.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { test, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

/** By its words: what to try it with. Answers of one line need no colour. */
const VIEWS: Readonly<Record<string, { args?: readonly string[]; isLine?: true }>> = {
  ps: {},
  show: {},
  logs: {},
  cost: {},
  'sessions ls': {},
  agents: {},
  'agents validate': { isLine: true },
  'agents show': { args: ['Explore'] },
  'cache explain': { args: ['.1'] },
  plan: { args: ['more.md'] },
  stats: {},
  'operate status': {},
  undo: { args: ['--dry-run'], isLine: true },
  merge: { args: ['--preview', 'ramet/kept'], isLine: true },
  diff: {},
  blame: { args: ['notes.txt'] },
  'worktree ls': {},
  'worktree show': { args: ['kept'] },
  'worktree diff': { args: ['kept'] },
  'worktree gc': { args: ['--dry-run'] },
  gc: { args: ['--dry-run', '--older-than', '0'] },
  trust: { args: ['--show'], isLine: true },
  settings: {},
  doctor: {},
  'mcp ls': { isLine: true },
  'memory show': { isLine: true },
  'team ls': {},
  'team show': {},
  'team tasks': { isLine: true },
  'memory token ls': { isLine: true },
};

const ACTIONS = [
  ...['resume', 'stop', 'sessions rename', 'sessions rm', 'sessions export', 'operate', 'operate add'],
  ...['operate ask', 'operate pause', 'operate resume', 'operate skip', 'operate retry', 'operate start'],
  ...['operate approve', 'operate answer', 'worktree rm', 'worktree open', 'worktree commit', 'emulate'],
  ...['demo', 'completion', 'complete', 'watch'],
  ...['memory edit', 'memory why', 'memory undo', 'memory dream'],
  ...['team create', 'team attach', 'team send', 'team approve', 'team reject', 'team stop', 'team resume'],
  ...['memory sync', 'memory serve', 'memory token new', 'memory token revoke'],
  ...['mcp add', 'mcp login', 'mcp rm', 'mcp serve', 'mcp test'],
];

/** With the words that lead to it; groups that do nothing themselves are left out. */
async function everyCommand(): Promise<Map<string, Command>> {
  const program = new Command('ramet');
  const io = { env: {}, out: () => {} };
  // Only the grammar is read: nothing is carried out.
  for (const { add } of COMMAND_GROUPS)
    (await add())(program, io as unknown as Parameters<Awaited<ReturnType<typeof add>>>[1], () => {});
  const found = new Map<string, Command>();
  const visit = (command: Command, words: readonly string[]): void => {
    const own = command.options.length > 0 || command.registeredArguments.length > 0;
    if (words.length > 0 && (own || command.commands.length === 0)) found.set(words.join(' '), command);
    for (const below of command.commands) visit(below, [...words, below.name()]);
  };
  visit(program, []);
  return found;
}

/** Names that are ours and not in snake case. Contents of messages have names of others. */
function camelNames(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(camelNames);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    ['messages', 'settings', 'input'].includes(key)
      ? []
      : [...(/[a-z][A-Z]/.test(key) ? [key] : []), ...camelNames(part)],
  );
}

const ESCAPE = '\u001b[';
const UTC = /\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z|\bUTC\b/;

function answer({ isFork, turn, opening }: { isFork: boolean; turn: number; opening: string }): Answer {
  const file = (name: string): Answer => ({
    tool_use: [{ name: 'Write', input: { file_path: name, content: 'one\n' } }],
  });
  if (turn > 1 || (turn > 0 && (isFork || opening.includes('Task T001')))) return { text: 'Done.' };
  if (isFork) return file('kept.txt');
  if (opening.includes('Task T001')) return file('task.txt');
  if (turn === 0) return file('notes.txt');
  const input = { description: 'keep', prompt: 'Write kept.txt.', name: 'kept', isolation: 'worktree' };
  return { tool_use: [{ name: 'Agent', input }] };
}

/** A session with an agent whose worktree has changes, and before it a run of one task. */
async function prepare(user: User): Promise<void> {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
  writeFileSync(join(user.repository, 'tasks.md'), '- [ ] T001 Write task.txt\n');
  writeFileSync(join(user.repository, 'more.md'), '- [ ] T002 Write more\n- [ ] T003 Write most\n');
  git(user.repository, 'add', '--all');
  git(user.repository, 'commit', '--quiet', '--message=tasks');
  git(user.repository, 'switch', '--quiet', '--create', 'desk');
  await user.emulate({ respond: answer });
  const merging = { env: IDENTITY };
  const run = await user.ramet(['operate', 'tasks.md', '--into', 'main', '--check', 'true'], merging);
  expect(run).toMatchObject({ code: 0 });
  const end = await user.ramet([
    '-p',
    'Write notes.',
    '--permission-mode',
    'bypassPermissions',
    '--team',
    'crew',
  ]);
  expect(end).toMatchObject({ code: 0 });
}

describe('UI-1: every command', () => {
  plain('is a view or does something, and every view prints JSON on request', async () => {
    const commands = await everyCommand();
    expect([...commands.keys()].sort()).toEqual([...Object.keys(VIEWS), ...ACTIONS].sort());
    const without = Object.keys(VIEWS).filter(
      (words) => !commands.get(words)?.options.some(({ long }) => long === '--json'),
    );
    expect(without).toEqual([]);
  });

  test('has a help of its own with examples', async ({ user }) => {
    for (const words of [...Object.keys(VIEWS), ...ACTIONS].filter((one) => one !== 'complete')) {
      const { stdout, code } = await user.here([...words.split(' '), '--help']);
      expect({ words, code }).toEqual({ words, code: 0 });
      expect(stdout, words).toMatch(new RegExp(`\nExamples:\n(?: {2}.*\n)* {2}.*ramet ${words}`));
    }
  });

  test('that is a view has JSON in one spelling, colours for terminals, and local times', async ({
    user,
  }) => {
    await prepare(user);
    const { repository: cwd, env } = user;
    for (const [words, { args = [], isLine }] of Object.entries(VIEWS)) {
      const call = [...words.split(' '), ...args];
      const json = await runHere([...call, '--json'], { cwd, env });
      expect({ words, code: json.code, stderr: json.code === 0 ? '' : json.stderr }).toEqual({
        ...{ words, code: 0, stderr: '' },
      });
      const values = words === 'logs' ? json.stdout.trim().split('\n') : [json.stdout];
      const names = values.map((text) => JSON.parse(text)).flatMap(camelNames);
      expect({ words, names }).toEqual({ words, names: [] });

      const text = await runHere(call, { cwd, env });
      expect(text.stdout, words).not.toContain(ESCAPE);
      expect(text.stdout, words).not.toMatch(UTC);
      const seen = await runHere(call, { cwd, env, isTerminal: true });
      if (isLine !== true) expect(seen.stdout, words).toContain(ESCAPE);
      const plainly = await runHere(call, { cwd, env: { ...env, NO_COLOR: '1' }, isTerminal: true });
      expect(plainly.stdout, words).not.toContain(ESCAPE);
    }
  });
});

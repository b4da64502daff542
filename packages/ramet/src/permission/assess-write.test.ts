import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../test/fixtures/temporary.ts';
import { namesGuarded, standingOfWrite, suggestWriteRule } from './assess-write.ts';

describe('RES-3: acceptEdits asks before a file is written that decides what runs', () => {
  test.each(
    '.git/config .envrc .npmrc sub/.npmrc .yarnrc .yarnrc.yml .YarnRC .cargo/config.toml .idea/workspace.xml .devcontainer/devcontainer.json .vscode/tasks.json .gitmodules .gitattributes .pre-commit-config.yaml .bashrc .husky/pre-commit .mvn/jvm.config .mcp.json .claude.json a.code-workspace .lintstagedrc.js .nvim.lua .exrc .pdbrc .jj/repo/config .terraformrc gradle/wrapper/gradle-wrapper.properties'.split(
      ' ',
    ),
  )('%s', (path) => {
    const cwd = temporaryDirectory();
    const standing = standingOfWrite('acceptEdits', join(cwd, path), cwd);
    expect(standing).toMatchObject({ trusted: false, reason: expect.stringContaining('decides what runs') });
    expect(suggestWriteRule(join(cwd, path), cwd)).toBe(`Edit(/${join(cwd, path)})`);
  });

  test.each('src/a.ts Makefile package.json .gitignore .env.example .github/workflows/ci.yml'.split(' '))(
    'not %s',
    (path) => {
      const cwd = temporaryDirectory();
      expect(standingOfWrite('acceptEdits', join(cwd, path), cwd).trusted).toBe(true);
    },
  );

  test.each(['.git', '.git/hooks', '.claude/agents', '.ramet', '.husky', 'packages/a/.vscode'])(
    'whatever is in %s, also where that is the working directory or one that was added',
    (folder) => {
      const root = temporaryRepository();
      const cwd = join(root, folder);
      mkdirSync(cwd, { recursive: true });
      const refused = { trusted: false, reason: expect.stringContaining('decides what runs') };
      expect(standingOfWrite('acceptEdits', join(cwd, 'a'), cwd)).toEqual(refused);
      const added = { folders: [cwd] };
      expect(standingOfWrite('acceptEdits', join(cwd, 'a'), temporaryDirectory(), added)).toEqual(refused);
      expect(namesGuarded('touch a', cwd)).toBe(true);
      expect(standingOfWrite('acceptEdits', join(root, 'a'), root)).toEqual({ trusted: true });
    },
  );

  test('a bare repository, and a folder of settings that is in no repository; not a repository in such a folder', () => {
    const bare = join(temporaryDirectory(), 'shared');
    execFileSync('git', ['init', '--quiet', '--bare', bare]);
    const hooks = join(bare, 'hooks');
    expect(standingOfWrite('acceptEdits', join(hooks, 'update'), hooks)).toMatchObject({ trusted: false });
    const settings = join(temporaryDirectory(), '.config/editor');
    mkdirSync(settings, { recursive: true });
    expect(standingOfWrite('acceptEdits', join(settings, 'a'), settings)).toMatchObject({ trusted: false });
    execFileSync('git', ['init', '--quiet', settings]);
    expect(standingOfWrite('acceptEdits', join(settings, 'a'), settings)).toEqual({ trusted: true });
  });

  test('a command that names the home directory of Ramet, where that is below its own', () => {
    const cwd = temporaryDirectory();
    const kept = [join(cwd, 'state'), '/etc/ramet'];
    expect(namesGuarded('cp a.json ./state/settings.json', cwd, kept)).toBe(true);
    expect(namesGuarded('touch a', join(cwd, 'state'), kept)).toBe(true);
    expect(namesGuarded('ramet ls stated', cwd, kept)).toBe(false);
  });

  test('the home directory of Ramet, whatever it is called, below the working directory or another one', () => {
    const cwd = temporaryDirectory();
    const [home, other] = [join(cwd, 'state'), temporaryDirectory()];
    const rules = { folders: [other], guarded: [home, join(other, 'managed')] };
    const standing = (path: string, from = cwd): unknown => standingOfWrite('acceptEdits', path, from, rules);
    const refused = { trusted: false, reason: expect.stringContaining('decides what runs') };
    expect(standing(join(home, 'settings.json'))).toEqual(refused);
    expect(standing(join(home, 'plugins/p/hooks/hooks.json'))).toEqual(refused);
    expect(standing(join(other, 'managed/settings.json'))).toEqual(refused);
    expect(standing(home, home)).toEqual(refused);
    expect(standing(join(cwd, 'stated.txt'))).toEqual({ trusted: true });
    // An agent whose worktree is kept there works in it.
    expect(standing(join(home, 'worktrees/w/a.ts'), join(home, 'worktrees/w'))).toEqual({ trusted: true });
  });
});

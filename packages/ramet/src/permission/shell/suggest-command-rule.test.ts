import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { bashTool } from '../../tools/shell/bash.ts';
import type { PermissionDecision } from '../assessment.ts';
import { decide } from '../decide.ts';
import { parseRules, type RuleTexts } from '../policy.ts';

async function judge(command: string, texts: RuleTexts = {}): Promise<PermissionDecision> {
  const cwd = temporaryDirectory();
  const { rules } = parseRules(texts, { base: cwd, home: null, place: 'a test' });
  return decide({ mode: 'default', rules }, bashTool, { input: { command }, cwd });
}

async function suggested(command: string): Promise<readonly string[]> {
  const decision = await judge(command);
  return decision.kind === 'ask' ? decision.question.suggestedRules : ['(not asked)'];
}

describe('RES-3: "always" never offers an interpreter or a launcher wholesale', () => {
  test.each([
    ['gdb -batch -ex run prog', 'Bash(gdb -batch -ex run prog)'],
    ['lua a.lua', 'Bash(lua a.lua)'],
    ['tsx a.ts', 'Bash(tsx a.ts)'],
    ['pwsh a.ps1', 'Bash(pwsh a.ps1)'],
    ['flock lock npm test', 'Bash(flock lock npm test)'],
    ['tmux new -d x', 'Bash(tmux new -d x)'],
    ['script -c x out', 'Bash(script -c x out)'],
    ['strace ls', 'Bash(strace ls)'],
    ['gawk -f prog data', 'Bash(gawk -f prog data)'],
    ['npm exec foo', 'Bash(npm exec foo)'],
    ['git config core.pager x', 'Bash(git config core.pager x)'],
    ['make test', 'Bash(make test)'],
    ['docker run image', 'Bash(docker run image)'],
    ['go run ./x', 'Bash(go run ./x)'],
    ['poetry run python', null],
    ['unheard-of --flag', 'Bash(unheard-of --flag)'],
    ['unheard-of', null],
    ['lua', null],
    ['python3 -', null],
    ['sudo bash', null],
    ['./node_modules/.bin/tsx a.ts', 'Bash(./node_modules/.bin/tsx a.ts)'],
    ['npm test -- x', 'Bash(npm test:*)'],
    ['npm run build', 'Bash(npm run build:*)'],
    ['pytest -k x', 'Bash(pytest:*)'],
    ['./scripts/build.sh x', 'Bash(./scripts/build.sh:*)'],
    ['git commit -m x', 'Bash(git commit:*)'],
    ['git push origin main', 'Bash(git push origin main)'],
    ['npm install left-pad', 'Bash(npm install left-pad)'],
    ['npm ci', 'Bash(npm ci:*)'],
    ['touch ran.txt', 'Bash(touch ran.txt)'],
    ['gh pr merge 12', 'Bash(gh pr merge 12)'],
    ['git rebase main', 'Bash(git rebase:*)'],
    ['git rebase --exec x main', 'Bash(git rebase --exec x main)'],
    ['git rebase -x x main', 'Bash(git rebase -x x main)'],
  ])('%s: %s', async (command, rule) => {
    expect(await suggested(command)).toEqual(rule === null ? [] : [rule]);
  });
});

describe('SEC-1: what keeps git from running programs of the folder cannot be removed unasked', () => {
  test.each(['env -i git status', 'env -u GIT_CONFIG_COUNT git status', 'git diff --submodule=diff'])(
    '%s',
    async (command) => {
      expect((await judge(command)).kind).toBe('ask');
    },
  );
});

describe('RES-3: a rule for a program that looks does not cover its options that write or run', () => {
  test.each([
    ['find . -name x -exec rm {} +', 'Bash(find:*)'],
    ["find . '-del'ete", 'Bash(find *)'],
    ['find . -fprintf out x', 'Bash(find:*)'],
    ['find . $x', 'Bash(find:*)'],
    ['git log --output=x', 'Bash(git log:*)'],
    ['git log --outp x', 'Bash(git log:*)'],
    ['git diff --ext-diff', 'Bash(git diff:*)'],
    ['git grep -Oevil x', 'Bash(git grep:*)'],
    ['git fetch --upload-pack=./evil .', 'Bash(git fetch:*)'],
    ['git submodule foreach ./evil', 'Bash(git submodule:*)'],
    ['sort -o out in', 'Bash(sort:*)'],
    ['rg --pre ./evil x', 'Bash(rg:*)'],
    ['git stash list --output=x', 'Bash(git stash list:*)'],
    ['uniq a b', 'Bash(uniq:*)'],
    ['uniq -c -f 1 a b', 'Bash(uniq:*)'],
    ['diff3 --diff-program=./evil a b c', 'Bash(diff3:*)'],
    ['timeout 5 find . -delete', 'Bash(timeout:*)'],
  ])('%s: not by %s', async (command, rule) => {
    expect((await judge(command, { allow: [rule] })).kind).toBe('ask');
  });

  test.each([
    ['find . -exec wc -l {} +', 'Bash(find . -exec wc:*)'],
    ['find . -delete', 'Bash(*)'],
    ['git log --output=x', 'Bash(git log --output=x)'],
    ['git fetch origin', 'Bash(git fetch:*)'],
    ['uniq a b', 'Bash(uniq a b)'],
    ['git submodule update --init', 'Bash(git submodule:*)'],
    ['npm test -- --output x', 'Bash(npm test:*)'],
  ])('%s: by %s', async (command, rule) => {
    expect((await judge(command, { allow: [rule] })).kind).toBe('allow');
  });
});

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { bashTool } from '../../tools/shell/bash.ts';
import { decide } from '../decide.ts';
import { parseRules } from '../policy.ts';

function project(): string {
  const cwd = temporaryDirectory();
  for (const folder of ['.git', 'docs/deep', 'src', 'test', 'build'])
    mkdirSync(join(cwd, folder), { recursive: true });
  for (const file of ['README.md', 'docs/a.md', 'docs/deep/b.md', 'src/x.js', 'test/a.test.js', 'build/c'])
    writeFileSync(join(cwd, file), 'd\n');
  return cwd;
}

/** The commands of a list that a rule does not deny, or does. */
async function judged(deny: string, kind: string, commands: string[], below = ''): Promise<string[]> {
  const base = project();
  const { rules } = parseRules({ deny: [deny] }, { place: 'a test', base, home: '/home/user' });
  const kinds = await Promise.all(
    commands.map((command) =>
      decide({ mode: 'bypassPermissions', rules }, bashTool, { input: { command }, cwd: join(base, below) }),
    ),
  );
  return commands.filter((_, index) => kinds[index]?.kind === kind);
}

const passing = (deny: string, commands: string[], below = '') => judged(deny, 'allow', commands, below);
const denied = (deny: string, commands: string[]) => judged(deny, 'deny', commands);

describe('RES-3: memory below /dev holds files, not devices', () => {
  const SHARED = '/dev/shm';
  /** A repository there; the test is skipped where the machine has none. */
  function shared(skip: (why: string) => void): string {
    if (!existsSync(SHARED)) skip(`${SHARED} does not exist here`);
    const base = mkdtempSync(join(SHARED, 'ramet-written-'));
    onTestFinished(() => rmSync(base, { recursive: true, force: true }));
    writeFileSync(join(base, 'README.md'), 'd\n');
    return base;
  }
  const kindOf = async (command: string, cwd: string, deny: string[]) => {
    const { rules } = parseRules({ deny }, { place: 'a test', base: cwd, home: '/home/user' });
    return (await decide({ mode: 'bypassPermissions', rules }, bashTool, { input: { command }, cwd })).kind;
  };

  test.for(['Edit', 'Write', 'Edit(**)'])(
    '%s denies what writes in a repository there',
    async (rule, { skip }) => {
      const cwd = shared(skip);
      const commands = ['make all', 'npm run build', 'touch new', 'cp README.md x', 'node make.js out'];
      for (const command of commands)
        expect([command, await kindOf(command, cwd, [rule])]).toEqual([command, 'deny']);
    },
  );

  test('a rule about every file denies what writes there from elsewhere', async ({ skip }) => {
    const there = join(shared(skip), 'x');
    for (const command of [`cp README.md ${there}`, `tee ${there}`, 'dd if=README.md of=/dev/sda'])
      expect([command, await kindOf(command, project(), ['Edit'])]).toEqual([command, 'deny']);
    for (const command of ['tee /dev/null', 'echo x > /dev/null'])
      expect([command, await kindOf(command, project(), ['Edit'])]).toEqual([command, 'allow']);
  });

  test('what reads there is not asked about', async ({ skip }) => {
    const cwd = shared(skip);
    const { rules } = parseRules({}, { place: 'a test', base: cwd, home: null });
    for (const command of ['cat README.md', 'grep d README.md | wc -l', `head ${cwd}/README.md`]) {
      const { kind } = await decide({ mode: 'default', rules }, bashTool, { input: { command }, cwd });
      expect([command, kind]).toEqual([command, 'allow']);
    }
  });
});

describe('RES-3: a rule without a pattern is about every file', () => {
  const writing = [
    'rm -r docs',
    'rm docs/deep/b.md',
    'rm *',
    'ls | xargs rm',
    'sed -i s/d/x/ docs/a.md',
    'mv docs d2',
    'echo x | tee docs/a.md',
    'cp README.md docs/a.md',
    'echo x > docs/a.md',
    'touch new',
    'rm /tmp/other',
    'git clean -fd',
    'git checkout -- .',
    'prettier --write docs',
    'eslint --fix',
    'sudo rm -r docs',
    'node make.js out',
  ];
  test.for(['Edit', 'Write', 'Edi*', 'Edit(**)'])('%s denies what writes', async (rule) => {
    const isBare = rule !== 'Edit(**)';
    const inside = writing.filter((command) => isBare || !/\*|xargs|tmp/.test(command));
    expect(await passing(rule, inside)).toEqual([]);
  });

  test.for(['Edit', 'Write', 'Edit(**)'])('%s lets pass what reads, tests and commits', async (rule) => {
    const others = [
      'cat README.md',
      'git status && git log | head',
      'git add -A && git commit -qm x && git push origin main',
      'npm test',
      'npm run test -- test/a.test.js',
      'npx vitest run test/a.test.js --reporter=verbose',
      'pytest -vv test',
      'go test -cover ./...',
      'eslint src',
      'export A=b; cd src && set -e; true',
      'prettier --check .',
      'npm test > /dev/null 2>&1',
    ];
    expect(await denied(rule, others)).toEqual([]);
  });
});

describe('RES-3: programs whose writes nobody knows', () => {
  const building = ['make all', 'npm ci', 'npm run build', 'npm install left-pad'];
  test.for(['Edit', 'Write', 'Edit(**)'])('are denied by %s, which is about every file', async (rule) => {
    expect(await passing(rule, building)).toEqual([]);
  });

  test('are let through by a rule that names what is protected', async () => {
    expect(await denied('Edit(src/**)', building)).toEqual([]);
    expect(await denied('Edit(README.md)', building)).toEqual([]);
  });
});

describe('RES-3: braces are expanded before names are held against rules', () => {
  test('what they make is denied', async () => {
    const commands = [
      'rm {src.txt,docs/a.md}',
      'rm {docs,src}/a.md',
      'rm docs/{a,b}.md',
      "rm docs/{'a',b}.md",
      'rm doc{s/a.md,x}',
      'rm {x,{y,docs/a.md}}',
      '{rm,docs/a.md}',
      'rm -r {docs,build}',
      'tee {build/c,docs/a.md} < src/x.js',
      'touch docs/f{1..3}',
      'touch docs/f{01..12..2}.md',
      'rm doc{r..t}/a.md',
      'sed -i s/d/x/ ./{docs,src}/*',
      'cp README.md {build,docs}/',
      'git rm {docs,src}/a.md',
      'touch docs/f{1..100000}',
      `touch docs/${'{a,b}'.repeat(11)}`,
      'env rm {src.txt,docs/a.md}',
      "bash -c 'rm {src.txt,docs/a.md}'",
    ];
    expect(await passing('Edit(docs/**)', commands)).toEqual([]);
    expect(await passing('Edit(f5)', ['touch f{1..9}', 'touch f{9..1}', 'touch f{1..100000}'])).toEqual([]);
    expect(await passing('Read(.env)', ['cat {.env,x}', 'cat .{env,x}', 'head -n1 ./.e{nv,x}'])).toEqual([]);
    expect(await passing('Edit', ['rm {a,b}', 'touch f{1..3}'])).toEqual([]);
  });

  test('what they do not make is not', async () => {
    const commands = [
      'rm {src,build}/a.md',
      "rm '{docs/a.md,x}'",
      'rm build/{a,b}{1..3}',
      'touch build/f{1..500}',
      'cp {docs,src}/a.md build/',
      'cat {docs,src}/a.md',
      "awk '{print $1}' docs/a.md",
      'find build -name x -exec rm {} +',
    ];
    expect(await denied('Edit(docs/**)', commands)).toEqual([]);
    expect(await denied('Edit(f5)', ['touch f{1..4}', 'touch f{1..9..2}x'])).toEqual([]);
  });
});

describe('RES-3: git changes files that it is not told by a plain name', () => {
  test('everything, and names from the top of the repository', async () => {
    const commands = [
      'git clean -fd',
      'git clean -fdx',
      'git clean -fd -e build',
      'git clean -fd -en',
      'git clean -fd -e -n',
      'git clean -fd --',
      'git restore :/docs',
      'git restore :/',
      'git restore :/docs/a.md',
      'git restore :',
      'git checkout -- :/docs',
      "git checkout -- ':(top)docs'",
      "git checkout -- ':!src'",
      "git restore '*.md'",
      'git checkout --pathspec-from-file=list',
      'git -C docs rm a.md',
      'git -C docs clean -fd',
      'git --work-tree=docs clean -fd',
    ];
    expect(await passing('Edit(docs/**)', commands)).toEqual([]);
    expect(await passing('Edit(/docs/**)', ['git restore :/docs', 'git clean -fd ../docs'], 'src')).toEqual(
      [],
    );
  });

  test('not what lies elsewhere, what it would do, and what changes the index alone', async () => {
    const commands = [
      'git clean -nd',
      'git clean -fd build',
      'git -C build clean -fd',
      'git -C . checkout main',
      'git restore :/src',
      'git reset -q docs/a.md',
      'git reset HEAD -- docs/a.md',
      'git restore --staged docs/a.md',
      'git restore --staged docs',
      'git rm --cached docs/a.md',
    ];
    expect(await denied('Edit(docs/**)', commands)).toEqual([]);
    const both = [
      'git restore --staged --worktree docs/a.md',
      'git restore -SW docs/a.md',
      'git reset --hard docs/a.md',
      'git reset --har docs/a.md',
      'git restore -- --staged docs/a.md',
      'git restore --staged $x docs/a.md',
    ];
    expect(await passing('Edit(docs/**)', both)).toEqual([]);
  });
});

test('RES-3: files behind env, sudo and in scripts of sed are named, too', async () => {
  const commands = [
    'env -C docs rm a.md',
    'env --chdir=docs rm a.md',
    'env --chdir docs rm a.md',
    'env -iCdocs rm a.md',
    'env -u X -C docs rm -r deep',
    "env -S 'rm docs/a.md'",
    'env -i rm -r docs',
    'sudo rm -r docs',
    'sudo -u me -D docs rm a.md',
    'setsid rm -r docs',
    "sed -n 'w docs/a.md' src/x.js",
    "sed -n 'wdocs/a.md' src/x.js",
    "sed -e 's/s/t/w docs/a.md' src/x.js",
    "sed --expression='s/s/t/gw docs/a.md' src/x.js",
    "sed -n '/x/{\nw docs/a.md\n}' src/x.js",
  ];
  expect(await passing('Edit(docs/**)', commands)).toEqual([]);
  const others = ['env -C build rm c', 'sudo rm -r build', "sed -n 'w build/c' src/x.js", 'env -C docs ls'];
  expect(await denied('Edit(docs/**)', others)).toEqual([]);
});

describe('RES-3: a checker that fixes changes the folders it is given', () => {
  const fixing = [
    'prettier --write docs',
    'prettier --write .',
    "prettier --write '**/*.md'",
    'npx prettier --write docs/deep',
    'eslint --fix docs',
    'eslint --fix',
    'eslint --fix --config x.js',
    'npx biome check --write',
    'ruff format docs',
    'black docs',
    'deno fmt docs',
    'deno fmt',
    'go fmt ./docs/...',
    'npm run lint -- --fix docs',
    'python3 -m black docs',
  ];
  test.for(['Edit(docs/**)', 'Edit(/docs/**)', 'Edit(*.md)', 'Write(docs)'])('%s', async (rule) => {
    expect(await passing(rule, fixing)).toEqual([]);
  });

  test('not others', async () => {
    const others = [
      'prettier --write src',
      'eslint --fix src',
      'eslint docs',
      'black --check docs',
      'black src',
    ];
    expect(await denied('Edit(docs/**)', others)).toEqual([]);
  });
});

describe('RES-3: tests are run and checked under a rule about them', () => {
  test('test runners and checkers pass', async () => {
    const commands = [
      'npm run test -- test/a.test.js',
      'yarn run test test/a.test.js',
      'pnpm run test:unit test/a.test.js',
      'go test ./test/...',
      'go vet ./test/...',
      'deno test test/a.test.js',
      'python3 -m unittest test/a.py',
      'python3.12 -m pytest test/a.py',
      'cargo test --test test/a',
      'cargo +nightly test test/a',
      'uv run pytest test/a.py',
      'poetry run pytest -q test/a.py',
      'coverage run -m pytest test/a.py',
      'coverage run --branch -m unittest test/a.py',
      'tsc --noEmit -p test/tsconfig.json',
      'npx tsc --noEmit test/a.ts',
      'tsx --test test/a.test.ts',
      'node --import tsx --test test/a.test.ts',
      'make test FILE=test/a.test.js',
    ];
    expect(await denied('Edit(/test/**)', commands)).toEqual([]);
  });

  test('what they write does not', async () => {
    const commands = [
      'npm run build -- test/a.test.js',
      'npm run test -- -u test/a.test.js',
      'npm run test:update test/a.test.js',
      'go test -coverprofile=test/cover ./...',
      'go test -coverprofile test/cover ./...',
      'go test ./test/... -update',
      'go run gen.go test/a.go',
      'deno run gen.ts test/a.ts',
      'deno lint --fix test/a.ts',
      'cargo clippy --fix test/a.rs',
      'uv run gen test/a.py',
      'coverage html -d test/html',
      'tsc test/a.ts',
      'tsc --noEmit false test/a.ts',
      'tsc --noEmit --noEmit false test/a.ts',
      'tsc --noEmit --outDir test/out',
      'tsx gen.ts --test test/a.test.ts',
      'node -e x --test test/a.js',
      'make build FILE=test/a.test.js',
      'make test OUT=test/a.test.js',
    ];
    expect(await passing('Edit(/test/**)', commands)).toEqual([]);
  });
});

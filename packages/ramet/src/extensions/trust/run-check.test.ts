import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { trust } from '../../system/trust.ts';
import { commandReach } from './command-reach.ts';
import { describePart, type FolderPart, untrustableIn } from './folder-part.ts';
import { folderTrust } from './folder-trust.ts';
import { allRun, runCheck } from './run-check.ts';

interface Checked {
  readonly root: string;
  /** Another checkout of the same files. */
  readonly tree: string;
  /** The user trusts the folder again. */
  renew(): void;
  check(cwd?: string): string | null;
  /** Of a hook that checks calls. */
  guards(cwd?: string): string | null;
  verdict(): string;
  untrustable(): readonly string[];
  /** Each command of the part. */
  runs(): boolean;
}

function checked(command: string, files: Record<string, string>, source = '.claude/settings.json'): Checked {
  const base = temporaryDirectory();
  const [root, tree] = [join(base, 'work'), join(base, 'tree')];
  for (const folder of [root, tree]) writeFiles(folder, { ...files, '.git/HEAD': '' });
  const part: FolderPart = { kind: 'hooks', source: join(root, source), value: { command } };
  const place = { home: join(base, 'home'), root };
  const { key, ...described } = describePart(part, root);
  trust(place, { [key]: described });
  const check = runCheck(part, place, folderTrust(place));
  const renew = (): void => {
    const { key: own, ...now } = describePart(part, root);
    trust(place, { [own]: now });
  };
  const verdict = (): string => folderTrust(place).verdictOn(part);
  const guards = (cwd = root): string | null => check([command], cwd, true);
  const untrustable = (): readonly string[] => untrustableIn(part, root);
  const runs = (): boolean => allRun(part, check, root);
  return {
    root,
    tree,
    renew,
    verdict,
    guards,
    untrustable,
    runs,
    check: (cwd = root) => check([command], cwd),
  };
}

const SCRIPT = { 'scripts/h.sh': 'exit 2\n' };

describe('SEC-1: a command of a repository runs with the files that were trusted', () => {
  test('where they are the same, in any checkout and in a subfolder', () => {
    const { root, tree, check } = checked('sh scripts/h.sh', SCRIPT);
    mkdirSync(join(root, 'pk'));
    expect([check(), check(tree), check(join(root, 'pk'))]).toEqual([null, null, null]);
  });

  test('not once one was written', () => {
    const { root, check } = checked('sh scripts/h.sh', SCRIPT);
    writeFiles(root, { 'scripts/h.sh': 'exit 0\n' });
    expect(check()).toBe('scripts/h.sh is not what you trusted (ramet trust --show shows the difference)');
    writeFiles(root, SCRIPT);
    expect(check()).toBeNull();
  });

  test('and points to the root only where the root has such a file', () => {
    const { root, check } = checked('sh h.sh', { 'srv/h.sh': 'exit 2\n' }, 'srv/.claude/settings.json');
    const srv = join(root, 'srv');
    expect(check(srv)).toBeNull();
    writeFiles(root, { 'srv/h.sh': 'exit 0\n' });
    expect(check(srv)).toBe('srv/h.sh is not what you trusted (ramet trust --show shows the difference)');
  });

  test('again once the user trusts them as they are', () => {
    const { root, check, renew } = checked('sh scripts/h.sh', SCRIPT);
    writeFiles(root, { 'scripts/h.sh': 'exit 0\n' });
    expect(check()).not.toBeNull();
    renew();
    expect(check()).toBeNull();
    writeFiles(root, { 'scripts/h.sh': 'exit 1\n' });
    expect(check()).not.toBeNull();
  });

  test.for(['sh scripts/h.sh', 'sh "$CLAUDE_PROJECT_DIR"/scripts/h.sh', 'cat x | sh ./scripts/h.sh >> log'])(
    '%s: not with a file of another directory that was never trusted',
    (command) => {
      const { root, tree, check } = checked(command, SCRIPT);
      const other = { 'scripts/h.sh': 'exit 0\n' };
      writeFiles(join(root, 'pk'), other);
      writeFiles(tree, other);
      const expected = command.includes('$')
        ? [null, null]
        : [/^pk\/scripts\/h\.sh is not .*CLAUDE_PROJECT_DIR/, /tree\/scripts\/h\.sh is not what you trusted/];
      for (const [index, cwd] of [join(root, 'pk'), tree].entries()) {
        const why = expected[index];
        if (why == null) expect(check(cwd)).toBeNull();
        else expect(check(cwd)).toMatch(why);
      }
    },
  );

  /** Out of the folders for temporary files, where everything counts in any case. */
  test.for([
    'sh "$PWD/h.sh"',
    'sh `pwd`/h.sh',
    'R=$(pwd -P); sh $R/h.sh',
    'sh ~+/h.sh',
    'D=$PWD; cd /; sh "$D/h.sh"',
    'cd /; sh "$OLDPWD/h.sh"',
    '"$(git rev-parse --show-toplevel)"/h.sh',
    'sh "$RAMET_WORKTREE/h.sh"',
    'sh "$(dirname "$PWD/h.sh")/h.sh"',
    'CLAUDE_PROJECT_DIR=$PWD; sh "$CLAUDE_PROJECT_DIR/h.sh"',
    `env CLAUDE_PROJECT_DIR=. sh -c 'sh "$CLAUDE_PROJECT_DIR/h.sh"'`,
    `unset CLAUDE_PROJECT_DIR; sh "\${CLAUDE_PROJECT_DIR:-$PWD}/h.sh"`,
    'ln -sf "$PWD/h.sh" /tmp/x.sh; sh /tmp/x.sh',
    'ln -sf "$(git rev-parse --show-toplevel)/h.sh" /tmp/x.sh; sh /tmp/x.sh',
    'cp "$PWD/h.sh" /tmp/x.sh; sh /tmp/x.sh',
    'install -m 755 "$(pwd)/h.sh" /tmp/x; /tmp/x',
    'cp h.sh /tmp/x.sh; mv /tmp/x.sh /tmp/y.sh; sh /tmp/y.sh',
    'mv ~+/h.sh /tmp/x.sh; sh /tmp/x.sh',
    'cat "$PWD/h.sh" | sh',
  ])('%s: what lies in the worktree that it runs in is no program of the machine', (command) => {
    const { paths } = commandReach([command], '/ramet-root', ['/ramet-tree', '/ramet-root']);
    expect(paths).toContainEqual({ path: '/ramet-tree/h.sh', isAbsolute: false });
  });

  test.for([
    'sh /proc/self/cwd/h.sh',
    '. /proc/self/cwd/h.sh',
    '/proc/self/cwd/h.sh',
    'bash /proc/thread-self/cwd/h.sh',
    'sh /proc/"self"/cwd//h.sh',
    'sh < /proc/self/cwd/h.sh',
    'sh /proc/self/task/1/cwd/h.sh',
    'sh /proc/1/cwd/h.sh',
    'sh /proc/s*/cwd/h.sh',
    'cd /proc; sh self/cwd/h.sh',
    'cd /proc/self && sh cwd/h.sh',
    'sh ../../proc/self/cwd/h.sh',
    'sh /dev/fd/../cwd/h.sh',
    'sh /dev/fd/3/h.sh',
    'sh /proc/self/root/$PWD/h.sh',
    'D=/proc/self/cwd; sh "$D/h.sh"',
    'node -e "require(\'/proc/self/cwd/h.js\')"',
    'PATH=/proc/self/cwd:$PATH tool',
    'npx eslint -c /proc/self/cwd/x.js src',
  ])('%s: a path that only the running command can follow counts every file', (command) => {
    const { unclear, folders } = commandReach([command], '/ramet-root', ['/ramet-tree', '/ramet-root']);
    expect(unclear).not.toBeNull();
    expect(folders).toEqual(expect.arrayContaining(['/ramet-tree', '/ramet-root']));
  });

  test.for([
    'grep -q docker /proc/1/cgroup',
    'cat /proc/loadavg',
    'date | tee /dev/fd/2',
    'sh src/proc/h.sh',
  ])('%s: one that leads nowhere else does not', (command) => {
    expect(commandReach([command], '/ramet-root', ['/ramet-root']).unclear).toBeNull();
  });

  test('not with a link that leads to another file in the process that opens it', () => {
    for (const command of ['sh scripts/h.sh', 'cd scripts && ./h.sh', 'sh $X']) {
      const { tree, check } = checked(command, { ...SCRIPT, 'other.sh': 'exit 2\n' });
      expect(check(tree)).toBeNull();
      rmSync(join(tree, 'scripts'), { recursive: true });
      symlinkSync('/proc/self/cwd/not-there', join(tree, 'scripts'));
      expect(check(tree)).toContain('is not what you trusted');
      rmSync(join(tree, 'scripts'));
      mkdirSync(join(tree, 'scripts'));
      symlinkSync('/dev/fd/../cwd/other.sh', join(tree, 'scripts/h.sh'));
      expect(check(tree)).toContain('is not what you trusted');
    }
  });

  test('nor what lies above the folder of a worktree that it runs in, and other paths are', () => {
    const { tree, root } = checked('true', { 'pk/x': '' });
    const command = '"$(git rev-parse --show-toplevel)"/h.sh; sh /opt/x.sh';
    const { paths } = commandReach([command], root, [join(tree, 'pk'), root]);
    expect(paths).toContainEqual({ path: join(tree, 'h.sh'), isAbsolute: false });
    expect(paths).toContainEqual({ path: '/opt/x.sh', isAbsolute: true });
  });

  test.for([
    ['npx prettier --check src/a.js', 'src/.prettierrc'],
    ['npx prettier --write src/a.js', 'src/.prettierrc.mjs'],
    ['npm run fmt', 'src/package.yaml'],
    ['npm start', 'server.js'],
    ['npm run h -ws', 'pk/package.json'],
  ] as const)('%s: not with another %s in the worktree that it runs in', ([command, file]) => {
    const scripts = { fmt: 'prettier --write src/a.js' };
    const { tree, check } = checked(command, {
      'src/a.js': '1;',
      'package.json': JSON.stringify({ scripts }),
    });
    expect(check(tree)).toBeNull();
    writeFiles(tree, { [file]: '{"scripts":{"h":"true"}}' });
    expect(check(tree)).toContain(`${file} is not what you trusted`);
  });

  test('not with a link, a pipe or another file in the place of one', () => {
    const { root, check } = checked('sh scripts/h.sh', SCRIPT);
    const path = join(root, 'scripts/h.sh');
    writeFileSync(join(root, '../evil.sh'), 'exit 0\n');
    rmSync(path);
    expect(check()).toBeNull();
    symlinkSync(join(root, '../evil.sh'), path);
    expect(check()).toContain('scripts/h.sh is not what you trusted');
    rmSync(path);
    execFileSync('mkfifo', [path]);
    expect(check()).toContain('scripts/h.sh is a pipe, which cannot be trusted');
    rmSync(path);
    mkdirSync(join(root, 'other'));
    writeFiles(root, { 'other/h.sh': 'exit 0\n' });
    rmSync(join(root, 'scripts'), { recursive: true });
    symlinkSync('other', join(root, 'scripts'));
    expect(check()).toContain('is not what you trusted');
  });

  test.for([
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a device', (path: string) => symlinkSync('/dev/null', path)],
  ] as const)('not with %s in the place of one, which nobody can trust, and says so', ([what, make]) => {
    const { root, check, renew, untrustable } = checked('sh scripts/h.sh; : > /dev/null', SCRIPT);
    expect(untrustable()).toEqual([]);
    rmSync(join(root, 'scripts/h.sh'));
    make(join(root, 'scripts/h.sh'));
    renew();
    const said = `scripts/h.sh is ${what}, which cannot be trusted: put a file in its place, then run ramet trust`;
    expect([check(), untrustable()]).toEqual([said, [said]]);
  });

  test('also by a link to another file with its content', () => {
    const { root, check, runs } = checked('sh scripts/h.sh', SCRIPT);
    renameSync(join(root, 'scripts/h.sh'), join(root, 'x.sh'));
    symlinkSync('../x.sh', join(root, 'scripts/h.sh'));
    expect([check(), runs()]).toEqual([null, true]);
    writeFiles(root, { 'x.sh': 'exit 0\n' });
    expect([check() === null, runs()]).toEqual([false, false]);
  });

  test.for([
    ['for f in h/*.sh; do sh "$f" || exit $?; done', 'h/g.sh'],
    ['grep -qf h/pat && exit 2; exit 0', 'h/pat'],
    ['npm run -s guard', 'package.json'],
    ['npm run -s guard', 'h/g.sh'],
    ['python3 -m h.g', 'h/g.py'],
    ['python3 h/x.py', 'h/g.py'],
    ['node h', 'h/index.js'],
    ['node h/g', 'h/g.js'],
    ['node -e "require(\'./h/g\')"', 'h/g.js'],
    ['if [ -x h/g.sh ]; then h/g.sh; fi', 'h/g.sh'],
  ] as const)('%s: one that checks calls does not run without %s', ([command, path]) => {
    const scripts = { guard: 'sh h/g.sh' };
    const { root, tree, guards, renew } = checked(command, {
      'h/g.sh': 'exit 2\n',
      'h/z.sh': 'true\n',
      'h/pat': 'x\n',
      'h/g.py': '',
      'h/x.py': 'import g\n',
      'h/index.js': '',
      'h/g.js': '',
      'package.json': JSON.stringify({ scripts }),
    });
    expect([guards(), guards(tree)]).toEqual([null, null]);
    rmSync(join(root, path));
    expect(guards()).toBe(`${path} is gone (ramet trust --show shows the difference)`);
    renew();
    expect(guards()).toBeNull();
  });

  test.for([
    ['for f in h/*.sh; do sh "$f" || exit $?; done', 'h/g.sh'],
    ['grep -qf h/pat && exit 2; exit 0', 'h/pat'],
  ] as const)('%s: nor in a worktree without %s', ([command, path]) => {
    const files = { 'h/g.sh': 'exit 2\n', 'h/z.sh': 'true\n', 'h/pat': 'x\n' };
    const { tree, guards } = checked(command, files);
    rmSync(join(tree, path));
    expect(guards()).toBeNull();
    expect(guards(tree)).toContain(`${path} is gone`);
  });

  test('also with a large one that keeps its size and its time', () => {
    const { root, check } = checked('node big.js', { 'big.js': 'x'.repeat(200_000) });
    const path = join(root, 'big.js');
    expect([check(), check()]).toEqual([null, null]);
    const time = new Date(2020, 1, 1);
    utimesSync(path, time, time);
    expect(check()).toBeNull();
    writeFileSync(path, 'y'.repeat(200_000));
    utimesSync(path, time, time);
    expect(check()).toContain('big.js is not what you trusted');
    writeFileSync(`${path}.new`, 'x'.repeat(200_000));
    renameSync(`${path}.new`, path);
    expect(check()).toBeNull();
  });

  test('a program outside that a link leads to stays the one it was', () => {
    const base = temporaryDirectory();
    const [root, python, other] = [join(base, 'work'), join(base, 'python'), join(base, 'other')];
    writeFiles(base, { 'work/.venv/x': '', 'work/a.py': '', python: 'p', other: 'o' });
    symlinkSync(python, join(root, '.venv/python'));
    const command = '.venv/python a.py';
    const part: FolderPart = { kind: 'hooks', source: join(root, '.claude/settings.json'), value: command };
    const place = { home: base, root, isGiven: true };
    const check = runCheck(part, place, folderTrust(place));
    expect(check([command], root)).toBeNull();
    rmSync(join(root, '.venv/python'));
    symlinkSync(other, join(root, '.venv/python'));
    expect(check([command], root)).toContain('.venv/python is not what you trusted');
  });

  test('of a plugin every file counts, also those that its scripts load, until it is trusted again', () => {
    const base = temporaryDirectory();
    const [root, folder] = [join(base, 'work'), join(base, 'work/plug')];
    writeFiles(root, { '.git/HEAD': '', 'plug/s.sh': '. ./lib.sh\n', 'plug/lib.sh': 'true\n', 'a.txt': '1' });
    const part: FolderPart = { kind: 'plugin', source: folder, value: '', folder };
    const place = { home: join(base, 'home'), root };
    const renew = (): void => {
      const { key, ...described } = describePart(part, root);
      trust(place, { [key]: described });
    };
    renew();
    const check = runCheck(part, place, folderTrust(place));
    const run = (): string | null => check([`sh ${folder}/s.sh`], root);
    writeFiles(root, { 'a.txt': '2' });
    expect(run()).toBeNull();
    writeFiles(root, { 'plug/lib.sh': 'false\n' });
    expect(run()).toMatch(/^plug\/lib\.sh is not what you trusted/);
    renew();
    expect(run()).toBeNull();
    writeFiles(root, { 'plug/new.sh': 'false\n' });
    expect(run()).toMatch(/^plug\/new\.sh is not what you trusted/);
  });

  test('a file that a command only writes does not count', () => {
    const { root, check } = checked('cat >> logs/calls.txt 2>&1', { 'logs/calls.txt': 'one' });
    writeFiles(root, { 'logs/calls.txt': 'two' });
    expect(check()).toBeNull();
  });

  /** `@` is a file of the repository or of a temporary folder. */
  const LOGS = [
    'LOG=@; cat >> "$LOG"',
    'LOG="@"\necho "$(date)" >> $LOG\necho end >> "${LOG}"\nexit 0',
    'A=1; LOG=@ && jq -r .tool_name >> "$LOG" 2>/dev/null; exit 0',
    'mkdir -p logs; LOG=@; node x.js 2>> "$LOG"',
    'LOG=@; date | tee -a "$LOG"; touch "$LOG"',
  ];
  const CLAIMED = [
    'LOG=@; cat >> "$LOG"; sh "$LOG"',
    'LOG=@; cat >> "$LOG"; sh @',
    'LOG=@; . $LOG',
    'LOG=@ sh x.sh >> "$LOG"',
    'export LOG=@; sh x.sh >> "$LOG"',
    'set -a; LOG=@; sh x.sh >> "$LOG"',
    'LOG=@; export LOG; sh x.sh >> "$LOG"',
    'LOG=@; X=LOG; sh "${!X}" >> "$LOG"',
    'LOG=@; eval "sh \\$LOG" >> "$LOG"',
    'LOG=@; cat "$LOG" >> "$LOG" | sh',
  ];

  test.for(LOGS)('%s: a file that a variable names, and that is only written, does not count', (form) => {
    const other = temporaryDirectory();
    for (const [name, path] of [
      ['logs/x.log', 'logs/x.log'],
      ['x.log', join(other, 'x.log')],
    ] as const) {
      const folder = name === path ? null : other;
      const { root, check } = checked(form.replace('@', path), {
        'logs/x.log': 'a',
        'x.js': '1',
        'x.sh': '1',
      });
      writeFiles(folder ?? root, { [name]: 'b' });
      expect([form, check()]).toEqual([form, null]);
    }
  });

  test.for(CLAIMED)('%s: one that may run counts', (form) => {
    const { root, check } = checked(form.replaceAll('@', 'logs/x.sh'), { 'logs/x.sh': 'a', 'x.sh': '1' });
    writeFiles(root, { 'logs/x.sh': 'b' });
    expect(check()).toContain('logs/x.sh is not what you trusted');
  });

  /** Each with what it leaves in the file that it runs. */
  test.for([
    ['base64 -d f > @; sh @', 'decoded'],
    ['cat f 2>/dev/null | tee "@"; sh @', 'decoded'],
    ['cp f @ && sh @', 'one'],
  ] as const)('%s: what it wrote there itself does not stop it', ([form, left]) => {
    const other = temporaryDirectory();
    const path = join(other, 'x.sh');
    const { root, check, verdict, renew } = checked(form.replaceAll('@', path), { f: 'zero' });
    writeFiles(other, { 'x.sh': 'zero' });
    expect([check(), verdict()]).toEqual([null, 'trusted']);
    writeFiles(root, { f: 'one' });
    renew();
    expect([check(), verdict()]).toEqual([null, 'trusted']);
    writeFiles(other, { 'x.sh': left });
    expect([check(), verdict()]).toEqual([null, 'trusted']);
    rmSync(path);
    writeFiles(other, { evil: 'evil' });
    symlinkSync(join(other, 'evil'), path);
    expect(check()).toContain('x.sh is not what you trusted');
  });

  test.for([
    'sh @; cat f > @',
    'sh @/../x.sh; cat f > @; sh @',
    '[ -f g ] && cat f > @; sh @',
    'cat f > @ | sh @',
    'cat f > @ & sh @',
    'cat f >> @; sh @',
    'set -C; cat f > @; sh @',
    'cp f @; sh @',
  ])('%s: with what another wrote there it does not run', (form) => {
    const other = temporaryDirectory();
    const { check } = checked(form.replaceAll('@', join(other, 'x.sh')), { f: 'one' });
    writeFiles(other, { 'x.sh': 'evil' });
    expect(check()).toContain('x.sh is not what you trusted');
  });

  test('settings of a subfolder name files from there', () => {
    const { root, check } = checked('sh h.sh', { 'pk/h.sh': 'a' }, 'pk/.claude/settings.json');
    expect(check(join(root, 'pk'))).toBeNull();
    writeFiles(root, { 'pk/h.sh': 'b' });
    expect(check(join(root, 'pk'))).toContain('pk/h.sh is not what you trusted');
  });

  test('of package.json everything but packages and its version counts', () => {
    const text = (fields: object): string => JSON.stringify({ name: 'x', scripts: { h: 'a' }, ...fields });
    const { root, check } = checked('npm run h', { 'package.json': text({ version: '1' }) });
    mkdirSync(join(root, 'pk/deep'), { recursive: true });
    const write = (fields: object): void => writeFiles(root, { 'package.json': text(fields) });
    write({ version: '2', dependencies: { y: '1' }, devDependencies: { z: '1' } });
    expect([check(), check(join(root, 'pk'))]).toEqual([null, null]);
    write({ scripts: { h: 'b' } });
    expect(check()).toContain('package.json is not what you trusted');
    write({});
    writeFiles(root, { 'pk/package.json': text({ scripts: { h: 'evil' } }) });
    expect(check(join(root, 'pk/deep'))).toContain('pk/package.json is not what you trusted');
  });

  test('words of all kinds are no trouble', () => {
    const words = ['constructor', '__proto__', `${'a'.repeat(5_000)}`, 'a\0b', '>', '2>&1', '/dev/null', '-'];
    const { check } = checked(words.join(' '), { 'README.md': 'x' });
    expect(check()).toBeNull();
  });
});

describe('SEC-1: a server whose words have defaults', () => {
  const FILES = { 'tools/srv.mjs': '1;\n', 'tools/pre.cjs': '1;\n', '.git/HEAD': '' };
  const open = (name: string, value: string): string => `$\{${name}:-${value}}`;

  test.for([
    [{ args: [open('SRV', 'tools/srv.mjs')] }, ['tools/srv.mjs']],
    [{ args: [`${open('CLAUDE_PROJECT_DIR', '.')}/tools/srv.mjs`] }, ['./tools/srv.mjs']],
    [{ args: [`${open('TOOLS', 'tools')}/srv.mjs`] }, ['tools/srv.mjs']],
    [{ args: ['srv.mjs'], cwd: open('SUB', 'tools') }, ['srv.mjs']],
    [
      { args: ['tools/srv.mjs'], env: { NODE_OPTIONS: `-r ${open('PRE', './tools/pre.cjs')}` } },
      ['tools/srv.mjs', 'NODE_OPTIONS=-r ./tools/pre.cjs'],
    ],
  ] as const)('%j: starts with the files that were trusted, and with no others', ([server, words]) => {
    const root = join(temporaryDirectory(), 'work');
    writeFiles(root, FILES);
    const value = { s: { command: 'node', ...server } };
    const part: FolderPart = { kind: 'mcp', source: join(root, '.mcp.json'), value };
    const place = { home: temporaryDirectory(), root };
    const { key, ...described } = describePart(part, root);
    trust(place, { [key]: described });
    const check = runCheck(part, place, folderTrust(place));
    const cwd = 'cwd' in server ? join(root, 'tools') : root;
    const texts = ['node', ...words];
    expect(check(texts, cwd)).toBeNull();
    writeFiles(root, { 'tools/srv.mjs': '2;\n', 'tools/pre.cjs': '2;\n' });
    expect(check(texts, cwd)).toMatch(/is not what you trusted/);
  });
});

import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const done = { text: 'done' };
const bash = (command: string): Answer => ({ tool_use: [{ name: 'Bash', input: { command } }] });
const bypass = ['--permission-mode', 'bypassPermissions'];

const hasEscaped = (user: User): boolean => existsSync(join(user.root, 'escaped'));
const runs = (user: User): number =>
  existsSync(join(user.root, 'log'))
    ? readFileSync(join(user.root, 'log'), 'utf8').split('\n').length - 1
    : 0;

/** `$LOG` stands for a file outside. */
const FILES = {
  'hooks/check.sh':
    '#!/bin/bash\nDIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\nsource "$DIR/lib.sh"\nlog\nhead -1 data.txt > /dev/null\n',
  'hooks/lib.sh': '. "$DIR/deep/more.sh"\n',
  'hooks/deep/more.sh': 'log() { echo ran >> $LOG; }\n',
  'hooks/check.mjs': "import { log } from './lib/log.mjs';\nlog();\n",
  'hooks/lib/log.mjs': "export { log } from './file.mjs';\n",
  'hooks/lib/file.mjs':
    "import { appendFileSync } from 'node:fs';\nexport const log = () => appendFileSync('$LOG', 'ran\\n');\n",
  'hooks/open.sh':
    'set -eu\nX=hooks/lib.sh\n[ -f "${EXTRA:-none}" ] && source "$EXTRA"\neval "$(cat hooks/words)"\necho ran >> $LOG\n',
  'hooks/words': 'A=1\n',
  'hooks/own.jq': 'def f: "ran";\n',
  gc: '[core]\n\tfsmonitor = sh tools/monitor.sh\n',
  'tools/monitor.sh': 'echo ran >> $LOG; false\n',
  'far/sub/a.txt': '',
  'far/x.sh': 'echo ran >> $LOG\n',
  'data.txt': 'one\n',
  'src/app.js': '1;\n',
};

async function trusted(user: User, command: string, event = 'PostToolUse'): Promise<void> {
  const inLog = (text: string): string => text.replaceAll('$LOG', join(user.root, 'log'));
  const hooks = { [event]: [{ matcher: 'Bash', hooks: [{ type: 'command', command: inLog(command) }] }] };
  const files = Object.entries(FILES).map(([name, text]) => [name, inLog(text)]);
  writeFiles(user.repository, Object.fromEntries(files));
  writeFiles(user.repository, { '.claude/settings.json': JSON.stringify({ hooks }) });
  symlinkSync('far/sub', join(user.repository, 'link'));
  git(user.repository, 'add', '-A');
  git(user.repository, 'commit', '-qm', 'hooks');
  expect((await user.ramet(['trust'])).code).toBe(0);
}

const HERE = '"$CLAUDE_PROJECT_DIR"';

describe.concurrent('SEC-1: a file that a trusted hook loads in turn', () => {
  test.for([
    [`bash ${HERE}/hooks/check.sh`, 'hooks/lib.sh'],
    [`bash ${HERE}/hooks/check.sh`, 'hooks/deep/more.sh'],
    [`node ${HERE}/hooks/check.mjs`, 'hooks/lib/log.mjs'],
    [`node ${HERE}/hooks/check.mjs`, 'hooks/lib/file.mjs'],
    [`jq -rn -L hooks 'include "own"; f' >> $LOG`, 'hooks/own.jq'],
    ['GIT_CONFIG_GLOBAL="$PWD/gc" git status > /dev/null', 'tools/monitor.sh'],
    ['sh link/../x.sh', 'far/x.sh'],
  ] as const)('stops it once it has changed, and is named: %s: %s', async ([command, file], { user }) => {
    await trusted(user, command);
    const evil = file.endsWith('.mjs')
      ? `import { writeFileSync } from 'node:fs';\nwriteFileSync('${join(user.root, 'escaped')}', '');\nexport const log = () => {};\n`
      : file.endsWith('.jq')
        ? 'def f: "changed";\n'
        : `touch ${join(user.root, 'escaped')}; log() { :; }\n`;
    let before = 0;
    const emulator = await user.emulate({
      respond: ({ turn }) => {
        if (turn === 1) {
          before = runs(user);
          writeFiles(user.repository, { [file]: evil });
        }
        return turn < 3 ? bash(`echo turn-${turn}`) : done;
      },
    });
    const end = await user.here(['-p', 'GO', ...bypass]);
    expect(end.code).toBe(0);
    expect(before).toBeGreaterThan(0);
    expect([hasEscaped(user), runs(user)]).toEqual([false, before]);
    expect(end.stderr.split(`${file} is not what you trusted`)).toHaveLength(2);
    expect(toolResults(emulator).map(({ isError }) => isError)).toEqual([false, false, false]);
  });

  test.for([`bash ${HERE}/hooks/check.sh`, `node ${HERE}/hooks/check.mjs`, `sh ${HERE}/hooks/open.sh`])(
    'runs on where what it works on changes, or what only it knows: %s',
    async (command, { user }) => {
      await trusted(user, command);
      const edit = 'echo two > data.txt; echo B=2 > hooks/words; echo "2;" > src/app.js; echo x > new.sh';
      await user.model(bash(edit), bash('echo two'), bash('echo three'), done);
      await user.here(['-p', 'GO', ...bypass]);
      expect(runs(user)).toBe(3);
    },
  );

  test('asks about calls that its hook checks', async ({ user }) => {
    await trusted(user, `bash ${HERE}/hooks/check.sh`, 'PreToolUse');
    const emulator = await user.model(bash('echo : > hooks/lib.sh'), bash('echo two'), done);
    await user.here(['-p', 'GO', ...bypass]);
    expect(toolResults(emulator).map(({ isError }) => isError)).toEqual([false, true]);
    expect(toolResults(emulator).at(-1)?.text).toContain('hooks/lib.sh is not what you trusted');
  });

  test('is listed where only the running script knows it', async ({ user }) => {
    await trusted(user, `sh ${HERE}/hooks/open.sh`);
    expect((await user.here(['trust', '--show'])).stdout).toContain('(what hooks/open.sh loads)');
  });

  test('is asked about once where an earlier version did not follow it', async ({ user }) => {
    await trusted(user, `bash ${HERE}/hooks/check.sh`);
    const folder = join(user.root, 'ramet/trusted');
    const [name = ''] = readdirSync(folder).filter((one) => one.endsWith('.json'));
    const entry = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    const part = entry.parts['hooks .claude/settings.json'];
    for (const file of ['hooks/lib.sh', 'hooks/deep/more.sh']) delete part.files[file];
    delete part.by;
    part.digest = 'of an earlier version';
    writeFiles(folder, { [name]: JSON.stringify(entry) });
    await user.emulate({ respond: ({ turn }) => (turn % 2 === 0 ? bash('echo one') : done) });
    const first = await user.here(['-p', 'GO', ...bypass]);
    expect(runs(user)).toBe(0);
    expect(first.stderr).toContain(
      'settings.json: its hooks run files that were not followed when you trusted it: these hooks do not run (ramet trust --show shows them)',
    );
    expect(first.stderr.split('hooks/lib.sh was not followed when you trusted this folder')).toHaveLength(2);
    expect(first.stderr).not.toContain('is not what you trusted');
    const more = [
      '  hooks/lib.sh is run too: this version of Ramet follows more files:',
      '  + . "$DIR/deep/more.sh"',
    ];
    for (const args of [['trust', '--show'], ['doctor'], ['trust']]) {
      const { stdout } = await user.here(args);
      if (args[0] === 'doctor')
        expect(stdout).toMatch(
          /hooks of \S+settings\.json \(files that were not followed when you trusted it\)/,
        );
      else expect(stdout).toContain(more.join('\n'));
    }
    await user.here(['-p', 'GO', ...bypass]);
    expect(runs(user)).toBe(1);
  });
});

test('SEC-1: a `!` command of a trusted skill takes no folder of an agent for a repository', async ({
  user,
}) => {
  const marked = join(user.repository, 'marked');
  writeFiles(user.repository, {
    'sub/a.txt': '',
    '.claude/commands/look.md':
      '---\nallowed-tools: Bash\n---\nState: !`cd sub && git status 2>&1 | head -3; true`\n',
  });
  git(user.repository, 'add', '-A');
  git(user.repository, 'commit', '-qm', 'command');
  expect((await user.ramet(['trust'])).code).toBe(0);
  writeFiles(user.repository, {
    'sub/HEAD': 'ref: refs/heads/main\n',
    'sub/config': `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch ${marked}; false"\n`,
    ...{ 'sub/objects/x': '', 'sub/refs/x': '' },
  });
  const emulator = await user.model(done);
  const end = await user.here(['-p', '/look', ...bypass]);
  expect(end.code).toBe(0);
  expect(JSON.stringify(emulator.requests[0]?.request?.messages)).toContain('State:');
  expect(existsSync(marked)).toBe(false);
});

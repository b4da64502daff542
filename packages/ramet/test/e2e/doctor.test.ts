import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { linesOf } from '../fixtures/command.ts';
import { API_KEY, test, type User } from '../fixtures/user.ts';

interface Finding {
  state: string;
  found: string;
  remedy: string | null;
}

async function examine(
  user: User,
  env: Record<string, string | undefined> = {},
): Promise<{ code: number | null; ok: boolean; checks: Record<string, Finding> }> {
  const end = await user.ramet(['doctor', '--json'], { env });
  const { ok, checks } = JSON.parse(end.stdout);
  const named = checks.map(({ name, ...rest }: Finding & { name: string }) => [name, rest]);
  return { code: end.code, ok, checks: Object.fromEntries(named) };
}

/** A folder with one program, to stand on the PATH. */
function programFolder(user: User, name: string, script: string): string {
  const folder = join(user.root, `bin-${name}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
  return folder;
}

describe.concurrent('UI-1: ramet doctor', () => {
  test('shows what works, a line each, and leaves nothing behind', async ({ user }) => {
    const end = await user.ramet(['doctor']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    const names = linesOf(end.stdout).flatMap((line) => /^(?:ok|--) {2}(\w+) /.exec(line)?.[1] ?? []);
    expect(names.join(' ')).toBe(
      'node git ripgrep sandbox model network home journal sessions processes settings others extensions trust mcp terminal',
    );
    expect(end.stdout).toContain(`${process.versions.node} (${process.execPath})`);
    expect(end.stdout).toContain('everything that is needed works');
    expect(readdirSync(user.rametHome)).toEqual([]);
  });

  test('names keys and never shows them', async ({ user }) => {
    const env = {
      ANTHROPIC_BASE_URL: 'http://name:hidden@127.0.0.1:9/x?key=hidden',
      HTTPS_PROXY: 'http://name:hidden@127.0.0.1:3128',
    };
    const end = await user.ramet(['doctor'], { env });
    expect(end.stdout).toContain('ANTHROPIC_API_KEY is set, ANTHROPIC_BASE_URL is http://127.0.0.1:9\n');
    expect(end.stdout).toContain('HTTPS_PROXY is http://127.0.0.1:3128');
    expect(end.stdout).not.toContain(API_KEY);
    expect(end.stdout).not.toContain('hidden');
  });

  test('says what to do about what is missing, and exits with 1', async ({ user }) => {
    mkdirSync(join(user.root, 'empty'));
    mkdirSync(user.rametHome);
    writeFileSync(join(user.rametHome, 'settings.json'), '{"retries": "many"}');
    const { code, ok, checks } = await examine(user, {
      PATH: join(user.root, 'empty'),
      ANTHROPIC_BASE_URL: 'ftp://name:hidden@127.0.0.1',
    });
    expect({ code, ok }).toEqual({ code: 1, ok: false });
    expect(checks.git).toEqual({
      state: 'missing',
      found: 'git is not on the PATH',
      remedy: 'install git and put it on your PATH',
    });
    expect(checks.model).toMatchObject({
      state: 'missing',
      remedy: 'ANTHROPIC_BASE_URL is not an http(s) address: ANTHROPIC_BASE_URL',
    });
    expect(checks.settings).toMatchObject({
      state: 'missing',
      found: expect.stringContaining('settings.json:1: retries: expected number, received string'),
    });
    expect(checks.ripgrep).toMatchObject({ state: 'ok' });
  });

  test('a RAMET_HOME that cannot be used is missing', async ({ user }) => {
    writeFileSync(user.rametHome, 'in the way');
    const { code, checks } = await examine(user);
    expect(code).toBe(1);
    expect(checks.home).toMatchObject({ state: 'missing', found: expect.stringContaining('is a file') });
    expect(checks.journal).toMatchObject({ state: 'missing' });
  });

  test('a git that fails is missing, with what it said', async ({ user }) => {
    const folder = programFolder(user, 'git', 'echo "git: broken library" >&2; exit 127');
    const { checks } = await examine(user, { PATH: folder });
    expect(checks.git).toMatchObject({ state: 'missing', found: 'git: broken library' });
  });

  test('TYPE-2: a sandbox counts only when it holds', async ({ user }) => {
    const path = (script: string): string => `${programFolder(user, 'bwrap', script)}:${process.env.PATH}`;
    const refuses = await examine(user, { PATH: path('echo "bwrap: no namespaces" >&2; exit 1') });
    expect(refuses).toMatchObject({ code: 0, checks: { sandbox: { state: 'limited' } } });
    expect(refuses.checks.sandbox?.found).toBe(
      'bubblewrap cannot start: no namespaces; commands are judged by strict rules alone, and more of them ask',
    );
    const missing = await examine(user, { PATH: programFolder(user, 'apt-get', 'touch installed') });
    expect(missing.checks.sandbox).toMatchObject({
      found: expect.stringContaining('bubblewrap (bwrap) is not on the PATH'),
      remedy: expect.stringMatching(/^install bubblewrap: (sudo )?apt-get install bubblewrap$/),
    });
    const pretends = await examine(user, { PATH: path('exit 0') });
    expect(pretends.checks.sandbox).toMatchObject({
      state: 'limited',
      found: expect.stringContaining('does not hold what it runs'),
    });
  });

  test('what works with less is limited, and no reason to fail', async ({ user }) => {
    mkdirSync(join(user.repository, '.ramet'));
    writeFileSync(join(user.repository, '.ramet/settings.json'), '{"permissions": {"allow": ["Bash"]}}');
    const { code, checks } = await examine(user, {
      HTTP_PROXY: 'no address',
      NODE_EXTRA_CA_CERTS: join(user.root, 'missing.pem'),
    });
    expect(code).toBe(0);
    expect(checks.network).toMatchObject({ state: 'limited', found: 'HTTP_PROXY is not an address' });
    expect(checks.settings).toMatchObject({ state: 'limited', remedy: 'see ramet settings' });
    expect(checks.trust?.found).toBe(
      `${user.repository} is not trusted: its settings may narrow rights, not widen them (ramet trust)`,
    );
  });

  test('outside a repository git is limited', async ({ user }) => {
    const end = await user.ramet(['doctor'], { cwd: user.root });
    expect(end.code).toBe(0);
    expect(end.stdout).toMatch(/^-- {2}git .* is not in a repository\n +-> git init/m);
  });
});

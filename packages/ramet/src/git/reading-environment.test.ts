import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSync } from '../../test/fixtures/run-sync.ts';
import { temporaryDirectory, temporaryRepository } from '../../test/fixtures/temporary.ts';
import { readingEnvironment } from './folder-guard.ts';
import { committedVersion } from './provenance.ts';
import { createCheckouts } from './shared-git/checkout.ts';

describe('SEC-1: a command that nobody was asked about', () => {
  test('shows a plain diff where the folder names a program for diffs', async () => {
    const root = temporaryRepository({ 'a.txt': 'one\n', '.gitattributes': '*.txt diff=odd\n' });
    const base = temporaryDirectory();
    const mark = join(base, 'ran');
    appendFileSync(
      join(root, '.git/config'),
      `[diff]\n\texternal = "touch ${mark}"\n[diff "odd"]\n\tcommand = "touch ${mark}"\n`,
    );
    writeFileSync(join(root, 'a.txt'), 'two\n');
    const plain = { PATH: process.env.PATH ?? '', HOME: base };
    const environment =
      createCheckouts({ home: join(base, 'home'), environment: plain }).at(root)?.environment ?? {};
    const env = { ...environment, ...(await readingEnvironment(root, plain)) };
    const shown = runSync('bash', ['-c', 'git -C . diff -- a.txt'], {
      cwd: root,
      env,
    });
    expect(shown).toContain('-one\n+two\n');
    expect(existsSync(mark)).toBe(false);
  });

  test('fetches no object that is missing here, from a remote that names a program', async () => {
    const root = temporaryRepository({ 'a.txt': 'one\n' });
    const base = temporaryDirectory();
    const mark = join(base, 'ran');
    const blob = runSync('git', ['rev-parse', 'HEAD:a.txt'], { cwd: root }).trim();
    rmSync(join(root, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    appendFileSync(
      join(root, '.git/config'),
      `[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = evil\n[remote "evil"]\n\turl = ${root}\n\tpromisor = true\n\tuploadpack = "touch ${mark}; false"\n`,
    );
    const env = { PATH: process.env.PATH ?? '', HOME: base };
    const show = (more: Record<string, string>): unknown =>
      spawnSync('git', ['show', 'HEAD'], { cwd: root, env: { ...env, ...more } });
    show(await readingEnvironment(root, env));
    await committedVersion(join(root, 'a.txt'), 'x', env);
    expect(existsSync(mark)).toBe(false);
    show({});
    expect(existsSync(mark)).toBe(true);
  });

  test('gets no password of a proxy', async () => {
    const env = {
      HTTPS_PROXY: 'http://name:pass@word@proxy.invalid:8080',
      http_proxy: 'name:secret@proxy.invalid:3128',
      NO_PROXY: 'localhost',
      all_proxy: 'socks5h://proxy.invalid',
    };
    const reading = await readingEnvironment(temporaryDirectory(), env);
    expect({ ...env, ...reading }).toMatchObject({
      HTTPS_PROXY: 'http://proxy.invalid:8080',
      http_proxy: 'proxy.invalid:3128',
      NO_PROXY: 'localhost',
      all_proxy: 'socks5h://proxy.invalid',
    });
  });
});

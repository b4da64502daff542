import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { bashTool } from '../../tools/shell/bash.ts';
import { decide } from '../decide.ts';
import { parseRules } from '../policy.ts';

/** The commands that pass under a deny rule. */
async function passing(deny: string, commands: readonly string[]): Promise<string[]> {
  const cwd = temporaryDirectory();
  for (const folder of ['.git', 'docs/deep', 'a']) mkdirSync(join(cwd, folder), { recursive: true });
  for (const file of ['top', 'docs/a', 'docs/deep/c']) writeFileSync(join(cwd, file), 'd\n');
  const { rules } = parseRules({ deny: [deny] }, { place: 'a test', base: cwd, home: '/home/user' });
  const decisions = await Promise.all(
    commands.map((command) =>
      decide({ mode: 'bypassPermissions', rules }, bashTool, { input: { command }, cwd }),
    ),
  );
  return commands.filter((_, index) => decisions[index]?.kind === 'allow');
}

const lines = (text: string): string[] => text.trim().split(/\n\s*/);

describe('RES-3: what a command writes in a folder is held against rules', () => {
  test.for(['Edit(docs/**)', 'Edit(docs)', 'Write(/docs/**)'])('options that name it: %s', async (rule) => {
    const commands = lines(`
      tar xf t.tar -C docs
      tar -C docs -xf t.tar
      tar -xf t.tar -Cdocs
      tar -xzC docs -f t.tar
      tar xfC t.tar docs
      tar --directory=docs -xf t.tar
      tar --directory docs --extract -f t.tar
      tar xf t.tar -C ./docs/
      tar xf t.tar -C docs/deep
      tar xf t.tar --one-top-level=docs
      bsdtar -C docs -xf t.tar
      cpio -i -D docs
      unzip t.zip -d docs
      unzip -qod docs t.zip
      unzip -ddocs t.zip
      7z x t.7z -odocs
      patch -d docs -p1 < p.diff
      patch --directory=docs -p1 < p.diff
      git apply --directory=docs p.diff
      git apply --directory docs p.diff
      git am --directory=docs p.diff
      cd a && git apply --directory=docs ../p.diff
      git checkout-index --prefix=docs/ -a
      git -C docs checkout .
      git -C docs apply p.diff
      make -C docs
      make -Cdocs all
      make --directory=docs
      ninja -C docs
      cmake -B docs
      cmake --build docs
      cargo build --target-dir=docs
      curl --output-dir docs -O http://host/x
      wget -P docs http://host/x
      wget -qP docs http://host/x
      wget --directory-prefix=docs http://host/x
      npm --prefix docs install
      npm install --prefix=docs
      npm -C docs ci
      yarn --cwd docs install
      pnpm --dir docs install
      pip install -t docs x
      pip install --target=docs x
      tsc --outDir docs
      esbuild x.js --outdir=docs
      typedoc --out docs
      vitest run --outputDir docs
      sometool -C docs
      sometool --output-dir docs
      sudo tar xf t.tar -C docs
      xargs -a list tar xf t.tar -C docs
    `);
    expect(await passing(rule, commands)).toEqual([]);
  });

  test('files and folders that it names', async () => {
    const commands = lines(`
      rsync a docs/
      rsync -a a/ docs
      install -t docs a
      cp -t docs a
      cp -tdocs a
      cp --target-directory=docs a
      cp --target=docs a
      mv -t docs a
      mv --target-directory docs a
      ln -t docs a
      sed -i s/a/b/ docs/a
      perl -pi -e s/a/b/ docs/a
      dd if=/dev/zero of=docs/a
      curl -o docs/a http://host/x
      curl -sSLodocs/a http://host/x
      wget -O docs/a http://host/x
      find docs -delete
      find docs -type f -exec rm {} +
      xargs rm docs/a
      xargs -I{} mv {} docs/
      xargs cp -t docs
      xargs -a list rm -r docs
      truncate -s 0 docs/a
      shred -u docs/a
      split -b 1 top docs/x
      split -b 1 top docs/
      csplit -f docs/x top 1
      csplit --prefix=docs/ top 1
      sort -o docs/a top
      sort --output=docs/a top
      tee -a docs/a
      rmdir docs/deep
      gzip -r docs
      echo x > docs/a
      echo x >> docs/a
      echo x &> docs/a
      cd docs && echo x > a
    `);
    expect(await passing('Edit(docs/**)', commands)).toEqual([]);
  });

  test('not what it reads there or writes elsewhere', async () => {
    const commands = lines(`
      tar cf t.tar docs
      tar cf t.tar -C docs .
      tar -C docs -czf t.tar index
      tar tf t.tar -C docs
      tar xf t.tar -C a
      unzip t.zip -d a
      unzip -l t.zip
      patch -d a -p1 < p.diff
      git apply --directory=a p.diff
      git apply --check --directory=docs p.diff
      git archive --prefix=docs/ HEAD
      git -C docs log
      git -C docs add a
      make -C a
      make docs
      make -C docs test
      npm run docs
      npm --prefix docs test
      npm --prefix a install
      wget -P a http://host/x
      rsync -a docs/ a
      cp -t a docs/a
      vitest run -t docs
      docker build -t docs .
      cmake --build a --target docs
      grep -C 3 x docs/a
      find docs | xargs grep x
      gzip -c docs/a
    `);
    expect(await passing('Edit(docs/**)', commands)).toEqual(commands);
  });
});

describe('RES-3: builds without an argument', () => {
  const building = [
    'make',
    'make -s',
    'sudo make',
    'ninja',
    'just',
    './gradlew',
    'yarn',
    'tsc',
    'cd a && make',
  ];

  test.for(['Edit', 'Write', 'Edit(**)'])('are denied by %s', async (rule) => {
    expect(await passing(rule, building)).toEqual([]);
  });

  test('are denied in a folder that a rule names, and only there', async () => {
    expect(await passing('Edit(docs/**)', building)).toEqual(building);
    expect(
      await passing('Edit(docs/**)', ['cd docs && make', 'env -C docs make', 'cd docs && yarn']),
    ).toEqual([]);
  });

  test('are not what only tells or tests', async () => {
    const others = [
      'make --version',
      'make -n',
      'tsc --noEmit',
      'tsc --version',
      'make test',
      'npm test',
      'npm',
    ];
    expect(await passing('Edit', others)).toEqual(others);
  });
});

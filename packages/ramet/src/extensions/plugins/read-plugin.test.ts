import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { type ExtensionKind, extensionFolders } from '../extension-places.ts';
import { filesEndingIn, SKILL_FILE, scanFolder } from '../folder-scan.ts';
import { readPlugin } from './read-plugin.ts';

const RULES = {
  agents: filesEndingIn('.md'),
  commands: filesEndingIn('.md'),
  skills: { isWanted: (name: string) => name === SKILL_FILE, endsAt: SKILL_FILE },
};

/** Which files of a plugin with this manifest are found, and what is said about it. */
function plugin(manifest: object) {
  const base = temporaryDirectory();
  const root = join(base, 'tidy');
  writeFiles(base, { 'outside/x.md': 'x' });
  writeFiles(root, {
    '.claude-plugin/plugin.json': JSON.stringify({ name: 'tidy', ...manifest }),
    'agents/usual.md': 'x',
    'other/one.md': 'x',
    'other/two.md': 'x',
    'other/deep/three.md': 'x',
    'other/notes.txt': 'x',
    'kit/lint/SKILL.md': 'x',
    'kit/lint/more.md': 'x',
  });
  symlinkSync(join(base, 'outside'), join(root, 'out'));
  const read = readPlugin(root);
  if ('problem' in read) throw new Error(read.problem);
  const place = { cwd: base, root: base, home: join(base, 'home'), userHome: null, managed: [] };
  const files = (kind: ExtensionKind): string[] =>
    extensionFolders({ ...place, plugins: [read.plugin] }, kind)
      .flatMap((folder) => scanFolder(folder, RULES[kind]).files)
      .map(({ path }) => path.slice(root.length + 1));
  return { files, notes: read.notes.map((note) => note.replace(root, 'PLUGIN')) };
}

describe('EXT-3: the manifest of a plugin', () => {
  test.each([['./other/one.md'], [['./other/one.md']]])('%j names one file', (stated) => {
    const { files, notes } = plugin({ agents: stated, commands: stated });
    expect(files('agents')).toEqual(['agents/usual.md', 'other/one.md']);
    expect(files('commands')).toEqual(['other/one.md']);
    expect(notes).toEqual([]);
  });

  test('names files beside folders, and a file of the usual folder once', () => {
    const { files, notes } = plugin({
      agents: ['./agents/usual.md', './other/two.md', './other/deep'],
      skills: ['./kit/lint/SKILL.md'],
    });
    expect(files('agents')).toEqual(['agents/usual.md', 'other/two.md', 'other/deep/three.md']);
    expect(files('skills')).toEqual(['kit/lint/SKILL.md']);
    expect(notes).toEqual([]);
  });

  test('is answered with one line for what is not there, what leads out, and what is no such file', () => {
    const { files, notes } = plugin({
      agents: ['./nope', './nope.md', './other/notes.txt', '../outside', './out', './out/x.md'],
      skills: ['./kit/lint/more.md', './kit'],
      commands: './',
    });
    expect(files('agents')).toEqual(['agents/usual.md']);
    expect(files('skills')).toEqual(['kit/lint/SKILL.md']);
    expect(notes).toEqual([
      'PLUGIN: agents: ./nope, ./nope.md: not there: left out',
      'PLUGIN: agents: ./other/notes.txt: no folder and no file ending in .md, .yaml or .yml: left out',
      'PLUGIN: agents: ../outside, ./out, ./out/x.md: leads out of it: left out',
      'PLUGIN: skills: ./kit/lint/more.md: no folder and no SKILL.md: left out',
      'PLUGIN: commands: ./: the plugin itself, name a folder in it: left out',
    ]);
  });

  test('is answered with a few names, however many are wrong', () => {
    const { notes } = plugin({ agents: Array.from({ length: 40 }, (_, at) => `./no-${at}`) });
    expect(notes).toEqual([
      'PLUGIN: agents: ./no-0, ./no-1, ./no-2, ./no-3, ./no-4 and 35 more: not there: left out',
    ]);
  });
});

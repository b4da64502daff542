import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { callerOf } from '../calls/caller.ts';
import { readSettingsInDetail } from '../calls/settings-report.ts';
import { checkExtensions } from '../doctor/extension-checks.ts';
import { tool } from '../own-tools/tool.ts';
import { findPlace } from '../place.ts';
import { openSession } from '../session/session.ts';
import type { SessionOptions } from '../session-options.ts';

/** What a trusted folder with these files gets to hear. */
async function heard(files: Record<string, string>, options: SessionOptions = {}) {
  const base = temporaryDirectory();
  const cwd = join(base, 'work');
  writeFiles(cwd, files);
  const env = {
    HOME: join(base, 'user'),
    RAMET_HOME: join(base, 'home'),
    RAMET_TRUST: '1',
    PATH: process.env.PATH,
  };
  const caller = callerOf({ cwd, env });
  const settings = await readSettingsInDetail({ cwd, env });
  const { state, found } = await checkExtensions({ caller, place: findPlace(caller) });
  await using session = await openSession({ cwd, env, provider: scriptedModel(), ...options });
  const short = (text: string): string => text.replaceAll(cwd, 'WORK');
  const rows = (list: typeof settings.unusedExtensions): string[] =>
    list.map(({ what, source, why }) => short(`${what} | ${source} | ${why}`));
  return {
    unused: rows(settings.unusedExtensions),
    flawed: rows(settings.flawedExtensions),
    inactive: rows(settings.inactiveFields),
    problems: settings.problems.map(short),
    doctor: `${state}: ${short(found)}`,
    start: session.notices.map(short),
  };
}

const skill = (fields: string): string => `---\nname: look\ndescription: d\n${fields}\n---\nDo it.\n`;
const CANNOT =
  'cannot be read: write a tool, as in Bash, or a tool and what it may do, as in Bash(npm test:*)';

describe('EXT-3: rules of skills and commands that cannot be read', () => {
  test('are named where one refuses something: it is not carried out', async () => {
    const said = await heard({ '.claude/skills/look/SKILL.md': skill('disallowed-tools: Bash(touch') });
    const why = `"Bash(touch" ${CANNOT}: it is not carried out without that limit`;
    expect(said.unused).toEqual([`disallowed-tools | WORK/.claude/skills/look/SKILL.md | ${why}`]);
    expect(said.doctor).toContain(`not in use: WORK/.claude/skills/look/SKILL.md: ${why}`);
    expect(said.start).toContain('1 skill or command that cannot be used: ramet settings says why');
  });

  test('are named where one allows something: it is carried out, with more questions', async () => {
    const said = await heard({
      '.claude/commands/bad.md': '---\nallowed-tools: "Bash(echo:*"\n---\nDo it.\n',
    });
    const why = `"Bash(echo:*" ${CANNOT}`;
    expect(said.flawed).toEqual([`allowed-tools | WORK/.claude/commands/bad.md | ${why}`]);
    expect(said.doctor).toContain(`in use, with a mistake: WORK/.claude/commands/bad.md: ${why}`);
    expect(said.start).toContain(
      '1 skill or command with allowed-tools that cannot be read: ramet settings says why',
    );
  });

  test('a tool that another program has is a field without effect, where it is allowed', async () => {
    const said = await heard({
      '.claude/skills/look/SKILL.md': skill('allowed-tools: AskUserQuestion, Read'),
      '.claude/commands/two.md': '---\nallowed-tools: AskUserQuestion\n---\nDo it.\n',
    });
    expect([said.unused, said.flawed, said.start]).toEqual([[], [], []]);
    expect(said.inactive).toEqual([
      'allowed-tools | WORK/.claude/skills/look/SKILL.md and 1 more | there is no tool AskUserQuestion',
    ]);
    expect(said.doctor).toMatch(/^ok: .*without effect: allowed-tools/);
  });

  test('a tool that only this session has is no mistake', async () => {
    const deploy = tool({
      name: 'deploy',
      description: 'd',
      inputSchema: { type: 'object' },
      run: () => 'done',
    });
    const files = { '.claude/skills/look/SKILL.md': skill('disallowed-tools: deploy') };
    expect((await heard(files)).start).toHaveLength(1);
    expect((await heard(files, { tools: [deploy] })).start).toEqual([]);
  });
});

describe('ECO-1, UI-1: instructions that cannot be read as they are written', () => {
  test('are named by settings, doctor and a session', async () => {
    const said = await heard({ '.claude/rules/deep/r.md': '---\npaths: [5, {a: b}]\n---\nTabs.\n' });
    const line =
      'WORK/.claude/rules/deep/r.md:2: paths is no list of paths: write paths: ["src/**/*.ts"]; the rule counts for all files';
    expect(said.problems).toEqual([line]);
    expect(said.doctor).toContain(line);
    expect(said.start).toEqual([line]);
  });
});

describe('EXT-3: a plugin whose manifest names what is not there', () => {
  test('is named by settings, doctor and a session', async () => {
    const said = await heard({
      '.ramet/settings.json': '{"plugins": ["plug"]}',
      'plug/.claude-plugin/plugin.json': '{"name": "plug", "commands": ["./nope"]}',
    });
    const line = 'WORK/plug: commands: ./nope: not there: left out';
    expect(said.unused).toEqual([`plugin | WORK/plug | ${line}`]);
    expect(said.doctor).toContain(line);
    expect(said.start).toEqual([line]);
  });
});

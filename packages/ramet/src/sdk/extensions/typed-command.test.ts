import { describe, expect, test } from 'vitest';
import { drain } from '../../../test/fixtures/engine.ts';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { changeTrust } from '../calls/trust.ts';
import { openSession } from '../session/session.ts';

const FILES = {
  '.claude/skills/s/SKILL.md': '---\nname: s\ndescription: d\n---\nDo it.\n',
  '.claude/commands/group/c.md': 'Do it.\n',
};

describe('SEC-1, EXT-3: a skill or command of a repository that is typed and not in use', () => {
  test.for(['s', 'S', 'group:c', 'c'])('/%s that changed since trust is named as that', async (name) => {
    const cwd = temporaryRepository(FILES);
    const home = temporaryDirectory();
    const here = { cwd, env: { PATH: process.env.PATH, HOME: home, RAMET_HOME: home } };
    changeTrust('trust', here);
    writeFiles(cwd, Object.fromEntries(Object.keys(FILES).map((path) => [path, 'Do something else.\n'])));
    writeFiles(cwd, {
      '.claude/skills/s/SKILL.md': FILES['.claude/skills/s/SKILL.md'].replace('it', 'else'),
    });
    await using session = await openSession({ ...here, provider: scriptedModel({ text: 'Done.' }) });
    const asked = drain(session.run(`/${name}`, { commands: true }));
    await expect(asked).rejects.toThrow(
      /^\/(s|group:c) was not begun: \S+\.md: it is not what you trusted: ramet trust --show shows the difference$/,
    );
  });

  test.for(['s', 'S', 'c'])('/%s of a folder without trust is named as that', async (name) => {
    const cwd = temporaryRepository(FILES);
    const home = temporaryDirectory();
    const env = { PATH: process.env.PATH, HOME: home, RAMET_HOME: home };
    await using session = await openSession({ cwd, env, provider: scriptedModel({ text: 'Done.' }) });
    const asked = drain(session.run(`/${name}`, { commands: true, typed: true }));
    await expect(asked).rejects.toThrow(/^\/(s|group:c) is of this repository, which is not trusted/);
  });
});

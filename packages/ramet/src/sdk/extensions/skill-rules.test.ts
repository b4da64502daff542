import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import { type ScriptedStep, scriptedModel } from '../../testing/scripted-model.ts';
import { openSession, type Session } from '../session/session.ts';
import type { SessionOptions } from '../session-options.ts';

const touch = (...names: string[]) => ({
  calls: names.map((name) => ({ name: 'Bash', input: { command: `touch ${name}` } })),
});
const skill = (name: string) => ({ calls: [{ name: 'Skill', input: { skill: name } }] });

/** A user with skills, each with these fields; in the widest mode unless told otherwise. */
function user(skills: Record<string, string>) {
  const base = temporaryDirectory();
  const cwd = temporaryRepository();
  for (const [name, fields] of Object.entries(skills))
    writeFiles(base, {
      [`.claude/skills/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: d\n${fields}\n---\nDo it.\n`,
    });
  const env = { RAMET_HOME: join(base, 'ramet'), HOME: base, PATH: process.env.PATH };
  const open = async (steps: ScriptedStep[], options: SessionOptions = {}): Promise<Session> => {
    const provider = scriptedModel(...steps);
    const session = await openSession({
      ...{ cwd, env, provider, permissionMode: 'bypassPermissions' },
      ...options,
    });
    onTestFinished(() => session.close());
    return session;
  };
  const made = (...names: string[]) => names.filter((name) => existsSync(join(cwd, name)));
  return { open, made };
}

const FORBIDS = 'disallowed-tools: Bash(touch early*)';

describe('EXT-3: the rules of a skill that another agent carries out', () => {
  test.each(['in-process', 'process'] as const)(
    'hold for it, and not for the one that asked: %s',
    async (executor) => {
      const { open, made } = user({ look: `context: fork\n${FORBIDS}` });
      const steps = [
        ...[skill('look'), touch('early-other', 'late-other'), { text: 'carried out' }],
        ...[touch('early-own'), { text: 'done' }],
      ];
      const session = await open(steps, { agents: { executor } });
      expect((await session.ask('Go.')).text).toBe('done');
      expect(made('early-other', 'late-other', 'early-own')).toEqual(['late-other', 'early-own']);
    },
  );

  test('spare it questions, and the one that asked for it none', async () => {
    const { open, made } = user({ look: 'context: fork\nallowed-tools: Bash(touch:*)' });
    const steps = [
      ...[skill('look'), touch('of-other'), { text: 'carried out' }],
      ...[touch('of-own'), { text: 'done' }],
    ];
    const session = await open(steps, { permissionMode: 'default', canUseTool: () => false });
    await session.ask('Go.');
    expect(made('of-other', 'of-own')).toEqual(['of-other']);
  });
});

describe('EXT-3: what a skill refuses', () => {
  const task = { description: 'help', prompt: 'Help.', subagent_type: 'general-purpose' };

  test('it refuses to the agents that carry it out together with the first, a fork too', async () => {
    for (const more of [{}, { subagent_type: undefined }]) {
      const { open, made } = user({ look: FORBIDS });
      const session = await open([
        skill('look'),
        { calls: [{ name: 'Agent', input: { ...task, ...more } }] },
        touch('early-child', 'late-child'),
        { text: 'helped' },
        { text: 'done' },
      ]);
      expect((await session.ask('Go.')).text).toBe('done');
      expect(made('early-child', 'late-child')).toEqual(['late-child']);
    }
  });

  test.each([
    ['which the model loads', 'Go.', [skill('look')]],
    ['which a person types', '/look', []],
  ])(
    'of a skill %s it refuses after an interruption too, until the next prompt',
    async (_, prompt, first) => {
      const { open, made } = user({ look: FORBIDS });
      const stop = new AbortController();
      const hanging: ScriptedStep = () => {
        stop.abort();
        return 'hang';
      };
      const session = await open([...first, hanging]);
      for await (const _event of session.run(prompt, { commands: true, typed: true, signal: stop.signal }));
      await session.close();
      const again = await open(
        [touch('early-again'), { text: 'stopped' }, touch('early-next'), { text: 'done' }],
        { resume: 'latest' },
      );
      expect(again.isInterrupted).toBe(true);
      for await (const _event of again.run(null));
      expect(made('early-again')).toEqual([]);
      await again.ask('Something else.');
      expect(made('early-next')).toEqual(['early-next']);
    },
  );
});

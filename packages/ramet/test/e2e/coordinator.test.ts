/** A coordinator with real processes: flags and the environment, a kill in each phase, what views show, what caches hold. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import type { RequestView } from '../../src/emulator/request-view.ts';
import { COORDINATOR_PHASES, type CoordinatorPhase } from '../../src/schema/status.ts';
import { eventually, linesOf } from '../fixtures/command.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { test, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];

type Request = NonNullable<Emulator['requests'][number]['request']>;
type Script = readonly (Answer | 'never')[];

const call = (name: string, input: Record<string, unknown>) => ({ name, input });
const uses = (...tool_use: ReturnType<typeof call>[]): Answer => ({ tool_use });
const add = (name: string) =>
  call('Agent', { name, description: name, prompt: `You are ${name}. Look at README.md and \`main\`.` });
const phase = (to: string) => uses(call('Phase', { to, note: 'README.md: write `bob`' }));

const LEAD: readonly Answer[] = [
  uses(add('ada')),
  { text: 'I started ada.' },
  phase('synthesis'),
  phase('implementation'),
  uses(add('bob')),
  { text: 'I started bob.' },
  phase('verification'),
  uses(add('eve')),
  { text: 'I started eve.' },
  { text: 'Proved.' },
];

/** Every worker tries to write; what its phase allows decides. */
const worker = (name: string): Script => [
  uses(call('Write', { file_path: `${name}.txt`, content: name })),
  { text: `Report of ${name}.` },
];

const SCRIPTS: Readonly<Record<string, Script>> = {
  lead: LEAD,
  ada: worker('ada'),
  bob: worker('bob'),
  eve: worker('eve'),
};

function whoAsks({ messages }: Pick<Request, 'messages'>): string {
  return /You are (\w+)\. /.exec(JSON.stringify(messages[0]))?.[1] ?? 'lead';
}

/** Answers of each agent by turn; `never` waits until the emulator is closed. */
async function play(user: User, scripts: Readonly<Record<string, Script>>): Promise<Emulator> {
  const over = Promise.withResolvers<Answer>();
  const respond = (view: RequestView): Answer | Promise<Answer> => {
    const answer = scripts[whoAsks(view.request)]?.[view.turn] ?? { text: 'Done.' };
    return answer === 'never' ? over.promise : answer;
  };
  const emulator = await user.emulate({ respond });
  const { close } = emulator;
  return Object.assign(emulator, {
    close: () => {
      over.resolve({ text: 'over' });
      return close();
    },
  });
}

function asked(emulator: Emulator, name: string): Emulator['requests'] {
  return emulator.requests.filter(({ request }) => request && whoAsks(request) === name);
}

function withoutSandbox(user: User): void {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
}

async function phaseNow(user: User): Promise<string> {
  const [main] = JSON.parse((await user.ramet(['ps', '--json'])).stdout);
  return main.phase;
}

const toolsOf = (request: Emulator['requests'][number] | undefined): string[] =>
  request?.request?.tools?.map(({ name }) => name) ?? [];

/** Who asks when the process is killed, and with which of its turns. */
const KILLED: Readonly<Record<CoordinatorPhase, [who: string, turn: number]>> = {
  research: ['ada', 0],
  synthesis: ['lead', 3],
  implementation: ['bob', 0],
  verification: ['eve', 0],
};

describe.concurrent('COORD-1: a coordinator that is killed', () => {
  for (const killed of COORDINATOR_PHASES)
    test(`in ${killed} resumes in that phase, with its rules and its workers' tools`, async ({ user }) => {
      withoutSandbox(user);
      const [who, turn] = KILLED[killed];
      const stuck = SCRIPTS[who]?.slice(0, turn) ?? [];
      const first = await play(user, { ...SCRIPTS, [who]: [...stuck, 'never'] });
      const running = user.start(['-p', 'Go.', '--coordinator', ...BYPASS]);
      await eventually(() => asked(first, who).length === turn + 1);
      // What the answer before it did is on record.
      while ((await phaseNow(user)) !== killed);
      running.kill('SIGKILL');
      await running.ended;
      expect(await phaseNow(user)).toBe(killed);
      const second = await play(user, SCRIPTS);
      // No flag and no variable: the session is what it was.
      expect(await user.here(['resume'])).toMatchObject({ code: 0, stdout: 'Proved.\n' });
      expect(await phaseNow(user)).toBe('verification');
      const written = ['ada', 'bob', 'eve'].filter((name) =>
        existsSync(join(user.repository, `${name}.txt`)),
      );
      expect(written).toEqual(['bob']);
      const events = linesOf((await user.here(['logs', '--json'])).stdout).map((line) => JSON.parse(line));
      const changes = events.filter(({ type }) => type === 'phase.changed');
      expect(changes.map(({ to }) => to)).toEqual([...COORDINATOR_PHASES]);
      expect(toolsOf(asked(second, 'lead').at(-1))).not.toContain('Write');
      if (who !== 'lead') {
        expect(toolsOf(asked(second, who)[0])).toEqual(toolsOf(asked(first, who)[0]));
        expect(toolsOf(asked(second, who)[0])).toContain('Write');
      }
    });
});

describe.concurrent('COORD-1: turning it on', () => {
  test('RAMET_COORDINATOR_MODE=1 does what --coordinator does, and another value is a mistake', async ({
    user,
  }) => {
    const emulator = await play(user, {});
    const mode = (value: string) => ({ env: { RAMET_COORDINATOR_MODE: value } });
    expect(await user.here(['-p', 'Go.'], mode('1'))).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(toolsOf(emulator.requests[0])).toContain('Phase');
    expect(await user.here(['-p', 'Go.'], mode('maybe'))).toMatchObject({
      code: 2,
      stderr: 'ramet: RAMET_COORDINATOR_MODE is "maybe": set it to 1 or 0\n',
    });
    for (const value of ['0', ''])
      expect(await user.here(['-p', 'Go.'], mode(value))).toMatchObject({ code: 0 });
    expect(emulator.requests.slice(1).flatMap(toolsOf)).not.toContain('Phase');
    // A session that is resumed keeps what it is, whatever the environment says.
    expect(await user.here(['-p', 'More.', '--continue'], mode('1'))).toMatchObject({ code: 0 });
    expect(toolsOf(emulator.requests.at(-1))).not.toContain('Phase');
  });

  test('a coordinator leads no team, watches no run, and is for new sessions', async ({ user }) => {
    await play(user, {});
    const team = await user.here(['-p', 'Go.', '--coordinator', '--team', 'crew']);
    expect(team).toMatchObject({ code: 2 });
    expect(team.stderr).toContain("'--coordinator' cannot be used with option '--team [name]'");
    const both = await user.here(['-p', 'Go.', '--team', 'crew'], { env: { RAMET_COORDINATOR_MODE: '1' } });
    expect(both).toMatchObject({ code: 2 });
    expect(both.stderr).toContain('led by a coordinator or leads a team');
    const operate = await user.here(['operate', 'tasks.md', '--coordinator']);
    expect(operate).toMatchObject({ code: 2 });
    expect(operate.stderr).toContain("unknown option '--coordinator'");
    const bare = await user.here(['-p', 'Go.', '--coordinator', '--tools', 'Read']);
    expect(bare).toMatchObject({ code: 2 });
    expect(bare.stderr).toContain('a coordinator needs the tool Agent');
    expect((await user.here(['ps', '--json'])).stdout).toBe('[]\n');
  });
});

describe.concurrent('COORD-1: what is seen of it', () => {
  test('show, ps and logs tell the phase, and workers share a prefix', async ({ user }) => {
    withoutSandbox(user);
    const emulator = await play(user, {
      ...SCRIPTS,
      lead: [uses(add('ada')), { text: 'I started ada.' }, uses(add('cid')), ...LEAD.slice(1)],
    });
    const end = await user.here(['-p', 'Go.', '--coordinator', ...BYPASS]);
    expect(end).toMatchObject({ code: 0, stdout: 'Proved.\n' });
    expect(linesOf(end.stderr)).toEqual([
      expect.stringContaining('ada.txt: Write is refused: the coordinator is in its research phase'),
      expect.stringContaining('eve.txt: Write is refused: the coordinator is in its verification phase'),
    ]);
    expect((await user.here(['show'])).stdout).toContain('\nphase: verification\n');
    expect((await user.here(['ps'])).stdout).toContain('phase verification');
    const { stdout } = await user.here(['logs']);
    expect(stdout).toContain('phase implementation: README.md: write `bob`');
    expect(stdout).toMatch(/agent started: general-purpose eve .*, for verification$/m);
    const usage = (name: string): number =>
      asked(emulator, name)[0]?.usage?.cache_read_input_tokens ?? Number.NaN;
    const total = (name: string): number => {
      const { input_tokens = 0, cache_creation_input_tokens: written = 0 } =
        asked(emulator, name)[0]?.usage ?? {};
      return input_tokens + (written ?? 0) + usage(name);
    };
    // Their lists of tools differ from the coordinator's, so the first worker reads nothing of it.
    expect(usage('ada')).toBe(0);
    for (const name of ['cid', 'bob', 'eve']) {
      console.log(`first request of ${name}: ${usage(name)} of ${total(name)} tokens read from the cache`);
      expect(usage(name) / total(name)).toBeGreaterThan(0.8);
    }
  });
});

describe.concurrent('COORD-1: on a terminal', () => {
  test('the row below the input has the phase, and /resume opens a session without a coordinator', async ({
    user,
  }) => {
    await play(user, { lead: [phase('synthesis'), { text: 'I know enough.' }] });
    expect(await user.here(['-p', 'Plain.'])).toMatchObject({ code: 0 });
    const [plain = ''] = user.sessions();
    await using terminal = startOnTerminal(user, ['--coordinator', ...BYPASS]);
    await terminal.shows(/^>/m);
    terminal.type('Go.\r');
    await terminal.shows(/I know enough\.(.*\n)*.*bypassPermissions · synthesis · /);
    terminal.type(`/resume ${plain}\r`);
    await terminal.shows(`resumed session ${plain}`);
    terminal.type('\u0004');
    expect(await terminal.ended).toBe(0);
  });
});

import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { sessionPath } from '../../src/journal/session-file.ts';
import { linesOf } from '../fixtures/command.ts';
import { requestsTaken, test } from '../fixtures/user.ts';

describe.concurrent('LOG-1: a damaged session', () => {
  test('is read but for what is damaged, and resumed once it is repaired', async ({ user }) => {
    const emulator = await user.emulate({ scenario: { rules: [{ respond: { text: 'Well done.' } }] } });
    await user.ramet(['-p', 'one']);
    await user.here(['-p', 'two', '--continue']);
    const [session = ''] = user.sessions();
    const file = sessionPath(user.project, session);
    const bytes = readFileSync(file);
    // The second response: its stop reason is another.
    bytes.write('end_tu##', bytes.lastIndexOf('end_turn'));
    writeFileSync(file, bytes);

    const shown = await user.here(['show', session]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('Well done.') });
    expect(linesOf(shown.stderr)).toEqual([
      expect.stringMatching(
        /^ramet: session \w+ is damaged: event \d+ cannot be read and is left out here; save the rest with: ramet doctor --repair \w+$/,
      ),
    ]);
    const looked = await user.here(['doctor']);
    expect(looked.stdout).toMatch(
      new RegExp(`^--  sessions +damaged: ${session}\\n +-> run ramet doctor --repair ${session}$`, 'm'),
    );
    const asked = emulator.requests.length;
    const refused = await user.here(['-p', 'three', '--resume', session]);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(linesOf(refused.stderr)).toEqual([expect.stringContaining('cannot be resumed as it is: event')]);
    expect(emulator.requests).toHaveLength(asked);

    const repaired = await user.here(['doctor', '--repair', session.slice(0, 5)]);
    expect(repaired).toMatchObject({ code: 0, stderr: '' });
    const [first, ...rest] = linesOf(repaired.stdout);
    expect(first).toMatch(new RegExp(`^session ${session} is repaired: .* are saved; lost: event \\d+$`));
    expect(rest.at(-1)).toMatch(/^check the files before you resume/);
    expect(rest).toContain(`the damaged file is kept as ${file}.damaged`);

    const resumed = await user.here(['-p', 'three', '--resume', session]);
    expect(resumed).toMatchObject({ code: 0, stdout: 'Well done.\n' });
    expect(linesOf(resumed.stderr)).toEqual([
      expect.stringMatching(/was repaired, and event \d+ could not be saved: .*check the files/),
    ]);
    expect(JSON.stringify(emulator.requests.at(-1)?.request?.messages)).toContain(
      'done more than you remember',
    );
    expect((await user.here(['doctor', '--repair', session])).stdout).toMatch(/ is whole: /);
    expect((await user.here(['doctor'])).stdout).toMatch(/^ok {2}sessions +1 can be read whole$/m);
  });

  test('of which only the WAL is left is resumed with a prompt, and its bill stays whole', async ({
    user,
  }) => {
    let isAway = true;
    const emulator = await user.emulate({
      respond: ({ turn }) =>
        turn < 2 && isAway
          ? { tool_use: [{ name: 'Bash', input: { command: 'echo hello' } }] }
          : { text: 'Well done.' },
      fault: ({ turn }) => (isAway && turn === 2 ? { kind: 'stall', at: 'headers' } : undefined),
    });
    const running = user.start(['-p', 'one']);
    await requestsTaken(emulator, 3);
    running.kill('SIGKILL');
    await running.ended;
    isAway = false;
    const [session = ''] = user.sessions();
    truncateSync(sessionPath(user.project, session), 0);
    expect((await user.here(['doctor', '--repair', session])).code).toBe(0);
    expect(await user.here(['resume', session])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /blocks could not be saved: .*\nramet: the conversation of the main agent is lost: give it a prompt with: ramet -p --resume \w+ "PROMPT"\n$/,
      ),
    });
    expect(await user.here(['-p', '--resume', session, 'two'])).toMatchObject({
      code: 0,
      stdout: 'Well done.\n',
      stderr: '',
    });
    const said = JSON.stringify(emulator.requests.at(-1)?.request?.messages);
    expect(said).toContain(`Working directory: ${user.repository}`);
    expect(said).toContain('you and your agents have done more than you remember');
    const { total } = JSON.parse((await user.here(['cost', '--json'])).stdout);
    expect(total).toMatchObject({ requests: 4, responses: 3 });
    const shown = await user.here(['show', session]);
    expect(shown.stdout).toContain(`session ${session} in ${user.repository}, started`);
  });
});

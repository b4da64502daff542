/** A session with a coordinator, with real files and the emulator: a model that breaks each rule is held to it. */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Emulator, playedPlace, type Respond, type View } from '../../../test/fixtures/played-place.ts';
import { asked, call, play, prompt, tell, uses, whoAsks } from '../../../test/fixtures/team-session.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import type { JournalEvent } from '../../schema/events.ts';
import type { SessionOptions } from '../index.ts';
import { tool } from '../own-tools/tool.ts';
import { openSession } from './session.ts';

interface CoordinatorPlace {
  emulator: Emulator;
  options: SessionOptions;
  events: JournalEvent[];
}

async function newPlace(respond: Respond, more: Partial<SessionOptions> = {}): Promise<CoordinatorPlace> {
  const files = { 'src/a.ts': 'export const a = 1;\n', 'src/b.ts': 'export const b = 2;\n' };
  const place = await playedPlace(respond, files);
  const { emulator } = place;
  const events: JournalEvent[] = [];
  const onRecord: SessionOptions['onRecord'] = (_, event) => events.push(event);
  const options: SessionOptions = { ...place.options, coordinator: true, onRecord, ...more };
  return { emulator, options, events };
}

const NO_INPUT = { type: 'object', properties: {} } as const;

const add = (name: string, task = 'Look at src/a.ts.', more: Record<string, unknown> = {}) =>
  call('Agent', { name, description: name, prompt: `You are ${name}. ${task}`, ...more });
const phase = (to: string, note = 'src/a.ts: change `a` to 2') => call('Phase', { to, note });
const SYNTHESIS = uses(phase('synthesis', 'a is 1 in src/a.ts:1'));
const IMPLEMENTATION = uses(phase('implementation'));
const VERIFICATION = uses(phase('verification', 'a is 2'));

/** What the agent read with its request number `turn`. */
function told(emulator: Emulator, name: string, turn: number): string {
  return JSON.stringify(asked(emulator, name)[turn]?.messages.at(-1));
}

const toolsOf = (request: View['request'] | undefined): string[] =>
  request?.tools?.map(({ name }) => name) ?? [];

describe('COORD-1: the coordinator and its workers', () => {
  test('the coordinator has no tool that writes, and workers have theirs without those of the coordinator', async () => {
    const { emulator, options } = await newPlace(
      play({ lead: [uses(add('ada'), add('eve', 'Look.', { subagent_type: 'Explore' }))] }),
    );
    await using session = await openSession(options);
    await prompt(session);
    const [lead] = asked(emulator, 'lead');
    expect(toolsOf(lead)).toEqual([
      ...['Read', 'Glob', 'Grep', 'TaskOutput', 'TaskStop', 'TodoWrite', 'Agent', 'SendMessage'],
      ...['EnterWorktree', 'ExitWorktree', 'Phase', 'Scratchpad'],
    ]);
    expect(session.tools).toEqual(toolsOf(lead));
    const ada = toolsOf(asked(emulator, 'ada')[0]);
    expect(ada).toEqual([
      ...['Read', 'Write', 'Edit', 'Glob', 'Grep', 'Bash', 'TaskOutput', 'TaskStop', 'TodoWrite', 'WebFetch'],
      ...['EnterWorktree', 'ExitWorktree', 'Scratchpad'],
    ]);
    expect(toolsOf(asked(emulator, 'eve')[0])).toEqual(['Read', 'Glob', 'Grep', 'Bash', 'WebFetch']);
    const opening = JSON.stringify(lead?.messages[0]);
    expect(opening).toContain(`- general-purpose: ${ada.join(', ')}`);
    expect(opening).toContain(`At most ${availableParallelism()} workers work at once`);
    expect(opening).toContain(`Scratchpad: ${session.coordinator?.scratchpad}`);
    expect(JSON.stringify(lead?.system)).toContain('The four phases');
  });

  test('of the tools of a program the coordinator has those that read, and workers have all', async () => {
    const own = (name: string, access: 'read' | 'write') =>
      tool({ name, description: name, inputSchema: NO_INPUT, access, run: () => name });
    const { emulator, options } = await newPlace(play({ lead: [uses(call('put', {}), add('ada'))] }), {
      tools: [own('look', 'read'), own('put', 'write')],
    });
    await using session = await openSession(options);
    await prompt(session);
    const [lead, ada] = [toolsOf(asked(emulator, 'lead')[0]), toolsOf(asked(emulator, 'ada')[0])];
    expect([lead.includes('look'), lead.includes('put')]).toEqual([true, false]);
    expect([ada.includes('look'), ada.includes('put')]).toEqual([true, true]);
    expect(told(emulator, 'lead', 1)).toContain('there is no tool \\"put\\"');
  });

  test('a call of a tool that the coordinator does not have changes nothing', async () => {
    const { emulator, options } = await newPlace(
      play({
        lead: [
          uses(call('Write', { file_path: 'x.txt', content: 'x' }), call('Bash', { command: 'touch x.txt' })),
        ],
      }),
    );
    await using session = await openSession(options);
    await prompt(session);
    expect(told(emulator, 'lead', 1)).toContain('there is no tool \\"Write\\"');
    expect(told(emulator, 'lead', 1)).toContain('there is no tool \\"Bash\\"');
    expect(existsSync(join(String(options.cwd), 'x.txt'))).toBe(false);
  });

  test('as many workers work at once as there are cores, unless settings say otherwise', async () => {
    const { emulator, options } = await newPlace(play({}));
    const { settings: _, ...fromFiles } = options;
    const opening = async (): Promise<string> => {
      await using session = await openSession(fromFiles);
      await prompt(session);
      return JSON.stringify(asked(emulator, 'lead').at(-1)?.messages[0]);
    };
    expect(await opening()).toContain(`At most ${availableParallelism()} workers work at once`);
    const home = String(options.env?.RAMET_HOME);
    writeFileSync(join(home, 'settings.json'), JSON.stringify({ agents: { concurrent: 20 } }));
    expect(await opening()).toContain('At most 20 workers work at once');
  });

  test('no more workers work at once than are set; the rest wait', async () => {
    let [now, most] = [0, 0];
    const both = Promise.withResolvers<void>();
    const names = ['w1', 'w2', 'w3', 'w4', 'w5'];
    const { options } = await newPlace(
      async (view) => {
        if (whoAsks(view) === 'lead')
          return view.turn === 0 ? uses(...names.map((name) => add(name))) : { text: 'Done.' };
        now += 1;
        most = Math.max(most, now);
        if (now === 2) both.resolve();
        await both.promise;
        await new Promise(setImmediate);
        now -= 1;
        return { text: 'Found.' };
      },
      { agents: { concurrent: 2 }, launch: 'parallel' },
    );
    await using session = await openSession(options);
    await prompt(session);
    expect(most).toBe(2);
  });

  test('workers are blind to each other: no message, no look, no agents of their own', async () => {
    const { emulator, options } = await newPlace(
      play({
        lead: [uses(add('ada'), add('bob'))],
        ada: [uses(tell('bob', 'Hello.'), add('eve'), call('TaskOutput', { task_id: 'bob', block: false }))],
      }),
    );
    await using session = await openSession(options);
    await prompt(session);
    const read = told(emulator, 'ada', 1);
    expect(read).toContain('there is no tool \\"SendMessage\\"');
    expect(read).toContain('there is no tool \\"Agent\\"');
    expect(read).not.toContain('is running');
    expect(asked(emulator, 'eve')).toHaveLength(0);
    expect(JSON.stringify(asked(emulator, 'bob'))).not.toContain('Hello.');
  });

  test('AGENT-2: a coordinator does not fork', async () => {
    const { emulator, options } = await newPlace(
      play({ lead: [uses(add('ada', 'Look.', { subagent_type: 'fork' }), add('bob'))] }),
    );
    await using session = await openSession(options);
    await prompt(session);
    expect(told(emulator, 'lead', 1)).toContain('A coordinator does not fork');
    expect(asked(emulator, 'ada')).toHaveLength(0);
    // What has no type is a worker that knows its prompt alone.
    expect(asked(emulator, 'bob')[0]?.messages).toHaveLength(1);
    expect(JSON.stringify(asked(emulator, 'lead')[0]?.tools)).not.toContain('it is a fork');
  });

  test('both write to the scratchpad and nowhere else with it', async () => {
    const { emulator, options } = await newPlace(
      play({
        lead: [
          uses(
            call('Scratchpad', { file: 'plan.md', text: 'one\n' }),
            call('Scratchpad', { file: 'plan.md', text: 'two\n', append: true }),
            call('Scratchpad', { file: '../out.md', text: 'x' }),
            call('Scratchpad', { file: 'link/out.md', text: 'x' }),
            add('ada'),
          ),
        ],
        ada: [uses(call('Scratchpad', { file: 'found/a.md', text: 'ada' }))],
      }),
    );
    await using session = await openSession(options);
    const pad = String(session.coordinator?.scratchpad);
    const outside = temporaryDirectory();
    symlinkSync(outside, join(pad, 'link'));
    await prompt(session);
    expect(readFileSync(join(pad, 'plan.md'), 'utf8')).toBe('one\ntwo\n');
    expect(readFileSync(join(pad, 'found/a.md'), 'utf8')).toBe('ada');
    const read = told(emulator, 'lead', 1);
    expect(read).toContain('\\"../out.md\\" cannot be the name');
    expect(read).toContain('link/out.md leads out of the scratchpad');
    expect(existsSync(join(outside, 'out.md'))).toBe(false);
  });
});

describe('COORD-1, COORD-2: phases', () => {
  test('the four phases in order, each on record, with a verified end', async () => {
    const { emulator, options, events } = await newPlace(
      play({
        lead: [
          uses(add('ada')),
          { text: 'I started ada.' },
          SYNTHESIS,
          IMPLEMENTATION,
          uses(add('bob', 'In src/a.ts set `a` to 2.')),
          { text: 'I started bob.' },
          VERIFICATION,
          uses(add('eve', 'Run node -e and prove it.')),
          { text: 'I started eve.' },
          { text: 'a is 2, and eve has proved it.' },
        ],
        bob: [uses(call('Bash', { command: "sed -i 's/1/2/' src/a.ts" }))],
      }),
    );
    await using session = await openSession(options);
    expect(session.coordinator?.phase).toBe('research');
    expect(await prompt(session)).toBe('a is 2, and eve has proved it.');
    expect(session.coordinator?.phase).toBe('verification');
    expect(readFileSync(join(String(options.cwd), 'src/a.ts'), 'utf8')).toBe('export const a = 2;\n');
    const changes = events.flatMap((event) =>
      event.type === 'phase.changed' ? [[event.from, event.to]] : [],
    );
    expect(changes).toEqual([
      [null, 'research'],
      ['research', 'synthesis'],
      ['synthesis', 'implementation'],
      ['implementation', 'verification'],
    ]);
    expect(events.filter(({ type }) => type === 'coordination.refused')).toEqual([]);
    expect(told(emulator, 'bob', 0)).toContain('The coordinator is in its implementation phase');
  });

  test('research: workers change no file, whatever the mode allows, but the scratchpad', async () => {
    const { emulator, options } = await newPlace(({ request, turn }) => {
      const pad = /Files that all may read and write are in (\S+?):/.exec(
        JSON.stringify(request.messages[0]),
      )?.[1];
      if (whoAsks({ request }) === 'lead') return turn === 0 ? uses(add('ada')) : { text: 'Done.' };
      return turn > 0
        ? { text: 'Found.' }
        : uses(
            call('Write', { file_path: 'x.txt', content: 'x' }),
            call('Bash', { command: 'touch y.txt' }),
            call('Bash', { command: 'cat src/a.ts' }),
            call('Write', { file_path: `${pad}/notes.md`, content: 'note' }),
          );
    });
    await using session = await openSession(options);
    await prompt(session);
    const read = told(emulator, 'ada', 1);
    expect(read).toContain('Write is refused: the coordinator is in its research phase');
    expect(read).toContain('export const a = 1;');
    for (const name of ['x.txt', 'y.txt']) expect(existsSync(join(String(options.cwd), name))).toBe(false);
    expect(readFileSync(join(String(session.coordinator?.scratchpad), 'notes.md'), 'utf8')).toBe('note');
  });

  test('synthesis: no worker is started or continued', async () => {
    const { emulator, options } = await newPlace(
      play({
        lead: [
          uses(add('ada')),
          { text: 'I started ada.' },
          SYNTHESIS,
          uses(add('bob'), tell('ada', 'More.')),
        ],
      }),
    );
    await using session = await openSession(options);
    await prompt(session);
    expect(told(emulator, 'lead', 4).match(/In synthesis you work alone/g)).toHaveLength(2);
    expect(asked(emulator, 'bob')).toHaveLength(0);
    expect(asked(emulator, 'ada')).toHaveLength(1);
  });

  test('a phase is not left while a worker has not reported, and no phase is skipped', async () => {
    let release = (): void => {};
    const free = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { emulator, options } = await newPlace(async (view) => {
      if (whoAsks(view) === 'ada') {
        await free;
        return { text: 'Found.' };
      }
      const script = [
        uses(phase('implementation'), phase('verification'), phase('research'), add('ada')),
        SYNTHESIS,
      ];
      if (view.turn >= script.length) release();
      return script[view.turn] ?? { text: 'Done.' };
    });
    await using session = await openSession(options);
    await prompt(session);
    const first = told(emulator, 'lead', 1);
    expect(first).toContain('synthesis can follow it, and implementation cannot');
    expect(first).toContain('synthesis can follow it, and verification cannot');
    expect(first).toContain('The phase is research already');
    expect(told(emulator, 'lead', 2)).toContain(
      `The phase stays research: ada (${session.id}.2) has not reported`,
    );
    expect(session.coordinator?.phase).toBe('research');
  });

  test('a change of phase has its place in the message: a worker before it belongs to the phase before', async () => {
    const { emulator, options } = await newPlace(
      play({
        lead: [uses(add('ada'), phase('synthesis'), phase('implementation'), add('bob'))],
        ada: [uses(call('Bash', { command: 'echo broken > src/a.ts' }))],
      }),
    );
    await using session = await openSession(options);
    await prompt(session);
    const first = told(emulator, 'lead', 1);
    expect(first).toContain(`The phase stays research: ada (${session.id}.2) has not reported`);
    expect(first).toContain('synthesis can follow it, and implementation cannot');
    expect(told(emulator, 'ada', 1)).toContain('you are an agent that only reads');
    expect(readFileSync(join(String(options.cwd), 'src/a.ts'), 'utf8')).toBe('export const a = 1;\n');
    expect(JSON.stringify(asked(emulator, 'bob')[0]?.messages)).toContain('in its research phase');
  });

  test('verification: there must be something to verify, and nothing is repaired', async () => {
    const { emulator, options } = await newPlace(
      play({
        lead: [
          SYNTHESIS,
          IMPLEMENTATION,
          VERIFICATION,
          uses(add('bob', 'In src/a.ts set `a` to 2.')),
          { text: 'I started bob.' },
          VERIFICATION,
          uses(tell('bob', 'Check src/a.ts.'), add('eve', 'Prove that `a` is 2.')),
          { text: 'I started eve.' },
        ],
        eve: [
          uses(
            call('Edit', { file_path: 'src/a.ts', old_string: '1', new_string: '2' }),
            call('Bash', { command: 'touch built.txt' }),
            call('Bash', { command: 'sed -i s/1/2/ src/a.ts' }),
            call('Bash', { command: 'echo fine > fresh.log' }),
            call('Bash', { command: 'git checkout src' }),
            call('Bash', { command: 'git stash' }),
          ),
          uses(call('Bash', { command: 'echo again | tee fresh.log' })),
        ],
      }),
    );
    await using session = await openSession(options);
    await prompt(session);
    expect(told(emulator, 'eve', 2)).not.toContain('refused');
    expect(readFileSync(join(String(options.cwd), 'fresh.log'), 'utf8')).toBe('again\n');
    expect(told(emulator, 'lead', 3)).toContain('no worker has implemented anything');
    expect(told(emulator, 'lead', 7)).toContain('nobody verifies their own work');
    expect(told(emulator, 'eve', 1)).toContain(
      'Edit is refused: the coordinator is in its verification phase',
    );
    expect(told(emulator, 'eve', 1)).toMatch(
      /Bash is refused: .* It would change src\/a\.ts\. Report what is wrong/,
    );
    expect(told(emulator, 'eve', 1)).toContain('git checkout may not. Report');
    expect(told(emulator, 'eve', 1)).toContain('git stash may not. Report');
    for (const made of ['built.txt', 'fresh.log'])
      expect(existsSync(join(String(options.cwd), made))).toBe(true);
  });
});

describe('COORD-2: delegations and answers', () => {
  test('a delegation that leaves the conclusion to the worker comes back twice, then passes with a note', async () => {
    const { emulator, options, events } = await newPlace(
      play({
        lead: [
          SYNTHESIS,
          uses(phase('implementation', 'Do it.')),
          IMPLEMENTATION,
          uses(add('bob', 'Based on your findings, fix it.')),
          uses(add('bob', 'Make it work.')),
          uses(add('bob', 'Please make it work.')),
          { text: 'I started bob.' },
          { text: 'Not verified, since nothing can be run here.' },
        ],
      }),
    );
    await using session = await openSession(options);
    await prompt(session);
    expect(told(emulator, 'lead', 2)).toContain('The phase stays: the plan is not ready');
    expect(told(emulator, 'lead', 4)).toContain('leaves the conclusion to the worker');
    expect(told(emulator, 'lead', 5)).toContain('it names nothing concrete');
    expect(told(emulator, 'lead', 6)).toContain('runs in the background');
    expect(told(emulator, 'lead', 6)).toContain(
      'Note: this was passed on although it names nothing concrete',
    );
    expect(asked(emulator, 'bob')).toHaveLength(1);
    const refused = events.flatMap((event) => (event.type === 'coordination.refused' ? [event.what] : []));
    expect(refused).toEqual(['phase', 'delegation', 'delegation', 'answer', 'answer']);
  });

  test('an answer with results of a worker that still runs comes back, at most twice', async () => {
    let release = (): void => {};
    const free = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { emulator, options, events } = await newPlace(async (view) => {
      if (whoAsks(view) === 'ada') {
        await free;
        return { text: 'Found.' };
      }
      if (view.turn === 3) release();
      return (
        [
          uses(add('ada')),
          { text: 'ada found the bug in src/a.ts.' },
          { text: 'All fine: ada has confirmed it.' },
        ][view.turn] ?? { text: view.turn === 3 ? 'I started ada and wait for it.' : 'ada found it.' }
      );
    });
    await using session = await openSession(options);
    expect(await prompt(session)).toBe('ada found it.');
    expect(told(emulator, 'lead', 2)).toContain('You have no result of this: ada');
    expect(told(emulator, 'lead', 2)).toContain('ada found the bug in src/a.ts.');
    expect(told(emulator, 'lead', 3)).toContain('ada has confirmed it');
    expect(told(emulator, 'lead', 4)).toContain('<task-notification>');
    const refused = events.flatMap((event) => (event.type === 'coordination.refused' ? [event.key] : []));
    expect(refused).toEqual(['claim', 'claim']);
  });

  test.each([true, false])(
    'a third answer with results that have not arrived passes, and says so where it ends the turn (waits: %s)',
    async (waitForChildren) => {
      const free = Promise.withResolvers<void>();
      const codes: string[] = [];
      const claims = { text: 'ada found the bug.' };
      const { emulator, options } = await newPlace(
        async (view) => {
          if (whoAsks(view) === 'lead') return view.turn === 0 ? uses(add('ada')) : claims;
          await free.promise;
          return { text: 'Found.' };
        },
        {
          onRecord: (_, event) => {
            if (event.type !== 'warning.raised') return;
            codes.push(event.code);
            free.resolve();
          },
        },
      );
      await using session = await openSession(options);
      const events = session.run('Go.', { waitForChildren });
      let next = await events.next();
      while (!next.done) next = await events.next();
      free.resolve();
      expect(codes).toEqual(['coordinator_claim']);
      // One that waits tells the answer that follows the result.
      const ends = waitForChildren ? /^ada found the bug\.$/ : /bug\.\n\n\[ramet: not reported yet: ada \(/;
      expect(next.value.text).toMatch(ends);
      expect(asked(emulator, 'lead').length).toBe(waitForChildren ? 5 : 4);
    },
  );

  test('a question to the user may end the turn before anything is verified, with a warning', async () => {
    const { options, events } = await newPlace(
      play({
        lead: [
          SYNTHESIS,
          IMPLEMENTATION,
          uses(add('bob', 'In src/a.ts set `a` to 2.')),
          { text: 'I started bob.' },
          { text: 'bob could not decide. Should `a` be 2 or 3?' },
        ],
      }),
    );
    await using session = await openSession(options);
    expect(await prompt(session)).toBe('bob could not decide. Should `a` be 2 or 3?');
    const warnings = events.flatMap((event) => (event.type === 'warning.raised' ? [event.code] : []));
    expect(warnings).toEqual(['coordinator_unverified']);
  });

  test('with each result the coordinator is told who has not reported', async () => {
    let release = (): void => {};
    const free = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { emulator, options } = await newPlace(async (view) => {
      const who = whoAsks(view);
      if (who === 'bob') await free;
      if (who !== 'lead') return { text: 'Found.' };
      if (view.turn === 2) release();
      return view.turn === 0 ? uses(add('ada'), add('bob')) : { text: 'I wait.' };
    });
    await using session = await openSession(options);
    await prompt(session);
    expect(told(emulator, 'lead', 2)).toContain(
      `Still running: bob (${session.id}.3). You have no result of it yet.`,
    );
    expect(told(emulator, 'lead', 3)).not.toContain('Still running');
  });

  test('a change that nobody has verified is no end', async () => {
    const { emulator, options, events } = await newPlace(
      play({
        lead: [
          SYNTHESIS,
          IMPLEMENTATION,
          uses(add('bob', 'In src/a.ts set `a` to 2.')),
          { text: 'I started bob.' },
          { text: 'All done.' },
          VERIFICATION,
          { text: 'Verified.' },
          uses(add('eve', 'Prove that `a` is 2.')),
          { text: 'I started eve.' },
          { text: 'Proved.' },
        ],
      }),
    );
    await using session = await openSession(options);
    expect(await prompt(session)).toBe('Proved.');
    expect(told(emulator, 'lead', 5)).toContain('Not done yet: nobody has verified what bob');
    expect(told(emulator, 'lead', 7)).toContain('Start a worker that runs what proves it');
    expect(
      events.some((event) => event.type === 'warning.raised' && event.code.startsWith('coordinator')),
    ).toBe(false);
  });

  test('a worker of the verification that failed has verified nothing', async () => {
    const { emulator, options } = await newPlace((view) => {
      if (whoAsks(view) === 'eve') throw new Error('the provider refuses this request');
      const lead = [
        SYNTHESIS,
        IMPLEMENTATION,
        uses(add('bob', 'In src/a.ts set `a` to 2.')),
        { text: 'I started bob.' },
        VERIFICATION,
        uses(add('eve', 'Prove that `a` is 2.')),
        { text: 'I started eve.' },
        { text: 'Proved.' },
        uses(add('fay', 'Prove that `a` is 2.')),
        { text: 'I started fay.' },
        { text: 'Proved by fay.' },
      ];
      return whoAsks(view) === 'lead' ? (lead[view.turn] ?? { text: 'Done.' }) : { text: 'Done.' };
    });
    await using session = await openSession(options);
    expect(await prompt(session)).toBe('Proved by fay.');
    expect(told(emulator, 'lead', 8)).toContain('Not done yet: nobody has verified what bob');
    expect(told(emulator, 'lead', 8)).toContain('one that failed or was stopped has proved nothing');
  });

  const PROVE = [
    SYNTHESIS,
    IMPLEMENTATION,
    uses(add('bob', 'In src/a.ts set `a` to 2.')),
    { text: 'I started bob.' },
    VERIFICATION,
    uses(add('eve', 'Prove that `a` is 2.')),
    { text: 'I started eve.' },
  ];
  const RUNS = (command: string) => [uses(call('Bash', { command })), { text: 'It holds.' }];
  const codesOf = (events: readonly JournalEvent[]): string[] =>
    events.flatMap((event) => (event.type === 'warning.raised' ? [event.code] : []));

  test('what changed while it was verified is not proved, whatever changed it', async () => {
    const { emulator, options, events } = await newPlace(
      play({
        lead: [
          ...PROVE,
          { text: 'Proved.' },
          uses(add('fay', 'Prove that `a` is 2.')),
          { text: 'I wait.' },
          { text: 'Now it is.' },
        ],
        // No command names the file.
        eve: RUNS(
          `node -e "require('fs').writeFileSync(['src','a.ts'].join('/'), '')" && echo new > fresh.log`,
        ),
        fay: RUNS('npm --version > fresh.log'),
      }),
    );
    await using session = await openSession(options);
    expect(await prompt(session)).toBe('Now it is.');
    expect(told(emulator, 'lead', 8)).toContain('this file has changed while they were verified: src/a.ts.');
    expect(told(emulator, 'lead', 8)).not.toContain('fresh.log');
    expect(codesOf(events)).toEqual([]);
  });

  test.each([
    ['I cannot say what changed.', 2],
    ['Proved; the test run wrote src/a.ts.', 0],
  ])(
    'the user is told what changed while it was verified, and only of this prompt: %s',
    async (text, back) => {
      const { emulator, options, events } = await newPlace(
        play({
          lead: [...PROVE, { text }, { text }, { text }, { text }],
          eve: RUNS('cp src/b.ts "$PWD/src/a.ts"; rm src/a.ts'),
        }),
      );
      await using session = await openSession(options);
      expect(await prompt(session)).toBe(text);
      expect(asked(emulator, 'lead')).toHaveLength(PROVE.length + 1 + back);
      expect(codesOf(events)).toEqual(['coordinator_changed']);
      writeFileSync(join(String(options.cwd), 'src/b.ts'), 'by hand');
      await prompt(session);
      expect(codesOf(events)).toEqual(['coordinator_changed']);
    },
  );

  test('the result of a delegation says who knows its files, and a continued worker may change them', async () => {
    const { emulator, options } = await newPlace(
      play({
        lead: [
          uses(add('ada')),
          { text: 'I started ada.' },
          SYNTHESIS,
          IMPLEMENTATION,
          uses(add('bob', 'In src/a.ts set `a` to 2.'), add('cid', 'In src/b.ts set `b` to 3.')),
          uses(tell('ada', 'In src/a.ts:1 set `a` to 7.')),
          { text: 'I started them.' },
        ],
        ada: [
          uses(call('Read', { file_path: 'src/a.ts' })),
          { text: 'a is 1.' },
          uses(call('Edit', { file_path: 'src/a.ts', old_string: '1', new_string: '7' })),
        ],
      }),
    );
    await using session = await openSession(options);
    await prompt(session);
    const read = told(emulator, 'lead', 5);
    expect(read).toContain(`Worker ada (${session.id}.2) has read src/a.ts, which you name here.`);
    expect(read).toContain('A fresh worker is right');
    expect(told(emulator, 'ada', 2)).toContain('The coordinator is in its implementation phase');
    expect(readFileSync(join(String(options.cwd), 'src/a.ts'), 'utf8')).toBe('export const a = 7;\n');
  });
});

describe('COORD-1: beside the phases', () => {
  test('workers in a process of their own are held to the same rules, and share the scratchpad', async () => {
    const { emulator, options } = await newPlace(
      play({
        lead: [uses(add('ada'))],
        ada: [
          uses(
            call('Write', { file_path: 'x.txt', content: 'x' }),
            call('Bash', { command: 'touch y.txt' }),
            call('Scratchpad', { file: 'a.md', text: 'found' }),
          ),
        ],
      }),
      { agents: { executor: 'process' } },
    );
    await using session = await openSession(options);
    await prompt(session);
    expect(told(emulator, 'ada', 1)).toContain('Write is refused: the coordinator is in its research phase');
    for (const name of ['x.txt', 'y.txt']) expect(existsSync(join(String(options.cwd), name))).toBe(false);
    expect(readFileSync(join(String(session.coordinator?.scratchpad), 'a.md'), 'utf8')).toBe('found');
  });

  test('a command that a person types is not held to the list of the coordinator', async () => {
    const { options } = await newPlace(play({}));
    await using session = await openSession(options);
    await session.command('echo typed > typed.txt');
    expect(readFileSync(join(String(options.cwd), 'typed.txt'), 'utf8')).toBe('typed\n');
  });

  test('an agent that a program starts is no worker, and no phase limits it', async () => {
    const { options } = await newPlace(
      play({ cid: [uses(call('Write', { file_path: 'x.txt', content: 'x' }))] }),
    );
    await using session = await openSession(options);
    const prompted = { prompt: 'You are cid. Write.', description: 'cid', subagent_type: 'general-purpose' };
    expect(await (await session.spawn(prompted)).result).toMatchObject({ status: 'done' });
    expect(existsSync(join(String(options.cwd), 'x.txt'))).toBe(true);
  });

  test('a session without a coordinator has none of its tools and none of its bytes', async () => {
    const { emulator, options } = await newPlace(
      play({ lead: [uses(call('Phase', { to: 'synthesis', note: 'x' }))] }),
      {
        coordinator: false,
      },
    );
    await using session = await openSession(options);
    await prompt(session);
    const [lead] = asked(emulator, 'lead');
    expect(toolsOf(lead)).not.toContain('Phase');
    expect(JSON.stringify(lead)).not.toMatch(/coordinat|scratchpad/i);
    expect(told(emulator, 'lead', 1)).toContain('there is no tool \\"Phase\\"');
    expect(session.coordinator).toBeUndefined();
  });

  test('after a compaction the coordinator knows phase and workers', async () => {
    const { emulator, options } = await newPlace(
      play({ lead: [uses(add('ada')), { text: 'I started ada.' }, SYNTHESIS] }),
    );
    await using session = await openSession(options);
    await prompt(session);
    await session.compact();
    await prompt(session, 'And now?');
    const last = JSON.stringify(asked(emulator, 'lead').at(-1)?.messages);
    expect(last).toContain('The phase is synthesis: a is 1 in src/a.ts:1');
    expect(last).toContain(`ada (${session.id}.2): research, done: ada`);
  });
});

/** A conversation that hosts a team, and a person who writes to its lead from another process. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { asked, lastText, newPlace, PATIENCE, play } from '../../../../test/fixtures/team-session.ts';
import { createTeam, sendToTeam } from '../../../sdk/calls/teams.ts';
import type { PermissionQuestion, SessionOptions } from '../../../sdk/index.ts';
import { findPlace } from '../../../sdk/place.ts';
import { chooseSession } from '../../../views/session-view.ts';
import { SessionWatch } from '../../../views/session-watch.ts';
import type { CommandIo } from '../../io.ts';
import { Chat } from '../chat/chat.ts';
import { ChatWorker } from '../chat/chat-worker.ts';
import { createEventView } from '../chat/event-text.ts';
import { QuestionDesk } from '../chat/questions/question-desk.ts';
import { textStyle } from '../screen/text-style.ts';
import { OutsideLetters } from './outside-letters.ts';

const { signal } = new AbortController();

/** The parts that a terminal has, without one. */
async function hosting(answers: Parameters<typeof play>[0]['lead'], earlier: string | null = null) {
  const { emulator, options: given } = await newPlace(play({ lead: answers ?? [] }));
  const env = given.env ?? {};
  const options = earlier === null ? given : await writtenTo(given, earlier);
  const io: CommandIo = {
    ...{ cwd: String(options.cwd), env, signal, columns: 80, isTerminal: false },
    ...{ out: () => {}, note: () => {}, progress: () => {} },
  };
  let shown = '';
  const print = (text: string): void => {
    shown += text;
  };
  const style = textStyle(false);
  const letters = new OutsideLetters();
  const desk = new QuestionDesk(() => letters.look());
  const onRecord: typeof options.onRecord = (agent, event) => letters.recorded(agent, event);
  const chat = new Chat({ ...options, broker: desk, onRecord }, io, () => {});
  onTestFinished(() => chat[Symbol.asyncDispose]());
  const worker = new ChatWorker({
    ...{ chat, desk, io, style, print, letters, answer: print, columns: () => 80 },
    events: createEventView(style, { print, answer: print, endAnswer: () => print('\n') }),
    ...{ open: () => {}, pick: () => {}, changed: () => {}, handBack: () => {}, leave: () => {} },
  });
  letters.deliverTo({ chat, io, desk, worker, say: (line) => print(`${line}\n`) });
  const write = (text: string): void => void sendToTeam({ to: 'lead', text }, { cwd: io.cwd, env });
  const rests = async (requests: number): Promise<void> => {
    await expect.poll(() => asked(emulator, 'lead').length, PATIENCE).toBe(requests);
    await expect.poll(() => worker.current, PATIENCE).toBe(null);
  };
  const followed = (): string[] => {
    const { project } = findPlace({ cwd: io.cwd, env });
    using watched = new SessionWatch(project, chooseSession(chat.session?.id, project));
    const lead = watched.look().events.filter(({ agent }) => agent === watched.main?.id);
    return lead
      .flatMap((one) => watched.steps(one))
      .flatMap((step) => (step.kind === 'told' ? step.text : []));
  };
  return { emulator, chat, worker, desk, letters, followed, write, rests, shown: () => shown };
}

/** A team that no process hosts, with a message to its lead. */
async function writtenTo({ team: _, ...options }: SessionOptions, text: string): Promise<SessionOptions> {
  const { session } = await createTeam({ name: 'crew' }, options);
  sendToTeam({ to: 'lead', text }, { cwd: String(options.cwd), env: options.env ?? {} });
  return { ...options, resume: session };
}

const QUESTION: PermissionQuestion = {
  ...{ agent: 's.2', agentName: 'ada', parent: null, cwd: '', tool: 'Bash', summary: 'ls', reason: 'x' },
  ...{ suggestedRules: [], input: {} },
};

describe('TEAM-2: a message to a lead that waits at its prompt', () => {
  test('wakes it, is shown, and is read once', async () => {
    const { emulator, chat, worker, write, rests, shown, followed } = await hosting([
      { text: 'Begun.' },
      { text: 'Heard.' },
    ]);
    worker.submit('Go.');
    await rests(1);
    write('hello lead\u001b[31m two');
    await rests(2);
    expect(shown()).toContain('message from the command line: hello lead');
    expect(shown()).not.toContain('\u001b');
    expect(shown()).toContain('continuing with a message from the command line');
    expect(shown()).toContain('Heard.');
    expect(lastText(asked(emulator, 'lead')[1])).toContain('from=\\"the command line, not the user\\"');
    expect(chat.session?.team?.members()).toMatchObject([{ name: 'lead', unread: 0 }]);
    // Who follows the team in another terminal reads the same, without the element around it.
    expect(followed().at(-1)).toMatch(/^message from the command line: hello lead.* two$/);
  });

  test('waits for an answer to an open question, and for the next prompt where a turn was stopped', async () => {
    const late = Promise.withResolvers<{ text: string }>();
    const { emulator, worker, desk, write, rests, shown } = await hosting([
      { text: 'Begun.' },
      { text: 'Heard.' },
      late.promise,
    ]);
    worker.submit('Go.');
    await rests(1);
    const answered = desk.ask(QUESTION, signal);
    write('while you are asked');
    await expect.poll(shown, PATIENCE).toContain('message from the command line: while you are asked');
    expect(asked(emulator, 'lead')).toHaveLength(1);
    expect(shown()).not.toContain('next prompt');
    desk.answer({ kind: 'denied', reason: 'no' });
    await answered;
    await rests(2);
    worker.submit('Think long.');
    await expect.poll(() => asked(emulator, 'lead').length, PATIENCE).toBe(3);
    worker.stop('user_interrupt');
    await rests(3);
    late.resolve({ text: 'Too late.' });
    write('after it was stopped');
    await expect
      .poll(shown, PATIENCE)
      .toContain('message from the command line: after it was stopped (read with your next prompt)');
    expect(worker.current).toBe(null);
    worker.submit('Again.');
    await rests(4);
    expect(JSON.stringify(asked(emulator, 'lead')[3])).toContain('after it was stopped');
  });

  test('is read when the terminal opens, if it was sent before', async () => {
    const { chat, letters, shown } = await hosting([{ text: 'Heard.' }], 'sent to nobody yet');
    await chat.open();
    await letters.fetchEarlier();
    // Each process also looks by itself, every 30 seconds.
    await expect.poll(shown, { timeout: 20_000 }).toContain('Heard.');
    expect(shown()).toContain('message from the command line: sent to nobody yet');
    await expect.poll(() => chat.session?.team?.members()[0]?.unread, PATIENCE).toBe(0);
  });

  test('begins a lead that has had no prompt', async () => {
    const { emulator, chat, write, rests, shown } = await hosting([{ text: 'Heard.' }]);
    await chat.open();
    write('parse first');
    await rests(1);
    const request = JSON.stringify(asked(emulator, 'lead')[0]);
    expect(request).toContain('The team begins.');
    await expect.poll(shown, PATIENCE).toContain('Heard.');
    await expect.poll(() => chat.session?.team?.members()[0]?.unread, PATIENCE).toBe(0);
  });
});

/** `ramet watch`: follows a session that runs in another process, until it ends. It reads the journal and touches nothing. */
import { systemClock } from '../../schema/clock.ts';
import { sessionList } from '../../sdk/calls/status.ts';
import { findPlace } from '../../sdk/place.ts';
import type { RecordedStep } from '../../views/agent-record.ts';
import { chooseSession } from '../../views/session-view.ts';
import { SessionWatch } from '../../views/session-watch.ts';
import { printable } from '../../views/text/format.ts';
import { recordedLine } from '../../views/timeline.ts';
import type { WatchedTeam } from '../interactive/record/team-input.ts';
import { childLine, endingLine, lastPrompt } from '../interactive/record/watched-text.ts';
import { textStyle } from '../interactive/screen/text-style.ts';
import { type CommandIo, callFrom, EXIT, exitCodeOf } from '../io.ts';
import { isAttended } from './chat.ts';

/** The journal is read this often; readers of another process get no wake-up. */
const LOOK_AGAIN_MS = 200;

export async function watch(
  wanted: string | undefined,
  options: { json?: boolean },
  io: CommandIo,
): Promise<number> {
  const running = wanted === undefined ? sessionList(callFrom(io)).filter(({ live }) => live) : [];
  const [newest, ...others] = running.map(({ session }) => session);
  if (others.length > 0) io.note(`also running: ${others.join(', ')}; ramet watch <session> takes another`);
  return await watchSession(wanted ?? newest, options, io);
}

/** With a team, a person can write to it. */
export async function watchSession(
  session: string | undefined,
  options: { json?: boolean | undefined },
  io: CommandIo,
  team: WatchedTeam | null = null,
): Promise<number> {
  const { project } = findPlace(io);
  using watched = new SessionWatch(project, chooseSession(session, project));
  if (!options.json && isAttended(io)) {
    const { watchOnTerminal } = await import('../interactive/record/watch-on-terminal.ts');
    return await watchOnTerminal(watched, io, team);
  }
  return await (options.json ? asEvents(watched, io) : asLines(watched, io));
}

/** What is recorded from now on. */
async function asEvents(watched: SessionWatch, io: CommandIo): Promise<number> {
  let { isOver } = watched.look();
  while (!isOver && !io.signal.aborted) {
    await systemClock.sleep(LOOK_AGAIN_MS, io.signal);
    const news = watched.look();
    for (const recorded of news.events) io.out(`${recordedLine(recorded)}\n`);
    isOver = news.isOver;
  }
  return ended(isOver, io);
}

/** From the last prompt on. */
async function asLines(watched: SessionWatch, io: CommandIo): Promise<number> {
  const style = textStyle(false);
  let news = watched.look();
  let events = lastPrompt(news.events, watched);
  io.out(`watching session ${watched.entry.session}\n`);
  for (;;) {
    for (const recorded of events) {
      const line = childLine(recorded, watched, style);
      if (line !== null) io.out(`${line}\n`);
      if (recorded.agent !== watched.main?.id) continue;
      for (const step of watched.steps(recorded)) io.out(printable(plainText(step)));
    }
    if (news.isOver || io.signal.aborted) break;
    await systemClock.sleep(LOOK_AGAIN_MS, io.signal);
    news = watched.look();
    ({ events } = news);
  }
  if (news.isOver) io.out(`${endingLine(watched)}\n`);

  return ended(news.isOver, io);
}

function ended(isOver: boolean, { signal }: CommandIo): number {
  return isOver ? EXIT.done : exitCodeOf({ status: 'interrupted', cause: String(signal.reason) });
}

function plainText(step: RecordedStep): string {
  switch (step.kind) {
    case 'told':
      return `\n> ${step.text}\n`;
    case 'answered':
      return step.text === '' ? '' : `\n${step.text}\n`;
    case 'called':
      return `${step.result.is_error === true ? '✗' : '•'} ${step.name}\n`;
    case 'noted':
      return `${step.text}\n`;
  }
}

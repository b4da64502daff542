/** A session that another process runs, on a terminal: what it says scrolls by, its agents have rows below. */
import { systemClock } from '../../../schema/clock.ts';
import type { RecordedEvent } from '../../../schema/events.ts';
import { isUnderWay } from '../../../schema/status.ts';
import type { AgentOverview } from '../../../sdk/index.ts';
import { agentTree } from '../../../views/agent-label.ts';
import type { SessionWatch } from '../../../views/session-watch.ts';
import { taskTodos, teamRow } from '../../../views/team-text.ts';
import { type CommandIo, EXIT, exitCodeOf } from '../../io.ts';
import { type BoardAgent, callTitle, doingOf } from '../chat/agents/agent-board.ts';
import type { Key } from '../editor/key-parser.ts';
import { editorOf } from '../editor/line-editor.ts';
import type { Look } from '../markdown/look.ts';
import { type LiveState, statusText } from '../screen/live-rows.ts';
import { asciiForms, hasUnicode, lookOf } from '../screen/terminal-abilities.ts';
import { inAscii, openTerminal } from '../screen/terminal-device.ts';
import { TerminalView } from '../screen/terminal-view.ts';
import { type TextStyle, textStyle, wantsColours } from '../screen/text-style.ts';
import { stepBlocks } from './step-blocks.ts';
import { HOW_TO_WRITE, TeamInput, type WatchedTeam } from './team-input.ts';
import { childLine, endingLine, lastPrompt } from './watched-text.ts';

const LOOK_AGAIN_MS = 200;

export async function watchOnTerminal(
  watched: SessionWatch,
  io: CommandIo,
  team: WatchedTeam | null = null,
): Promise<number> {
  const style = textStyle(wantsColours(io.env));
  const look = lookOf(io.env);
  const leaving = new AbortController();
  const leave = (code: number): void => leaving.abort(code);
  const writing = team === null ? null : new TeamInput(team, leave, (line) => view.print(`${line}\n`));
  const opened = openTerminal({
    key: (key) => {
      if (writing === null) leaveOn(key, leave);
      else writing.press(key);
      view.soon();
    },
    keysTaken: () => {},
    resized: () => view.resized(),
    gone: () => leave(EXIT.hungUp),
  });
  using device = hasUnicode(io.env) ? opened : inAscii(opened, asciiForms);
  const view = new TerminalView(device, style, look, () => stateOf(watched, writing));
  const onSignal = (): void => leave(exitCodeOf({ status: 'interrupted', cause: String(io.signal.reason) }));
  io.signal.addEventListener('abort', onSignal, { once: true });
  try {
    return await follow(watched, { view, style, look, writing, signal: leaving.signal });
  } finally {
    io.signal.removeEventListener('abort', onSignal);
    view.close();
  }
}

interface Following {
  readonly view: TerminalView;
  readonly style: TextStyle;
  readonly look: Look;
  readonly writing: TeamInput | null;
  readonly signal: AbortSignal;
}

async function follow(
  watched: SessionWatch,
  { view, style, look, writing, signal }: Following,
): Promise<number> {
  const show = (recorded: RecordedEvent): void => {
    const line = childLine(recorded, watched, style);
    if (line !== null) view.print(`${line}\n`);
    if (recorded.agent !== watched.main?.id) return;
    for (const step of watched.steps(recorded))
      view.append(stepBlocks(step, { columns: view.columns, style, look }));
  };
  let news = watched.look();
  view.print(`${style.bold(`watching session ${watched.entry.session}`)}\n`);
  if (writing !== null) view.print(`${style.dim(HOW_TO_WRITE)}\n`);
  for (const recorded of lastPrompt(news.events, watched)) show(recorded);
  while (!news.isOver && !signal.aborted) {
    view.busy(watched.agents.some(({ status }) => isUnderWay(status)) ? 'turn' : null);
    view.now();
    await systemClock.sleep(LOOK_AGAIN_MS, signal);
    news = watched.look();
    writing?.look();
    for (const recorded of news.events) show(recorded);
  }
  if (news.isOver) view.print(`${style.dim(endingLine(watched))}\n`);
  // What it was aborted with.
  return news.isOver ? EXIT.done : Number(signal.reason);
}

function leaveOn(key: Key, leave: (code: number) => void): void {
  if (key.type === 'text' && /^[qQ]/.test(key.text)) leave(EXIT.done);
  if (key.type !== 'press') return;
  if (key.name === 'interrupt') leave(EXIT.interrupted);
  if (key.name === 'end-of-input' || key.name === 'escape') leave(EXIT.done);
}

function stateOf(watched: SessionWatch, writing: TeamInput | null): LiveState {
  const { main, total } = watched;
  const now = Date.now();
  const children = watched.agents.filter((agent) => agent.parent !== null && isUnderWay(agent.status));
  const isBusy = main !== undefined && isUnderWay(main.status);
  return {
    editor: writing?.editor ?? editorOf(''),
    activity: isBusy
      ? { text: doingOf(boardAgent(main, watched), now), forMs: Math.max(0, now - main.lastEventAt) }
      : null,
    todos: writing === null ? (main?.todos ?? []) : taskTodos(writing.team.tasks),
    agents: agentTree(children.map((agent) => boardAgent(agent, watched))),
    ...(writing !== null && { team: teamRow(writing.team) }),
    queued: [],
    question: null,
    rule: null,
    answers: null,
    field: writing === null ? { prompt: 'q: leave ', editor: editorOf('') } : null,
    menu: null,
    status: statusText({ model: main?.model ?? null, permissionMode: null, tally: total, context: null }),
  };
}

function boardAgent(agent: AgentOverview, watched: SessionWatch): BoardAgent {
  const calls = Array.from(
    watched.callsOf(agent.id),
    ([id, call]) => [id, callTitle(call, undefined)] as const,
  );
  return { ...agent, branch: agent.worktree?.branch ?? null, calls: new Map(calls), left: null };
}

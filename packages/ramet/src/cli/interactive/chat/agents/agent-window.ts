/**
 * A child's conversation in place of the own one: opened by name or from a list, live, with the input below. What is typed there
 * goes to the child; questions appear there too; Esc goes back.
 */
import { describeError } from '../../../../schema/errors.ts';
import type { AgentId, SessionId } from '../../../../schema/ids.ts';
import { addCost, addUsage } from '../../../../schema/usage.ts';
import type { AgentOverview } from '../../../../sdk/index.ts';
import { findPlace } from '../../../../sdk/place.ts';
import type { SessionEvent } from '../../../../sdk/session/session.ts';
import { agentLabel, shortId } from '../../../../views/agent-label.ts';
import { AgentRecord } from '../../../../views/agent-record.ts';
import { viewSession } from '../../../../views/session-view.ts';
import { dollars, safeLine, usageTokens } from '../../../../views/text/format.ts';
import type { CommandIo } from '../../../io.ts';
import type { Key } from '../../editor/key-parser.ts';
import type { Look } from '../../markdown/look.ts';
import { AgentScreen } from '../../record/agent-screen.ts';
import { LaterLooks } from '../../record/later-looks.ts';
import type { LiveState } from '../../screen/live-rows.ts';
import type { FullScreen } from '../../screen/screen.ts';
import type { TextStyle } from '../../screen/text-style.ts';
import type { Chat } from '../chat.ts';
import type { PickRequest } from '../input/menus.ts';
import { type BoardAgent, doingOf } from './agent-board.ts';
import { openAgent } from './agent-commands.ts';

export interface AgentWindowParts {
  readonly chat: Chat;
  readonly io: CommandIo;
  readonly style: TextStyle;
  readonly look: Look;
  /** The whole screen is for this; null gives it back. */
  show(full: FullScreen | null): void;
  /** Draws with the next frame. */
  soon(): void;
  pick(request: PickRequest): void;
  print(text: string): void;
  /** The text of the question that is open; empty for none. */
  question(): string;
}

interface OpenedAgent {
  readonly screen: AgentScreen;
  /** A record is still on its way to disk when its event arrives. */
  readonly looks: LaterLooks;
  /** As it was last: one that has ended is on no board. */
  overview: AgentOverview | null;
  /** What it had used before it resumed, while it was open. */
  earlier?: AgentOverview | null;
  close(): void;
}

export class AgentWindow implements Disposable {
  readonly #parts: AgentWindowParts;
  #opened: OpenedAgent | null = null;
  /** What was said to agents and is still to be heard: their record has it from then on. */
  #told: { readonly agent: AgentId; readonly text: string; isHeard(): boolean }[] = [];

  constructor(parts: AgentWindowParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#opened !== null;
  }

  open(agent: AgentId): void {
    const { chat, io, style, look } = this.#parts;
    const { session } = chat;
    if (session === null) return;
    this.close();
    const { project } = findPlace(io);
    const overview = (): AgentOverview | null => overviewOf(session.id, project, agent);
    const record = new AgentRecord({ project, session: session.id }, agent);
    const screen = new AgentScreen({ record, style, look, title: () => this.#title() });
    screen.written(session.answerSoFar(agent));
    const leave = session.stream(agent);
    const looks = new LaterLooks(() => this.#lookAgain(overview));
    const close = (): void => {
      looks[Symbol.dispose]();
      leave();
      record[Symbol.dispose]();
    };
    this.#opened = { screen, looks, overview: overview(), close };
    looks.begin();
    this.note(this.#parts.question());
    this.#parts.show(screen);
  }

  /** The only one, or one of a list. */
  choose(): void {
    const { chat, io, style, pick, print } = this.#parts;
    const { text, open, pick: list } = openAgent('', chat, io);
    if (open !== undefined) this.open(open);
    if (list !== undefined) pick(list);
    if (text !== '') print(`${style.dim(text)}\n`);
  }

  close(): void {
    if (this.#opened === null) return;
    this.#opened.close();
    this.#opened = null;
    this.#parts.show(null);
  }

  [Symbol.dispose](): void {
    this.#opened?.close();
    this.#opened = null;
  }

  /** Shown with the child's conversation, which has no record of it. */
  note(text: string): void {
    if (text !== '') this.#opened?.screen.note(text);
  }

  childActed(event: SessionEvent): void {
    if (this.#opened === null || event.agentId !== this.#opened.screen.agent) return;
    const { status, cause } = event.type === 'agent_ended' ? event : {};
    const last = this.#atWork ?? this.#opened.overview;
    if (status !== undefined && last !== null)
      this.#opened.overview = { ...last, status, cause: cause ?? null };
    this.#opened.screen.take(event);
    this.#parts.soon();
    this.#opened.looks.begin();
  }

  /** One that ended when it was opened may not have been recorded as ended by then. */
  #lookAgain(overview: () => AgentOverview | null): void {
    const opened = this.#opened;
    if (opened === null) return;
    if (opened.overview?.status === 'running' && !this.#parts.chat.board.find(opened.screen.agent))
      opened.overview = overview();
    this.#parts.soon();
  }

  /** Whether the key was for what is shown; `writing`: there is text in the input. */
  take(key: Key, writing: boolean): boolean {
    if (this.#opened === null || key.type !== 'press') return false;
    const { screen } = this.#opened;
    switch (key.name) {
      case 'escape':
      case 'interrupt':
        this.close();
        return true;
      case 'page-up':
        screen.page(-1);
        return true;
      case 'page-down':
        screen.page(1);
        return true;
      default:
        return !writing && this.#takeAtRest(key.name, screen);
    }
  }

  #takeAtRest(name: string, screen: AgentScreen): boolean {
    switch (name) {
      case 'up':
      case 'previous':
        screen.scroll(-1);
        return true;
      case 'down':
      case 'next':
        screen.scroll(1);
        return true;
      case 'home':
        screen.toStart();
        return true;
      case 'end':
        screen.toEnd();
        return true;
      case 'tab':
        this.#openNext();
        return true;
      case 'end-of-input':
        this.close();
        return true;
      default:
        return false;
    }
  }

  /** What is typed goes to the child. */
  async tell(text: string): Promise<void> {
    const { chat, style, soon } = this.#parts;
    const opened = this.#opened;
    if (opened === null || chat.session === null) return;
    const { screen } = opened;
    screen.toEnd();
    const running = chat.session.agents.find(({ id }) => id === screen.agent);
    try {
      if (running === undefined) {
        await chat.session.tell(screen.agent, text);
        screen.note(`\n${style.bold(safeLine(`> ${text}`))} ${style.dim('(it resumes with it)')}\n`);
        // One that has ended is another agent when it resumes.
        if (this.#opened === opened) {
          this.open(screen.agent);
          this.#opened.earlier = opened.overview;
        }
      } else this.#told.push({ agent: screen.agent, text, isHeard: running.steer(text) });
    } catch (error) {
      screen.note(`${style.red(safeLine(describeError(error)))}\n`);
    }
    soon();
  }

  /** The rows below: what the child does and has used, in place of what the main agent does. */
  live(state: LiveState): LiveState {
    if (this.#opened === null) return state;
    const { overview, screen } = this.#opened;
    const atWork = this.#atWork;
    const agent = atWork ?? overview;
    return {
      ...state,
      activity:
        atWork === undefined
          ? null
          : { text: doingOf(atWork), forMs: Math.max(0, Date.now() - atWork.lastEventAt) },
      todos: agent?.todos ?? [],
      agents: [],
      queued: this.#queuedFor(screen.agent),
      suggestion: null,
      status: ['Esc: back', 'Tab: next', 'PgUp, PgDn', ...figuresOf(agent)].join(' · '),
      statusLines: null,
    };
  }

  /** With what it had used before. */
  get #atWork(): BoardAgent | undefined {
    const { screen, earlier = null } = this.#opened ?? {};
    const atWork = screen && this.#parts.chat.board.find(screen.agent);
    if (atWork === undefined || earlier === null) return atWork;
    const { turns, usage, costUsd } = earlier;
    return {
      ...atWork,
      turns: atWork.turns + turns,
      usage: addUsage(atWork.usage, usage),
      costUsd: addCost(atWork.costUsd, costUsd),
    };
  }

  /** One that ends without having heard it never will. */
  #queuedFor(agent: AgentId): readonly string[] {
    const { board } = this.#parts.chat;
    if (this.#told.length === 0) return [];
    this.#told = this.#told.filter((said) => !said.isHeard() && board.find(said.agent) !== undefined);
    return this.#told.filter((said) => said.agent === agent).map(({ text }) => text);
  }

  #title(): string {
    if (this.#opened === null) return '';
    const { overview, screen } = this.#opened;
    const agent = this.#parts.chat.board.find(screen.agent) ?? overview;
    if (agent === null) return ` ${shortId(screen.agent)}`;
    const state = agent.cause === null ? agent.status : `${agent.status}: ${agent.cause}`;
    return ` ${safeLine(`${agentLabel(agent, 0)} · ${state}`)}`;
  }

  #openNext(): void {
    const agents = this.#parts.chat.board.tree.map(({ agent }) => agent.id);
    const at = agents.indexOf(this.#opened?.screen.agent ?? '');
    const next = agents[(at + 1) % Math.max(1, agents.length)];
    if (next !== undefined && next !== this.#opened?.screen.agent) this.open(next);
  }
}

function overviewOf(session: SessionId, project: string, agent: AgentId): AgentOverview | null {
  using view = viewSession(session, project);
  return view.agents.find(({ id }) => id === agent) ?? null;
}

function figuresOf(agent: AgentOverview | null): string[] {
  if (agent === null) return [];
  const { turns, usage, costUsd } = agent;
  return [`${turns} turn${turns === 1 ? '' : 's'}`, `${usageTokens(usage)} tokens`, dollars(costUsd)];
}

/**
 * Carries out what a person sends, one line at a time: prompts as turns, commands as what they do. What comes during a
 * turn is told to the agent that works (AGENT-7), or waits; when children report while nothing is done, the
 * conversation continues by itself (AGENT-3). It prints through its parts and knows no keys.
 *
 * Invariants
 * 1. At most one turn is under way, and every line is carried out, heard by the agent, or handed back.
 * 2. A turn that was stopped or failed is not resumed until the user says something or another child ends.
 */
import { isEmbedded } from '../../../model/catalog.ts';
import { describeError } from '../../../schema/errors.ts';
import { drain } from '../../../schema/generators.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { AgentResult } from '../../../sdk/index.ts';
import type { SessionEvent } from '../../../sdk/session/session.ts';
import { safeLine, safeText } from '../../../views/text/format.ts';
import type { CommandIo } from '../../io.ts';
import type { OutsideLetters } from '../record/outside-letters.ts';
import type { Attention } from '../screen/attention.ts';
import type { TextStyle } from '../screen/text-style.ts';
import type { Chat } from './chat.ts';
import {
  type ChatCommand,
  type CommandContext,
  isInstant,
  isPlan,
  PLAN_CHOICE,
  parseChatCommand,
  runChatCommand,
} from './chat-commands.ts';
import { activityAfter, type EventView } from './event-text.ts';
import type { PickRequest } from './input/menus.ts';
import { needsOwnTurn, SteeredLines } from './input/steered-lines.ts';
import { runUserCommand, shellCommand } from './input/user-command.ts';
import { isJournalFailure } from './journal-failure.ts';
import { shownPrompt, showRecalled } from './recalled.ts';

export interface WorkerParts {
  readonly chat: Chat;
  readonly desk: CommandContext['desk'];
  readonly io: CommandIo;
  readonly style: TextStyle;
  readonly events: EventView;
  readonly attention?: Attention;
  readonly letters?: Pick<OutsideLetters, 'areWaiting' | 'opening'>;
  print(text: string): void;
  /** A whole answer, shown as one that streams. */
  answer(text: string): void;
  /** Shows an agent's conversation. */
  open(agent: AgentId): void;
  /** Opens a list to choose from. */
  pick(request: PickRequest): void;
  columns(): number;
  /** Work began, or all of it is done. */
  changed(): void;
  /** What was said and will not be carried out. */
  handBack(lines: readonly string[]): void;
  /** A command asks to leave. */
  leave(): void;
}

interface LineOfWork {
  readonly controller: AbortController;
  readonly since: number;
  readonly isTurn: boolean;
  activity: string;
}

export class ChatWorker {
  readonly #parts: WorkerParts;
  readonly #steered = new SteeredLines();
  #current: LineOfWork | null = null;
  /** Lines that are carried out after the present one. */
  #waiting: string[] = [];
  /** The last turn did not come to its end. */
  #paused = false;
  #closed = false;
  /** The interrupted work of the session is to be resumed. */
  #goesOn = false;
  /** Interrupted agents are being resumed: reports of their interruption are no news. */
  #resuming = false;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  get current(): Readonly<Omit<LineOfWork, 'controller'>> | null {
    return this.#current;
  }

  /** What was said and is still to be heard or carried out. */
  get queued(): readonly string[] {
    return [...this.#steered.texts, ...this.#waiting];
  }

  submit(text: string): void {
    const { chat } = this.#parts;
    const command = parseChatCommand(text);
    if (this.#current === null) void this.#workOff(text);
    else if (command !== null && isInstant(command) && this.#current.isTurn) void this.#doNow(text, command);
    else if (command === null && this.#hears && chat.session !== null && !needsOwnTurn(text)) {
      this.#steered.add(text, chat.session.steer(text));
    } else this.#waiting.push(text);
  }

  /** A child has done something, or another process has written to it: the main agent may have news. */
  newsCame({ type }: Partial<SessionEvent> = {}): void {
    if (this.isPaused && type !== 'agent_ended') return;
    if (this.#current === null && this.#hasNews) void this.#workOff(this.#parts.letters?.opening ?? null);
  }

  /** The last turn did not come to its end, and nothing has begun since. */
  get isPaused(): boolean {
    return this.#paused && this.#current === null;
  }

  /** Shows what was said last in a session that is resumed, and what an interruption left undone. */
  recall(): void {
    showRecalled(this.#parts);
  }

  /**
   * Enter without a text: a session that is resumed continues what it was doing, and so do its agents (AGENT-5); one that waits
   * for its provider tries at once.
   */
  accept(): void {
    if (this.#current?.isTurn === true) this.#parts.chat.session?.tryNow();
    else if (this.#parts.chat.openWork.length > 0 && !this.#closed) void this.#goOn();
  }

  async #goOn(): Promise<void> {
    this.#resuming = true;
    try {
      this.#goesOn = await this.#parts.chat.resumeWork();
    } finally {
      this.#resuming = false;
    }
    if (this.#current === null && !this.#closed) void this.#workOff(this.#next());
  }

  /** Stops what is under way, and hands back what was to follow. */
  stop(why: string): void {
    if (this.#current === null) return;
    this.#handBackAll([...this.#steered.takeBack(), ...this.#waiting.splice(0)]);
    this.#current.controller.abort(why);
  }

  /** Stops what is under way and begins nothing more. */
  close(why: string): void {
    this.#closed = true;
    this.#waiting = [];
    this.#current?.controller.abort(why);
  }

  /** An embedded model carries out prompts alone: what is said in between would be lost on it. */
  get #hears(): boolean {
    const isAlone = isEmbedded(this.#parts.chat.model ?? '');
    return this.#current?.isTurn === true && this.#waiting.length === 0 && !isAlone;
  }

  get #hasNews(): boolean {
    return !this.#closed && !this.#resuming && this.#parts.chat.session?.hasNews === true;
  }

  /** Null stands for news, or for what was interrupted. */
  async #workOff(first: string | null | undefined): Promise<void> {
    for (let line: string | null | undefined = first; line !== undefined; line = this.#next()) {
      await this.#workOn(line);
    }
    this.#parts.changed();
  }

  #next(): string | null | undefined {
    const line = this.#waiting.shift();
    if (line !== undefined) return line;
    // A turn that came in between may have finished it.
    const isOpen = this.#goesOn && this.#parts.chat.session?.isInterrupted === true;
    const due = isOpen || (!this.#paused && this.#hasNews);
    this.#goesOn = false;
    return due ? null : undefined;
  }

  async #workOn(line: string | null): Promise<void> {
    const { style, print, events } = this.#parts;
    const command = line === null ? null : parseChatCommand(line);
    const work: LineOfWork = {
      controller: new AbortController(),
      since: performance.now(),
      isTurn: command === null && shellCommand(line) === null,
      activity: safeLine(shellCommand(line) ?? 'working'),
    };
    this.#current = work;
    print(`\n${line === null ? style.dim(this.#goingOnText()) : style.bold(shownPrompt(line))}\n`);
    this.#parts.changed();
    try {
      const shell = shellCommand(line);
      if (shell !== null) await runUserCommand(shell, this.#parts, work.controller.signal);
      else if (command === null) await this.#takeTurn(line, work);
      else await this.#carryOut(command, work.controller.signal);
    } catch (error) {
      print(`${events.end()}${style.red(safeLine(describeError(error)))}\n`);
      // Nothing of it was sent: the session could not be opened, or a file not be read.
      if (line !== null && work.isTurn) this.#parts.handBack([line]);
      // What was to follow was meant for that mode.
      if (command?.name === 'permissions') this.#handBackAll(this.#waiting.splice(0));
    } finally {
      this.#current = null;
    }
  }

  #goingOnText(): string {
    if (!this.#hasNews) return 'continuing where it stopped';
    const isWritten = this.#parts.letters?.areWaiting === true;
    return `continuing with ${isWritten ? 'a message from the command line' : 'reports of agents'}`;
  }

  /** Beside the turn that is under way. */
  async #doNow(text: string, command: ChatCommand): Promise<void> {
    const { style, print } = this.#parts;
    print(`\n${style.bold(shownPrompt(text))}\n`);
    try {
      await this.#carryOut(command, new AbortController().signal);
    } catch (error) {
      print(`${style.red(safeLine(describeError(error)))}\n`);
    }
  }

  async #carryOut(command: ChatCommand, signal: AbortSignal): Promise<void> {
    const { print } = this.#parts;
    const answer = await runChatCommand(command, { ...this.#parts, signal });
    print(answer.text === '' ? '' : `${safeText(answer.text).trimEnd()}\n`);
    if (answer.isResumed) this.recall();
    if (answer.pick) this.#parts.pick(answer.pick);
    if (answer.open) this.#parts.open(answer.open);
    if (answer.fill !== undefined) this.#parts.handBack([answer.fill]);
    if (answer.prompt !== undefined) this.#waiting.unshift(answer.prompt);
    if (answer.leave) this.#parts.leave();
    if (answer.goOn) await this.#goOn();
  }

  /** False when a file that the prompt names cannot be attached: the prompt is handed back. */
  async #attached(prompt: string, signal: AbortSignal): Promise<boolean> {
    const { chat, print, style, handBack } = this.#parts;
    const { notes, problems } = await chat.attach(prompt, signal);
    for (const note of notes) print(`${style.dim(safeLine(note))}\n`);
    for (const problem of problems) print(`${style.red(safeLine(problem))}\n`);
    if (problems.length > 0) handBack([prompt]);
    return problems.length === 0;
  }

  async #takeTurn(prompt: string | null, work: LineOfWork): Promise<void> {
    const { chat, print, events, columns } = this.#parts;
    const { signal } = work.controller;
    if (prompt !== null && !(await this.#attached(prompt, signal))) return;
    this.#paused = true;
    if (prompt !== null) this.#parts.attention?.about(prompt);
    const turn = chat.run(prompt, { signal, waitForChildren: false });
    let isAnswered = false;
    const result = await drain(turn, (event) => {
      this.#sayHeard();
      if (event.agentId !== chat.session?.agent.id) return;
      isAnswered ||= event.type === 'assistant';
      work.activity = activityAfter(event, work.activity) ?? work.activity;
      print(events.text(event, columns()));
    });
    this.#sayHeard();
    print(events.end() + this.#endingText(result));
    if (!signal.aborted) this.#parts.attention?.turnEnded(performance.now() - work.since);
    this.#paused = result.status !== 'done';
    if (!this.#paused && chat.permissionMode === 'plan' && isPlan(result.text)) this.#parts.pick(PLAN_CHOICE);
    if (this.#paused) this.#handBackAll(this.#steered.takeBack());
    if (prompt !== null && !isAnswered && isJournalFailure(result)) this.#parts.handBack([prompt]);
  }

  #sayHeard(): void {
    const { style, print, events } = this.#parts;
    for (const text of this.#steered.heard()) print(`${events.end()}\n${style.bold(shownPrompt(text))}\n`);
  }

  #handBackAll(lines: readonly string[]): void {
    if (lines.length > 0) this.#parts.handBack(lines);
  }

  #endingText({ status, cause, message }: AgentResult): string {
    const { style } = this.#parts;
    if (status === 'done') return '';
    if (status === 'interrupted' && cause !== 'limit' && cause !== 'provider')
      return `${style.yellow('stopped; what was done is kept')}\n`;
    const because = safeLine([cause, message].filter(Boolean).join(': '));
    return `${style.red(`${status}: ${because}`)}\n`;
  }
}

/** Whether it is for Ramet and not for the model. */
export function isCommandLine(line: string): boolean {
  return parseChatCommand(line) !== null || shellCommand(line) !== null;
}

/**
 * The conversation behind the prompt: the session in use and its bill so far. A new session is made with the
 * first prompt, so that looking around leaves nothing behind. It knows no terminal.
 */
import type { ImageBlock, TextBlock } from '../../../schema/content.ts';
import { UserMistake } from '../../../schema/errors.ts';
import { filtered, mapped } from '../../../schema/generators.ts';
import type { PermissionMode, SessionEndReason, SessionMode, TodoItem } from '../../../schema/status.ts';
import type { SessionDefaults } from '../../../sdk/calls/session-defaults.ts';
import { keepCompileCache } from '../../../sdk/compile-cache.ts';
import type { AgentResult, RunOptions } from '../../../sdk/index.ts';
import type { SessionOptions } from '../../../sdk/options.ts';
import { findPlace } from '../../../sdk/place.ts';
import { openSession, type Session, type SessionEvent } from '../../../sdk/session/session.ts';
import type { SharedCommand } from '../../../sdk/session/session-type.ts';
import { lastExchanges, type SaidExchange } from '../../../views/exchanges.ts';
import { interruptedLines } from '../../../views/interrupted-text.ts';
import { readSession, viewSession } from '../../../views/session-view.ts';
import { visibleName } from '../../../views/text/format.ts';
import type { CommandIo } from '../../io.ts';
import { earlyNotes, NO_KEY, sessionNotes, tellingChanges } from '../../output/result-output.ts';
import { loadCustomCommands, loadServerCommands } from '../editor/custom-commands.ts';
import { mayMention } from '../editor/mentions.ts';
import { BesideBill } from '../status/beside-bill.ts';
import { AgentBoard } from './agents/agent-board.ts';
import { type BilledPart, billedPart, type ChatTally, NOTHING_SPENT, withPart } from './chat-tally.ts';
import { isJournalFailure } from './journal-failure.ts';

export interface ContextFill {
  readonly tokens: number;
  readonly window: number;
}

export class Chat implements AsyncDisposable {
  readonly #io: CommandIo;
  readonly #onNote: (line: string) => void;
  #options: SessionOptions;
  #session: Session | null = null;
  #tally: ChatTally = NOTHING_SPENT;
  readonly #beside = new BesideBill((part) => this.count(part));
  #todos: readonly TodoItem[] = [];
  #context: ContextFill | null = null;
  #openWork: readonly string[] = [];
  #defaults: SessionDefaults | null = null;
  /** Its journal takes no more, so the next prompt opens it again. */
  #isBroken = false;
  readonly #told = new Set<string>();
  /** What the next prompt brings along. */
  #attachments: (TextBlock | ImageBlock)[] = [];
  /** Why the session ends with this conversation, as hooks read it. */
  endReason: SessionEndReason = 'other';
  /** The children at work. */
  readonly board: AgentBoard = new AgentBoard((id) => (this.#session?.answerSoFar(id) ?? '') !== '');
  readonly #onChild: (event: SessionEvent) => void;

  /**
   * `onNote` is told what a person should know of each session that is opened, `onChild` what children do, also between
   * prompts, before the board is.
   */
  constructor(
    options: SessionOptions,
    io: CommandIo,
    onNote: (line: string) => void,
    onChild: (event: SessionEvent) => void = () => {},
  ) {
    const onRecord: SessionOptions['onRecord'] = (agent, event) => {
      this.board.recorded(agent, event);
      this.#beside.recorded(agent, event);
      if (event.type === 'todos.changed' && agent === this.#session?.agent.id) this.#todos = event.todos;
      options.onRecord?.(agent, event);
    };
    this.#options = { ...options, onRecord: tellingChanges(onNote, onRecord) };
    this.#io = io;
    this.#onNote = onNote;
    this.#onChild = onChild;
  }

  get options(): SessionOptions {
    return this.#options;
  }

  /** Null before the first prompt of a new session. */
  get session(): Session | null {
    return this.#session;
  }

  get todos(): readonly TodoItem[] {
    return this.#todos;
  }

  get tally(): ChatTally {
    return this.#tally;
  }

  /** How full the context window of the main agent was after its last response; null before the first. */
  get context(): ContextFill | null {
    return this.#context;
  }

  /** What is in force, or will be once there is a session; null is the default. */
  get model(): string | null {
    return this.#session?.model ?? this.#options.model ?? this.#defaults?.model ?? null;
  }

  get permissionMode(): PermissionMode | null {
    const { permissionMode } = this.#options;
    return this.#session?.agent.permissionMode ?? permissionMode ?? this.#defaults?.permissionMode ?? null;
  }

  /** What a session would begin with, for the time before there is one. What is wrong is said when it is opened. */
  async learnDefaults(): Promise<void> {
    if (this.#session !== null) return;
    try {
      const defaults = await import('../../../sdk/calls/session-defaults.ts');
      this.#defaults = await defaults.sessionDefaults(this.#options);
      await loadCustomCommands(this.#options);
      for (const note of await earlyNotes(this.#options, this.#io))
        if (this.#session === null) this.#tell(note, true);
    } catch (error) {
      // Without a model nothing can be done here. The rest is said when it is opened.
      if (error instanceof UserMistake && error.code === 'no_provider') this.#tell(error.message);
    }
    if (this.#defaults?.isKeyless === true && this.#session === null) this.#tell(NO_KEY);
  }

  /** `title` is for a session that is new. */
  async open(title?: string | null): Promise<Session> {
    if (this.#session !== null && this.#isBroken) await this.#leaveBroken(this.#session);
    if (this.#session !== null) return this.#session;
    const session = await openSession(title == null ? this.#options : { ...this.#options, title });
    void keepCompileCache(this.#io.env, session);
    this.#use(session);
    if (this.#options.resume !== undefined) this.#recall(session);
    return session;
  }

  /** Carries out a prompt; null continues the turn that a resumed session was in, or delivers news of children. */
  async *run(
    prompt: string | null,
    options: Pick<RunOptions, 'signal' | 'waitForChildren'>,
  ): AsyncGenerator<SessionEvent, AgentResult> {
    const session = await this.open(prompt);
    this.#openWork = [];
    const attachments = prompt === null ? [] : this.#attachments;
    if (prompt !== null) this.#attachments = [];
    const events = session.run(prompt, { ...options, attachments, partial: true, commands: true });
    const told = filtered(events, (event): event is SessionEvent => event.type !== 'result');
    const result = yield* mapped(told, (event) => {
      if (event.agentId === session.agent.id) this.#bill(event);
      if (event.type === 'conversation_replaced') this.measure();
      return event;
    });
    this.#isBroken = isJournalFailure(result);
    if (session.tools.includes('McpCall')) void loadServerCommands(this.#options).catch(() => {});
    return result;
  }

  /** A journal that could not be written takes nothing more; what it holds can be resumed once there is room. */
  async #leaveBroken(session: Session): Promise<void> {
    this.#session = null;
    this.#isBroken = false;
    this.#options = { ...this.#options, resume: session.id };
    this.board.clear();
    // What went wrong was said when it did.
    await Promise.resolve(session[Symbol.asyncDispose]()).catch(() => {});
  }

  /** Attaches the files that a prompt names, and says so; what cannot be attached is said in a line each, and nothing is. */
  async attach(prompt: string, signal: AbortSignal): Promise<{ notes: string[]; problems: string[] }> {
    if (!mayMention(prompt)) return { notes: [], problems: [] };
    const { attachable, attachedLine } = await import('./input/attached-files.ts');
    const { cwd } = this.#session?.agent ?? this.#io;
    const { paths, ...said } = await attachable(prompt, { ...this.#options, cwd, env: this.#io.env });
    if (paths.length === 0) return said;
    const files = await (await this.open(prompt)).attach(paths, { signal });
    const problems = files.flatMap(({ path, problem }) =>
      problem === null ? [] : [`@${visibleName(path)}: ${problem}`],
    );
    if (problems.length > 0) return { notes: [], problems };
    this.#attachments.push(...files.flatMap(({ blocks }) => blocks));
    return { notes: [...files.map((file) => attachedLine(file, cwd)), ...said.notes], problems };
  }

  /** Runs a command of the user; the next prompt brings its output along. */
  async command(command: string, options: Parameters<Session['command']>[1]): Promise<SharedCommand> {
    const shared = await (await this.open(`!${command}`)).command(command, options);
    this.#attachments.push(shared.block);
    return shared;
  }

  /** Whether the output of a command waits for a prompt. */
  get hasUnsent(): boolean {
    return this.#attachments.length > 0;
  }

  #bill(event: SessionEvent): void {
    const billed = billedPart(event);
    if (billed !== null) this.count(billed);
  }

  count(part: BilledPart): void {
    this.#tally = withPart(this.#tally, part);
    this.measure();
  }

  measure(): void {
    this.#context = this.#session?.context() ?? null;
  }

  setModel(model: string): void {
    if (this.#session === null) this.#options = { ...this.#options, model };
    else this.#session.setModel(model);
  }

  setPermissionMode(permissionMode: SessionMode): void {
    if (this.#session === null) this.#options = { ...this.#options, permissionMode };
    else this.#session.setPermissionMode(permissionMode);
  }

  /** Changes to another session, or to a new one (null). The present one stays if the other cannot be opened. */
  async change(resume: string | null): Promise<void> {
    const { resume: _, ...kept } = this.#options;
    // A session that is resumed is what it began as, with the model and the mode that it had.
    const { agent: _a, builtInTools: _b, systemPrompt: _s, team: _t, coordinator: _c, ...open } = kept;
    const { model: _m, permissionMode: _p, ...others } = open;
    const next = resume === null ? null : await openSession({ ...others, resume });
    const isAfter = resume === null && this.#session !== null;
    await this.#leave(resume === null ? 'clear' : 'resume');
    this.#options = isAfter ? { ...kept, startSource: 'clear' } : kept;
    this.board.clear();
    if (next !== null) this.#use(next);
    this.#tally = NOTHING_SPENT;
    [this.#todos, this.#openWork, this.#attachments, this.#context] = [[], [], [], null];
    if (next !== null) this.#recall(next);
    else await this.learnDefaults();
  }

  /** What was said last in a resumed session, the oldest first. */
  lastExchanges(most: number): SaidExchange[] {
    if (this.#session === null) return [];
    const { id, agent } = this.#session;
    return readSession(findPlace(this.#io).project, id, (reader) => lastExchanges(reader, agent.id, most));
  }

  /** What an interruption had left undone when the session was opened, one line each, until it is continued. */
  get openWork(): readonly string[] {
    return this.#openWork;
  }

  /** Lets interrupted agents continue; true if the main agent has something to finish too. */
  async resumeWork(): Promise<boolean> {
    this.#openWork = [];
    await this.#session?.resumeAgents();
    return this.#session?.isInterrupted === true;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#leave(this.endReason);
  }

  async #leave(reason: SessionEndReason): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await session?.close({ reason });
  }

  #use(session: Session): void {
    this.#session = session;
    session.subscribe((event) => {
      if (event.agentId === session.agent.id) {
        // Of the main agent only what no run reads comes here: work in the background that ended, between prompts.
        if (event.type === 'warning') this.#onNote(event.message);
        return;
      }
      this.#bill(event);
      this.#onChild(event);
      this.board.take(event);
    });
    const isChosen = this.#options.model !== undefined || this.#options.resume !== undefined;
    for (const note of sessionNotes(session, this.#io, isChosen)) this.#tell(note);
  }

  /** What was said before there was a session holds for it too, and for those that follow. */
  #tell(note: string, isEarly = note === NO_KEY): void {
    if (!this.#told.has(note)) this.#onNote(note);
    if (isEarly) this.#told.add(note);
  }

  /** What the session spent and has to do, from its record. */
  #recall(session: Session): void {
    using view = viewSession(session.id, findPlace(this.#io).project);
    this.#tally = view.ledger.total;
    this.#todos = view.agents.find(({ id }) => id === session.agent.id)?.todos ?? [];
    this.#openWork = interruptedLines(view.reader, session.agent.id, session.isInterrupted);
    if (this.#tally.responses > 0) this.measure();
  }
}

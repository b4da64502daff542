/**
 * The conversation on a terminal: keys in, output out. What keys mean is in `prompt-input.ts`, what is drawn in
 * `live-rows.ts`, what is carried out in `chat-worker.ts`, how a person leaves in `leaving.ts`.
 *
 * Invariant: a key is shown in the same tick it arrived in.
 */
import type { PromptHistory } from '../../../sdk/calls/prompt-history.ts';
import type { SessionEvent } from '../../../sdk/session/session.ts';
import { safeLine } from '../../../views/text/format.ts';
import { type CommandIo, EXIT } from '../../io.ts';
import type { Key } from '../editor/key-parser.ts';
import type { InputAction } from '../editor/prompt-input.ts';
import { ShownForm } from '../forms/shown-form.ts';
import type { Look } from '../markdown/look.ts';
import type { OutsideLetters } from '../record/outside-letters.ts';
import type { Attention } from '../screen/attention.ts';
import type { LiveState } from '../screen/live-rows.ts';
import type { TerminalView } from '../screen/terminal-view.ts';
import type { TextStyle } from '../screen/text-style.ts';
import { StatusArea } from '../status/status-area.ts';
import { linesAbout } from './agents/agent-board.ts';
import { agentWordsFor, sendToBackground } from './agents/agent-commands.ts';
import { AgentWindow } from './agents/agent-window.ts';
import type { Chat } from './chat.ts';
import { ChatWorker, isCommandLine } from './chat-worker.ts';
import { createEventView, type EventView } from './event-text.ts';
import { filesHere } from './input/file-search.ts';
import { Menus, type PickRequest } from './input/menus.ts';
import { SpecialKeys } from './input/special-keys.ts';
import { WrittenPrompt } from './input/written-prompt.ts';
import { activityUnderWay, Leaving, nextKeyHint } from './leaving.ts';
import { type QuestionDesk, ruleDesk } from './questions/question-desk.ts';
import { ShownQuestion } from './questions/shown-question.ts';

export interface TerminalChatParts {
  readonly chat: Chat;
  readonly desk: QuestionDesk;
  readonly letters: OutsideLetters;
  readonly history: PromptHistory;
  readonly io: CommandIo;
  readonly style: TextStyle;
  readonly look: Look;
  readonly attention: Attention;
  /** Ends the process without waiting for anything. */
  readonly exitNow: (code: number) => void;
}

export class TerminalChat implements Disposable {
  readonly #parts: TerminalChatParts;
  readonly #events: EventView;
  readonly #worker: ChatWorker;
  readonly #question: ShownQuestion;
  readonly #form: ShownForm;
  readonly #menus: Menus;
  readonly #special: SpecialKeys;
  readonly #leaving: Leaving;
  readonly #status: StatusArea;
  readonly #window: AgentWindow;
  readonly #written: WrittenPrompt;
  #view: TerminalView | null = null;

  constructor(parts: TerminalChatParts) {
    this.#parts = parts;
    this.#events = createEventView(parts.style, {
      print: (text) => this.#print(text),
      answer: (text) => this.#view?.answer(text),
      endAnswer: () => this.#view?.endAnswer(),
    });
    this.#written = new WrittenPrompt(parts.history.entries, () => parts.chat.session?.background);
    const shared = {
      ...parts,
      events: this.#events,
      print: (text: string): void => this.#view?.print(text),
      columns: (): number => this.#view?.columns ?? 80,
      rows: (): number => this.#view?.rows ?? 24,
      soon: (): void => this.#view?.soon(),
    };
    this.#window = new AgentWindow({
      ...parts,
      show: (full) => this.#view?.fill(full),
      soon: shared.soon,
      print: (text) => this.#print(text),
      pick: (request) => this.#pick(request),
      question: () => this.#question.text,
    });
    const ask = (text: string): void => {
      if (text === '') return;
      shared.print(text);
      this.#window.note(text);
    };
    const isEscapeTaken = (): boolean => this.#window.isOpen;
    this.#question = new ShownQuestion({ ...shared, rules: ruleDesk(parts.io), print: ask, isEscapeTaken });
    this.#form = new ShownForm({ ...shared, print: ask });
    this.#menus = new Menus(filesHere(parts.io, () => parts.chat.options, shared.soon));
    this.#special = new SpecialKeys({
      ...shared,
      terminal: () => this.#view,
      input: () => this.#written.input,
      setInput: (input) => this.#written.set(input),
      pick: (request) => this.#pick(request),
    });
    this.#worker = new ChatWorker({
      ...shared,
      print: (text) => {
        shared.print(text);
        this.#question.show();
        this.#form.show();
      },
      answer: (text) => {
        this.#view?.answer(text);
        this.#view?.endAnswer();
      },
      pick: (request) => this.#pick(request),
      open: (agent) => this.#window.open(agent),
      changed: () => {
        this.#keepTime();
        this.#leaving.workChanged();
      },
      handBack: (lines) => this.#handBack(lines),
      leave: () => this.leave(EXIT.done, 'the user left'),
    });
    const say = (line: string): void => this.#print(this.#events.aside(parts.style.dim(line)));
    parts.letters.deliverTo({ ...parts, worker: this.#worker, say });
    const warn = (line: string): void => this.#print(this.#events.aside(parts.style.yellow(safeLine(line))));
    this.#status = new StatusArea({
      ...parts,
      size: () => ({ columns: shared.columns(), rows: shared.rows() }),
      changed: () => this.#view?.soon(),
      warn,
    });
    this.#leaving = new Leaving({
      ...parts,
      warn,
      worker: () => this.#worker,
      isInputEmpty: () => this.#written.isEmpty,
      clearInput: () => this.#written.clear(),
      say: (line) => this.#print(`${line}\n`),
      changed: () => this.#keepTime(),
    });
  }

  /** Runs until the user leaves; the caller opened the view, draws and closes it. `first` is carried out at once. */
  start(view: TerminalView, first: string | null = null): Promise<number> {
    this.#view = view;
    this.#worker.recall();
    view.now();
    if (first !== null) this.#worker.submit(first);
    // A command such as /resume opens no session by itself.
    if (first === null || isCommandLine(first)) void this.#parts.chat.learnDefaults().then(() => view.soon());
    void this.#status.learn();
    void this.#parts.letters.fetchEarlier();
    return this.#leaving.left;
  }

  /** Nothing of it is left running. */
  [Symbol.dispose](): void {
    this.#status[Symbol.dispose]();
    this.#window[Symbol.dispose]();
  }

  get liveState(): LiveState {
    const { chat } = this.#parts;
    const underWay = { chat, worker: this.#worker, leaving: this.#leaving };
    return this.#window.live({
      editor: this.#menus.editorFor(this.#written.input),
      menu: this.#menus.shown(this.#written.input),
      activity: activityUnderWay(underWay),
      todos: chat.todos,
      agents: chat.board.tree,
      queued: this.#worker.queued,
      suggestion: this.#written.suggestion,
      ...(this.#form.live(!this.#written.isEmpty) ??
        this.#question.live(!this.#written.isEmpty, this.#menus.isOpen)),
      ...this.#status.shown(nextKeyHint(underWay)),
    });
  }

  key(key: Key): void {
    const chosen = this.#menus.take(key, this.#written.input);
    if (chosen !== null) {
      this.#written.set(chosen.input);
      for (const line of chosen.lines ?? []) this.#worker.submit(line);
      return;
    }
    const pressed = key.type === 'press' ? key.name : null;
    if (pressed === 'interrupt') {
      if (!this.#window.take(key, true)) this.#leaving.interrupt();
      return;
    }
    this.#leaving.pressed(pressed);
    if (pressed === 'expand') {
      if (!this.#question.showMore(true) && !this.#window.isOpen) this.#print(this.#events.expanded());
      return;
    }
    const isEntered = this.#form.isEntering && this.#form.take(key, false);
    const isSpecial = pressed === 'suspend' || !this.#question.isEntering;
    if (isEntered || (isSpecial && this.#special.take(pressed))) return;
    if (pressed === 'agents') {
      this.#window.choose();
      return;
    }
    const sent = pressed === 'background' ? sendToBackground(this.#parts.chat, this.#parts.style) : [];
    for (const line of sent) this.#print(this.#events.aside(line));
    if (sent.length > 0) return;
    const writing = !this.#written.isEmpty;
    const isBack = pressed === 'escape' && this.#window.isOpen;
    const isTaken = (!isBack && this.#form.take(key, writing)) || this.#question.take(key, writing);
    const { withheld } = this.#question;
    if (withheld !== null) this.#written.press(withheld, () => []);
    if (isTaken || this.#window.take(key, !this.#written.isEmpty)) return;
    const action = this.#written.press(key, (command) => agentWordsFor(command, this.#parts.chat));
    if (action !== undefined) this.#act(action);
  }

  /** Another question, or none, is to be answered. */
  questionChanged(withdrawn: boolean): void {
    this.#question.changed(withdrawn);
    this.#form.changed(withdrawn);
    this.#parts.letters.look();
    this.#view?.soon();
  }

  /** Before the board knows of it. */
  childActed(event: SessionEvent): void {
    const { chat, style } = this.#parts;
    for (const line of linesAbout(event, chat.board, style)) this.#print(this.#events.aside(line));
    if (event.type === 'agent_started' || event.type === 'agent_ended') {
      queueMicrotask(() => this.#keepTime());
    }
    this.#window.childActed(event);
    this.#worker.newsCame(event);
  }

  /** Ends as soon as what is being done has been stopped and recorded. */
  leave(code: number, why: string): void {
    this.#leaving.leave(code, why);
  }

  /** What was not carried out is put back into the input, before what is being written. */
  #handBack(lines: readonly string[]): void {
    const left = this.#written.handBack(lines, isCommandLine);
    this.#menus.leave(this.#written.input);
    if (left.length === 0) return;
    const which = left.map((line) => safeLine(line)).join(', ');
    this.#print(`${this.#parts.style.yellow(`not carried out: ${which} (Up brings it back)`)}\n`);
  }

  #act(action: InputAction): void {
    switch (action.type) {
      case 'submit':
        this.#parts.history.add(action.text);
        this.#submit(action.text);
        break;
      case 'accept':
        if (!this.#window.isOpen) this.#worker.accept();
        break;
      case 'leave':
        this.#leaving.leaveOrWarn();
        break;
      case 'candidates':
        this.#print(`${action.candidates.join('  ')}\n`);
        break;
      case 'redraw':
        this.#view?.redraw();
        break;
      case 'escape':
        if (!this.#question.justWithdrawn) this.#leaving.escape();
        break;
    }
  }

  /** In a child's conversation it is for the child; a command is carried out where its answer is seen. */
  #submit(text: string): void {
    if (this.#window.isOpen && !isCommandLine(text)) {
      void this.#window.tell(text);
      return;
    }
    this.#window.close();
    this.#worker.submit(text);
  }

  /** What comes by itself does not come between a person and what is being written. */
  #pick(request: PickRequest): void {
    if (request.isQuestion !== true || this.#written.isEmpty) this.#menus.open(request);
  }

  #keepTime(): void {
    const isTurn = this.#worker.current !== null || this.#leaving.endingSince !== null;
    this.#view?.busy(isTurn ? 'turn' : this.#parts.chat.board.size > 0 ? 'children' : null);
  }

  #print(text: string): void {
    this.#view?.print(text);
  }
}

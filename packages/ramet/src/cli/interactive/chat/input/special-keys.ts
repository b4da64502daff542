/**
 * Keys that do more than edit: search earlier prompts, write in an editor, stop for the shell, change the permission
 * mode. Everything that leaves the terminal to another program gives it back, whatever happens.
 */
import { setTimeout } from 'node:timers/promises';
import { describeError } from '../../../../schema/errors.ts';
import type { SessionMode } from '../../../../schema/status.ts';
import { safeLine } from '../../../../views/text/format.ts';
import type { CommandIo } from '../../../io.ts';
import type { KeyName } from '../../editor/key-parser.ts';
import { editorOf, editorText } from '../../editor/line-editor.ts';
import { cleared, type PromptInput } from '../../editor/prompt-input.ts';
import type { TextStyle } from '../../screen/text-style.ts';
import type { Chat } from '../chat.ts';
import { MODE_STAYS } from '../questions/question-desk.ts';
import type { PickRequest } from './menus.ts';

/** Lets another program have the terminal. */
export interface TerminalLease {
  /** Until `work` has ended nothing is drawn and no key is read. */
  lend(work: () => Promise<void>): Promise<void>;
}

export interface SpecialKeyParts {
  readonly chat: Pick<Chat, 'permissionMode' | 'setPermissionMode'>;
  /** Whether someone is asked something now. */
  readonly desk: { readonly current: object | null };
  readonly io: CommandIo;
  readonly style: TextStyle;
  readonly terminal: () => TerminalLease | null;
  input(): PromptInput;
  setInput(input: PromptInput): void;
  pick(request: PickRequest): void;
  print(text: string): void;
}

/** The modes that a key goes through. The others must be named: they ask nobody. */
const CYCLE: readonly SessionMode[] = ['default', 'acceptEdits', 'plan'];

/** Also keeps the process alive: nothing is read from the terminal meanwhile. */
const STOPPED_BY_MS = 100;

export class SpecialKeys {
  readonly #parts: SpecialKeyParts;

  constructor(parts: SpecialKeyParts) {
    this.#parts = parts;
  }

  /** Whether the key was one of them. */
  take(name: KeyName | null): boolean {
    switch (name) {
      case 'search':
        this.#search();
        return true;
      case 'editor':
        void this.#edit();
        return true;
      case 'suspend':
        void this.#suspend();
        return true;
      case 'mode':
        this.#nextMode();
        return true;
      default:
        return false;
    }
  }

  #search(): void {
    const { input, pick } = this.#parts;
    const prompts = [...new Set(input().history.toReversed())];
    const items = prompts.map((text) => ({ id: text, label: text }));
    pick({ title: 'earlier prompts: type to search, Enter takes one, Esc: none', items });
  }

  #nextMode(): void {
    const { chat, desk, print, style } = this.#parts;
    if (desk.current !== null) {
      print(`${style.dim(MODE_STAYS)}\n`);
      return;
    }
    const at = CYCLE.findIndex((mode) => mode === (chat.permissionMode ?? 'default'));
    const mode = CYCLE[(at + 1) % CYCLE.length] ?? 'default';
    try {
      chat.setPermissionMode(mode);
    } catch (error) {
      print(`${style.red(safeLine(describeError(error)))}\n`);
    }
  }

  async #edit(): Promise<void> {
    const { io, input, setInput, print, style, terminal } = this.#parts;
    const { editText } = await import('../../screen/external-editor.ts');
    const before = editorText(input().editor);
    await terminal()?.lend(async () => {
      const outcome = await editText(before, io);
      if ('text' in outcome) setInput({ ...cleared(input()), editor: editorOf(outcome.text) });
      else print(`${style.yellow(safeLine(outcome.problem))}\n`);
    });
  }

  async #suspend(): Promise<void> {
    await this.#parts.terminal()?.lend(async () => {
      // The whole group, as the terminal itself would. It takes effect at once, so what follows runs when the shell has
      // continued this process, or if there is no shell that could.
      process.kill(0, 'SIGTSTP');
      await setTimeout(STOPPED_BY_MS);
    });
  }
}

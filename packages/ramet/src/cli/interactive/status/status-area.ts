/** What stands below the input: what the next key would do, what a command of the user supplies, or the figures. */
import { findPlace } from '../../../sdk/place.ts';
import { VERSION } from '../../../sdk/version.ts';
import type { CommandIo } from '../../io.ts';
import type { Chat } from '../chat/chat.ts';
import { type LiveState, statusText } from '../screen/live-rows.ts';
import type { ScreenSize } from '../screen/screen.ts';
import { wantsColours } from '../screen/text-style.ts';
import type { StatusLine } from './status-line.ts';

export interface StatusAreaParts {
  readonly chat: Chat;
  readonly io: CommandIo;
  size(): ScreenSize;
  /** Draws with the next frame. */
  changed(): void;
  warn(line: string): void;
}

export class StatusArea implements Disposable {
  readonly #parts: StatusAreaParts;
  readonly #since = performance.now();
  #line: StatusLine | null = null;
  #padding = 0;
  #seen: readonly unknown[] = [];
  #isClosed = false;

  constructor(parts: StatusAreaParts) {
    this.#parts = parts;
  }

  /** Looks whether a command is set. What is wrong with settings is said when a session is opened. */
  async learn(): Promise<void> {
    const { io, chat } = this.#parts;
    const { statusLineSetting } = await import('../../../sdk/calls/status-command.ts');
    const setting = await statusLineSetting(io).catch(() => null);
    if (setting === null || this.#isClosed) return;
    const { StatusLine } = await import('./status-line.ts');
    this.#padding = setting.padding ?? 0;
    const cwd = (): string => chat.session?.agent.cwd ?? io.cwd;
    this.#line = new StatusLine({
      ...this.#parts,
      env: io.env,
      setting,
      cwd,
      input: () => this.#input(cwd()),
    });
    this.#line.touch();
  }

  shown(hint: string | null): Pick<LiveState, 'status' | 'statusLines'> {
    const { chat, io } = this.#parts;
    const lines = this.#line === null ? null : this.#lookFor(this.#line);
    const statusLines =
      lines === null || hint !== null
        ? null
        : { lines, padding: this.#padding, colours: wantsColours(io.env) };
    return { status: hint ?? statusText(chat), statusLines };
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#line?.[Symbol.dispose]();
  }

  /** Every frame asks: each of these is another value as soon as something has changed. */
  #lookFor(line: StatusLine): readonly string[] | null {
    const { session, model, permissionMode, tally, context, todos, board } = this.#parts.chat;
    const seen = [session, session?.agent.cwd, model, permissionMode, tally, context, todos, board.size];
    if (seen.some((value, index) => value !== this.#seen[index])) line.touch();
    this.#seen = seen;
    return line.lines;
  }

  /** Names as status-line scripts for other tools know them; null is unknown. */
  #input(cwd: string): object {
    const { chat, io } = this.#parts;
    const { tally, context, todos, board } = chat;
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = tally.usage;
    const window = context !== null && Number.isFinite(context.window) ? context.window : null;
    const used = window === null || context === null ? null : Math.round((context.tokens / window) * 100);
    const { repository } = findPlace(io);
    return {
      hook_event_name: 'Status',
      session_id: chat.session?.id ?? null,
      version: VERSION,
      cwd,
      workspace: { current_dir: cwd, project_dir: repository?.root ?? io.cwd },
      model: { id: chat.model, display_name: chat.model },
      permission_mode: chat.permissionMode,
      cost: {
        total_cost_usd: tally.costUsd,
        total_duration_ms: Math.round(performance.now() - this.#since),
      },
      context_window: {
        context_window_size: window,
        used_tokens: context?.tokens ?? null,
        used_percentage: used,
        remaining_percentage: used === null ? null : 100 - used,
        total_input_tokens: input_tokens + cache_creation_input_tokens + cache_read_input_tokens,
        total_output_tokens: output_tokens,
      },
      turns: tally.responses,
      agents: { at_work: board.size },
      todos: {
        total: todos.length,
        completed: todos.filter(({ status }) => status === 'completed').length,
      },
    };
  }
}

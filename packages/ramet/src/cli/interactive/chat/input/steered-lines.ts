/**
 * What a person said while a turn was under way: it waits until the agent hears it, at its next tool boundary, and can be
 * taken back until then.
 */

import type { SteeredMessage } from '../../../../sdk/session/session-type.ts';
import { isCustomCommand } from '../../editor/custom-commands.ts';
import { mayMention } from '../../editor/mentions.ts';
import { shellCommand } from './user-command.ts';

interface SteeredLine {
  readonly text: string;
  readonly message: SteeredMessage;
}

export class SteeredLines {
  #lines: SteeredLine[] = [];

  get texts(): readonly string[] {
    return this.#lines.map(({ text }) => text);
  }

  add(text: string, message: SteeredMessage): void {
    this.#lines.push({ text, message });
  }

  /** Those that the agent has heard since it was asked last. */
  heard(): string[] {
    if (this.#lines.length === 0) return [];
    const heard = this.#lines.filter(({ message }) => message.isDelivered);
    this.#lines = this.#lines.filter((line) => !heard.includes(line));
    return heard.map(({ text }) => text);
  }

  /** Those that the agent will now never hear. */
  takeBack(): string[] {
    const taken = this.#lines.filter(({ message }) => message.withdraw());
    this.#lines = this.#lines.filter((line) => !taken.includes(line));
    return taken.map(({ text }) => text);
  }
}

/**
 * What was not carried out, put before what is being written. Prompts become one text; a command among them would be sent to
 * the model, so it is `left`, unless it is all there is.
 */
export function handedBack(
  lines: readonly string[],
  written: string,
  isCommand: (line: string) => boolean,
): { readonly text: string; readonly left: readonly string[] } {
  const own = written === '' ? [] : [written];
  if (lines.length === 1 && own.length === 0) return { text: lines[0] ?? '', left: [] };
  const prompts = lines.filter((line) => !isCommand(line));
  return { text: [...prompts, ...own].join('\n'), left: lines.filter(isCommand) };
}

/** A message to a working agent brings no files along, and is no command. */
export function needsOwnTurn(text: string): boolean {
  return shellCommand(text) !== null || mayMention(text) || isCustomCommand(/^\/(\S+)/.exec(text)?.[1] ?? '');
}

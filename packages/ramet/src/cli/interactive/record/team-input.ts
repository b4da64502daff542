/** What a person writes while following a team: each line is a message to the lead, or to the member that it names. */
import { describeError } from '../../../schema/errors.ts';
import { EVERYBODY, LEAD } from '../../../schema/team.ts';
import type { TeamReport } from '../../../sdk/calls/teams.ts';
import { printable } from '../../../views/text/format.ts';
import { EXIT } from '../../io.ts';
import { CHAT_COMMANDS } from '../editor/command-completion.ts';
import type { Key } from '../editor/key-parser.ts';
import type { EditorState } from '../editor/line-editor.ts';
import { cleared, newPromptInput, type PromptInput, pressKey } from '../editor/prompt-input.ts';

export const HOW_TO_WRITE = 'Enter sends to the lead, @name first to a member, @* to all; Esc leaves';

/** A team that is followed, and how to write to it. */
export interface WatchedTeam {
  look(): TeamReport;
  /** Resolves to whom. */
  send(message: { to: string; text: string }): readonly string[];
}

export class TeamInput {
  readonly #watched: WatchedTeam;
  readonly #leave: (code: number) => void;
  readonly #print: (line: string) => void;
  #input: PromptInput = newPromptInput([]);
  #team: TeamReport;

  constructor(watched: WatchedTeam, leave: (code: number) => void, print: (line: string) => void) {
    this.#watched = watched;
    this.#leave = leave;
    this.#print = print;
    this.#team = watched.look();
  }

  get editor(): EditorState {
    return this.#input.editor;
  }

  /** As of the last look. */
  get team(): TeamReport {
    return this.#team;
  }

  look(): void {
    this.#team = this.#watched.look();
  }

  press(key: Key): void {
    const { input, action } = pressKey(this.#input, key);
    this.#input = input;
    if (action?.type === 'submit') this.#submit(action.text);
    else if (action?.type === 'leave' || action?.type === 'escape') this.#leave(EXIT.done);
    else if (action?.type === 'interrupt') this.#interrupt();
  }

  #submit(text: string): void {
    this.#input = cleared(this.#input);
    const [, command] = /^\/([a-z]+)(?:[ \t].*)?$/.exec(text.trim()) ?? [];
    if (command === 'quit' || command === 'exit') this.#leave(EXIT.done);
    else if (command !== undefined && command in CHAT_COMMANDS)
      this.#print(`/${command} is a command of the lead's own terminal: nothing was sent. ${HOW_TO_WRITE}`);
    else this.#send(text);
  }

  #send(text: string): void {
    try {
      const message = addressed(text, this.#team);
      const to = this.#watched.send(message);
      this.#print(printable(`» ${to.join(', ')}: ${message.text}`));
      this.look();
    } catch (error) {
      this.#print(printable(describeError(error)));
    }
  }

  /** As in a conversation: what was written goes first. */
  #interrupt(): void {
    if (this.editor.cells.length === 0) this.#leave(EXIT.interrupted);
    this.#input = cleared(this.#input);
  }
}

/** `@ada use the old format`: names may hold spaces, and the longest that fits is meant. */
function addressed(line: string, { members }: Pick<TeamReport, 'members'>): { to: string; text: string } {
  if (!line.startsWith('@')) return { to: LEAD, text: line };
  const rest = line.slice(1);
  const [best] = [...members.map(({ name }) => name), EVERYBODY]
    .filter((name) => rest === name || rest.startsWith(`${name} `) || rest.startsWith(`${name}: `))
    .toSorted((one, other) => other.length - one.length);
  const [word = ''] = rest.split(/[\s:]/, 1);
  const to = best ?? word;
  return { to, text: rest.slice(to.length).replace(/^:/, '').trim() };
}

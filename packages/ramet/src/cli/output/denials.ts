/** The calls of a run that were not permitted: for the result object, and in lines for people. */
import { REFUSED_OFTEN } from '../../engine/agent/notices.ts';
import { GO_ON } from '../../permission/assessment.ts';
import type { SessionEvent } from '../../sdk/session/session.ts';

export interface PermissionDenial {
  tool_name: string;
  tool_use_id: string;
  tool_input: unknown;
}

type CompletedCall = SessionEvent & { type: 'tool_completed' };

/** Null for anything but a call that was not permitted. */
function denialOf(event: SessionEvent): CompletedCall | null {
  return event.type === 'tool_completed' && event.denied === true ? event : null;
}

export class Denials {
  readonly #list: PermissionDenial[] = [];

  saw(event: SessionEvent): void {
    const denial = denialOf(event);
    if (denial === null) return;
    const { id, name, input } = denial.call;
    this.#list.push({ tool_name: name, tool_use_id: id, tool_input: input });
  }

  get list(): readonly PermissionDenial[] {
    return this.#list;
  }
}

const MOST_LINES = 20;

/** Equal denials are said once, and of very many the number. */
export class DenialNotes {
  readonly #said = new Set<string>();
  #unsaid = 0;

  /** `title` says which call it was. Null when there is nothing new to say. */
  line(event: SessionEvent, title: string): string | null {
    const denial = denialOf(event);
    if (denial === null) return null;
    const line = `denied: ${title}: ${whyOf(denial)}`;
    if (this.#said.has(line)) return null;
    if (this.#said.size >= MOST_LINES) {
      this.#unsaid += 1;
      return null;
    }
    this.#said.add(line);
    return line;
  }

  get rest(): string | null {
    if (this.#unsaid === 0) return null;
    return `denied: ${this.#unsaid} more call${this.#unsaid === 1 ? '' : 's'} (ramet show has them)`;
  }
}

/** The result is written for a model: what that should do is left out, and what the user can do stays. */
function whyOf({ call, result: { content } }: CompletedCall): string {
  const text =
    typeof content === 'string'
      ? content
      : content.map((block) => ('text' in block ? block.text : '')).join(' ');
  return text
    .replace(`${call.name} is not permitted: `, '')
    .replace(` ${GO_ON}`, '')
    .replace(`\n${REFUSED_OFTEN}`, '')
    .replace('(For the user: ', '(')
    .replace(/\s+/g, ' ')
    .slice(0, LONGEST_REASON);
}

const LONGEST_REASON = 600;

/**
 * How a run is shown. There is one implementation for each output format; each hears of the start, of every event and of the
 * end. Texts for people that several formats share are here too.
 */
import { isEmbedded } from '../../model/catalog.ts';
import { timeLeft } from '../../schema/clock.ts';
import type { AgentResult } from '../../sdk/index.ts';
import type { SessionOptions } from '../../sdk/options.ts';
import { findPlace } from '../../sdk/place.ts';
import type { RecordListener } from '../../sdk/session/event-bus.ts';
import type { RunResult, Session, SessionEvent } from '../../sdk/session/session.ts';
import { liveStatusOf } from '../../views/agent-label.ts';
import { checkoutNote, denialReason } from '../../views/run-notes.ts';
import { type CommandIo, callFrom } from '../io.ts';

export const NO_KEY =
  'no key set: using the recipe model, which only carries out code blocks of the task; for an AI set ANTHROPIC_API_KEY or OPENAI_API_KEY';

/** Nobody has named a model, and no provider has a key. What else is wrong with the settings, the run itself says. */
export async function isKeyless(
  { model }: { readonly model?: string | undefined },
  io: CommandIo,
): Promise<boolean> {
  const { sessionDefaults } = await import('../../sdk/calls/session-defaults.ts');
  const options = { ...callFrom(io), ...(model !== undefined && { model }) };
  const defaults = await sessionDefaults(options).catch(() => null);
  return defaults?.isKeyless === true;
}

export interface ResultOutput {
  start(session: Session): void;
  event(session: Session, event: SessionEvent): void;
  end(session: Session, result: RunResult): void;
  /** In place of the end, where the prompt was refused; the error itself is told elsewhere. */
  refused?(session: Session, problem: string): void;
  /** Told what is recorded, where the format needs it. */
  record?: RecordListener;
}

/** `failed: max_turns: the limit of 3 turns is reached`, for people. */
export function endingLine({ status, cause, message }: AgentResult, session: Session): string {
  const because = [cause, message].filter(Boolean).join(': ');
  const isLimited = status === 'interrupted' && cause === 'limit';
  const command = status === 'interrupted' ? 'ramet resume' : 'ramet -p --resume';
  // Of a journal that is gone there is nothing to resume.
  if (cause === 'journal_removed') return `${status}: ${because} (session ${session.id})`;
  // Without work left over it takes a prompt.
  const isOpen = status === 'interrupted' || session.isInterrupted;
  const prompted = `${command} ${session.id} "what to do"`;
  const open = `${command} ${session.id}`;
  // A journal that could not be written lacks its end: whether that was all, or the prompt itself, nobody knows here.
  const isUnknown = !isOpen && cause?.startsWith('journal_') === true;
  const how = isUnknown ? `${open}, or if nothing is left to do: ${prompted}` : isOpen ? open : prompted;
  const when = isLimited ? 'resume then' : 'resume';
  return `${status}: ${because} (session ${session.id}; ${when} with: ${how})`;
}

/**
 * Says once for each pause that agents wait for a limit and until when, or for a provider that is away, however many
 * they are: `waiting: limit until 16:40 (in 2 h 3 min)`, `waiting: provider`.
 */
export class WaitNotes {
  /** What is left of the longest pause that was reported. */
  #left: () => number = () => 0;
  readonly #away = new Set<string>();

  /** Null when there is nothing new to say. */
  line(event: SessionEvent, now: number): string | null {
    if (event.type === 'agent_ended') this.#away.delete(event.agentId);
    if (event.type !== 'status_changed') return null;
    if (event.cause === 'provider') return this.#awayLine(event, now);
    this.#away.delete(event.agentId);
    const { leftMs } = event;
    if (leftMs === undefined || leftMs < WORTH_SAYING_MS || leftMs < this.#left() + SAME_PAUSE_MS)
      return null;
    this.#left = timeLeft(leftMs);
    return liveStatusOf(event, now);
  }

  #awayLine(event: SessionEvent & { type: 'status_changed' }, now: number): string | null {
    const isNews = this.#away.size === 0;
    this.#away.add(event.agentId);
    return isNews ? liveStatusOf(event, now) : null;
  }
}

/** Refusals of one limit may name times that are a little apart. */
const SAME_PAUSE_MS = 1_000;
const WORTH_SAYING_MS = 1_000;

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

/** The calls of a run that were not permitted, for the result object. */
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

/** The same for people, one line each: equal denials once, and only the number of very many. */
export class DenialNotes {
  readonly #said = new Set<string>();
  #unsaid = 0;

  /** `title` says which call it was. Null when there is nothing new to say. */
  line(event: SessionEvent, title: string): string | null {
    const denial = denialOf(event);
    if (denial === null) return null;
    const line = `denied: ${title}: ${denialReason(denial)}`;
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

/** Those lines that take no session, before there is one. */
export async function earlyNotes(options: SessionOptions, { cwd, env }: CommandIo): Promise<string[]> {
  const { startNotices } = await import('../../sdk/extensions/list-prompts.ts');
  const place = findPlace({ cwd, env });
  return [...(await startNotices(options)), ...(place.repository === null ? [withoutGit(place.cwd)] : [])];
}

function withoutGit(cwd: string): string {
  return `${cwd} is not in a git repository: working without git`;
}

/**
 * What a person should know of a session that was just opened, one line each. `chosen`: the user named a model or a
 * provider, or the resumed session had one (MODEL-1).
 */
export function sessionNotes(
  { repository, agent, model, notices }: Session,
  { cwd, env }: CommandIo,
  chosen: boolean,
): string[] {
  const embeddedByDefault = isEmbedded(model) && !chosen && !env.RAMET_PROVIDER;
  return [
    ...notices,
    ...(repository === null ? [withoutGit(agent.cwd)] : []),
    // A resumed session continues where it began.
    ...(agent.cwd === cwd ? [] : [`continuing in ${agent.cwd}`]),
    ...(embeddedByDefault ? [NO_KEY] : []),
  ];
}

/**
 * Says that a checkout changed while an agent was in a worktree of it, as soon as that is on record (WORK-9).
 *
 * Each change once, however many agents saw it.
 */
export function tellingChanges(note: (line: string) => void, next?: RecordListener): RecordListener {
  const told = new Set<string>();
  return (agent, event) => {
    next?.(agent, event);
    if (event.type !== 'worktree.released') return;
    const fresh = (event.checkoutChanges ?? []).filter((text) => !told.has(text));
    for (const text of fresh) told.add(text);
    if (fresh.length === 0) return;
    note(checkoutNote(event.from, fresh));
  };
}

/** What comes when the session closes: no run reads it any more. Hooks of its end speak then, and may fail. */
export function tellingItsEnd(session: Session, io: CommandIo): void {
  session.subscribe((event) => {
    if (event.type === 'warning' && event.agentId === session.agent.id) io.note(event.message);
  });
}

/**
 * The model of the fan-out benchmarks: a parent hands out tasks in one message, each child makes one call and reports.
 */
import { blocksOf, type WireBlock, type WireRequest } from './prompt-cache.ts';

export interface Play {
  /** Agent calls in one message. */
  children: number;
  /** How many such messages the parent sends, one after the other. */
  fanOuts: number;
  /** Further input of every Agent call. */
  input: Record<string, unknown>;
  /** What a child calls before it reports; null when it reports at once. */
  call: { name: string; input: Record<string, unknown> } | null;
  /** Children are members of a team: each has a name, and reports to the lead by a message before it ends. */
  team: boolean;
  /** Between a request's arrival and the first byte of its answer. */
  firstTokenMs: number;
  /** Whether children are answered in part, and then no more until the next play. */
  hold: boolean;
  /** Whether the cache is accounted for; without it figures of usage are invented. */
  accounting: boolean;
}

export const BASH = { name: 'Bash', input: { command: 'echo done' } };

export const DEFAULT_PLAY: Play = {
  children: 5,
  fanOuts: 1,
  input: {},
  call: BASH,
  team: false,
  firstTokenMs: 0,
  hold: false,
  accounting: true,
};

export interface PlayedAnswer {
  /** Which child is answered; null for the parent. */
  child: number | null;
  text: string | null;
  calls: { name: string; input: Record<string, unknown> }[];
}

const TASK = /\bchild task (\d+)\b/;

/** `handedOut`: how many tasks were given to children before; no two children of a play have the same. */
export function playAnswer(play: Play, { messages }: WireRequest, handedOut: number): PlayedAnswer {
  const last = messages.at(-1);
  const begins = taskOf(blocksOf(last?.content ?? []));
  if (begins !== null && play.call !== null) return { child: begins, text: null, calls: [play.call] };
  const child =
    begins ?? messages.map(({ content }) => taskOf(blocksOf(content))).find((task) => task !== null);
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  if (child !== undefined) {
    const report = `Scope: child ${child}. Done.`;
    if (!play.team || turn > 1) return { child, text: report, calls: [] };
    return { child, text: null, calls: [{ name: 'SendMessage', input: { to: 'lead', message: report } }] };
  }
  if (turn >= play.fanOuts) return { child: null, text: 'All reports are in.', calls: [] };
  const calls = Array.from({ length: play.children }, (_, index) => {
    const task = handedOut + index + 1;
    const own = play.team ? { subagent_type: 'teammate', name: `m${task}` } : {};
    const input = {
      prompt: `Do child task ${task} now.`,
      description: `task ${task}`,
      ...own,
      ...play.input,
    };
    return { name: 'Agent', input };
  });
  return { child: null, text: 'I hand it out.', calls };
}

/** A child's task is the last text of its first own message. */
function taskOf(blocks: readonly WireBlock[]): number | null {
  const found = TASK.exec(blocks.findLast(({ type }) => type === 'text')?.text ?? '');
  return found === null ? null : Number(found[1]);
}

/** The children whose reports are in the last message, in order. */
export function reportsIn({ messages }: WireRequest): number[] {
  const last = blocksOf(messages.at(-1)?.content ?? []);
  const texts = last
    .filter(({ type }) => type === 'tool_result')
    .map(({ content }) => JSON.stringify(content));
  return texts.flatMap((text) =>
    Array.from(text.matchAll(/Scope: child (\d+)/g), ([, child]) => Number(child)),
  );
}

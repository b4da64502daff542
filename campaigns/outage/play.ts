/** The model of an outage campaign: a parent hands out work, each child appends its lines one by one and reports. */
import type { Answer, Fault, RequestView } from '../../packages/ramet/src/emulator/index.ts';

export interface PlayOptions {
  agents: number;
  steps: number;
  /** One in this many requests of children stalls for good. */
  stallEvery: number;
}

export interface Play {
  respond(view: RequestView): Answer;
  fault(view: RequestView): Fault | undefined;
  readonly stalled: number;
  /** Resolves with the first request of a child. */
  readonly handedOut: Promise<void>;
}

const TASK = /\bchild task (\d+)\b/;
const STALLS = ['headers', 'start', 'text'] as const;

export function playOf({ agents, steps, stallEvery }: PlayOptions): Play {
  let asked = 0;
  let stalled = 0;
  const handedOut = Promise.withResolvers<void>();
  return {
    handedOut: handedOut.promise,
    get stalled() {
      return stalled;
    },
    respond({ request, turn }) {
      const own = placeOf(request);
      if (own === null) return turn > 0 ? { text: 'All reports are in.' } : handOut(agents);
      const { child, done } = own;
      if (done >= steps) return { text: `Child ${child} has written ${steps} lines.` };
      const command = `echo ${lineOf(child, done)} >> lines.txt`;
      return { text: `Step ${done}.`, tool_use: [{ name: 'Bash', input: { command } }] };
    },
    fault({ request }) {
      if (placeOf(request) === null) return undefined;
      asked += 1;
      handedOut.resolve();
      if (asked % stallEvery !== 0) return undefined;
      stalled += 1;
      return { kind: 'stall', at: STALLS[stalled % STALLS.length] ?? 'headers' };
    },
  };
}

export function lineOf(child: number, step: number): string {
  return `child-${child}-step-${step}`;
}

function handOut(agents: number): Answer {
  const tool_use = Array.from({ length: agents }, (_, index) => ({
    name: 'Agent',
    input: { prompt: `Do child task ${index + 1} now.`, description: `task ${index + 1}` },
  }));
  return { text: 'I hand it out.', tool_use };
}

/** Which child sent it, and how many of its calls are answered; null for the parent. */
function placeOf({ messages }: RequestView['request']): { child: number; done: number } | null {
  let child: number | null = null;
  let done = 0;
  for (const { role, content } of messages) {
    if (role !== 'user' || typeof content === 'string') continue;
    if (child !== null) done += content.filter(({ type }) => type === 'tool_result').length;
    const text = content.findLast(({ type }) => type === 'text')?.text;
    const found = TASK.exec(String(text ?? ''));
    if (child === null && found !== null) child = Number(found[1]);
  }
  return child === null ? null : { child, done };
}

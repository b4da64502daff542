/**
 * Looking at agents in the background, and waiting for them with a limit (AGENT-7): what has ended is told with its
 * report, what has not is named. A report told here is not told again.
 */
import { contentOf } from '../../conversation/frozen-block.ts';
import { quoteText } from '../../conversation/quoted-text.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import type { InboxItem } from '../agent/agent-content.ts';
import { describeOther } from '../resume/resume-ended.ts';
import type { AgentHandle } from './child-handle.ts';
import type { AgentFamily } from './family.ts';

export interface AgentLook {
  /** An id, a name, or `all` for every agent of the caller's. */
  task: string;
  call: string;
  signal: AbortSignal;
  block: boolean;
  timeoutMs: number;
}

export async function lookAtAgents(
  family: AgentFamily,
  agent: Agent,
  look: AgentLook,
): Promise<ToolOutcome | null> {
  const all = look.task === 'all';
  const watched = all ? agent.children.running : childNamed(agent, look.task);
  if (look.block && watched.length > 0) await waitFor(agent, watched, look);
  const other = all || watched.length > 0 ? null : await otherNamed(family, agent, look.task);
  const known = new Set([...watched.map(({ id }) => id), ...(other === null ? [] : [other.id])]);
  const isWanted = ({ kind, from }: InboxItem): boolean =>
    kind === 'notification' && (all || known.has(from ?? ''));
  const told = agent.takeFromInbox(isWanted, look.call);
  const open = watched.filter(({ id }) => agent.children.find(id) !== undefined);
  if (told.length + open.length > 0) return { content: describe(family, told, open) };
  if (all) return { content: 'None of your agents is running, and none has news.' };
  return other === null ? null : { content: other.line };
}

/** Of one that has ended the journal knows, once it is written. */
async function otherNamed(
  family: AgentFamily,
  { runtime, spec }: Agent,
  task: string,
): Promise<ReturnType<typeof describeOther>> {
  await runtime.journal.commit('written');
  return describeOther(family, spec.id, task);
}

function childNamed(agent: Agent, task: string): readonly AgentHandle[] {
  const child = agent.children.find(task);
  return child === undefined ? [] : [child];
}

async function waitFor(agent: Agent, children: readonly AgentHandle[], look: AgentLook): Promise<void> {
  const { clock } = agent.runtime;
  const over = new AbortController();
  const end = (): void => over.abort();
  look.signal.addEventListener('abort', end, { once: true });
  const waiting = async (): Promise<void> => {
    const all = Promise.all(children.map(({ result }) => result));
    await Promise.race([all, clock.sleep(look.timeoutMs, over.signal)]);
  };
  try {
    await (agent.here.capacity?.whileWaiting(look.signal, waiting) ?? waiting());
  } finally {
    over.abort();
    look.signal.removeEventListener('abort', end);
  }
}

function describe(family: AgentFamily, told: readonly InboxItem[], open: readonly AgentHandle[]): string {
  const reports = told.flatMap(({ blocks }) => blocks.map((block) => String(contentOf(block).text)));
  const running = open.map(({ id, name, description }) => {
    const label = [name, description].filter(Boolean).join(': ');
    const progress = family.find(id)?.state.progress ?? null;
    const said = progress === null ? '' : ` Its progress: ${quoteText(progress)}`;
    return `Agent ${id}${label === '' ? '' : ` (${label})`} still runs.${said}`;
  });
  return [...reports, ...running].join('\n');
}

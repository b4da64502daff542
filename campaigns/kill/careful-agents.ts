/**
 * The model of the campaign: every agent of a plan as a careful one would be. What it says depends on the conversation
 * alone, so a request that is asked again gets the same answer. A call that it is told was not run it makes again as it
 * was; one that may have taken effect so that a second time does no harm; an agent that it is told was interrupted it
 * lets go on. Files and reports then end as in an undisturbed run unless something was lost, doubled or lied about.
 */
import { createHash } from 'node:crypto';
import type { Answer, RequestView, WireMessage } from 'ramet/emulator';
import { blocksOf, heard, type OwnPart, ownPart, resultsOf, type ToolResult, textsOf } from './own-part.ts';
import { type AgentPlan, everyAgent, lookOf, type PlannedCall } from './plan.ts';

type Call = { name: string; input: Record<string, unknown> };

export const NOT_RUN = 'interrupted: this call was not run';
const QUESTION = 'This conversation is about to be replaced by a summary';
const REPORT = /Scope: (\w+)\. \[([^\]]*)\]/g;
const NEWS = /news from (\w+)(?:, again)?\./g;

export interface CarefulAnswer extends Answer {
  /** What the agent is doing, for the aim. */
  moment: 'step' | 'again' | 'resume' | 'wait' | 'report' | 'summary';
}

export function answerOf(root: AgentPlan, view: RequestView): CarefulAnswer {
  const own = ownPart(view);
  const plan = everyAgent(root).find(({ task }) => task === own.task);
  if (plan === undefined) throw new Error(`nobody has the task ${own.task}`);
  const steps = [...plan.steps, [lookOf(plan.task)]];
  const step = lastStep(own);
  const latest = latestOf(own);
  if (latest.flatMap(textsOf).some((text) => text.startsWith(QUESTION))) return summary(own, step);
  const unfinished = latest.flatMap(resultsOf).filter(isUnfinished);
  const again = unfinished.map((result) => repeat(own, result, steps.flat()));
  const resumed = interruptedAgents(latest).map(resumeCall);
  if (resumed.length > 0) return saying(`step ${step} resume`, [...again, ...resumed], 'resume');
  if (again.length > 0) return saying(`step ${step} again`, again, 'again');
  if (step + 1 < plan.steps.length) return saying(`step ${step + 1}`, steps[step + 1] ?? [], 'step');
  if (unheard(plan, own).length > 0) return { text: `step ${step} wait`, moment: 'wait' };
  if (step + 1 < steps.length) return saying(`step ${step + 1}`, steps[step + 1] ?? [], 'step');
  return { text: reportOf(plan, own), moment: 'report' };
}

function saying(text: string, calls: readonly Call[], moment: CarefulAnswer['moment']): CarefulAnswer {
  return { text, tool_use: calls.map(({ name, input }) => ({ name, input })), moment };
}

/** -1 before the first answer. A summary says it in place of the answers it stands for. */
function lastStep({ messages }: OwnPart): number {
  for (const message of messages.toReversed()) {
    const said = textsOf(message).flatMap((text) =>
      Array.from(text.matchAll(message.role === 'assistant' ? /^step (\d+)/g : /^So far: step (\d+)/gm)),
    );
    const found = said.at(-1)?.[1];
    if (found !== undefined) return Number(found);
  }
  return -1;
}

/** Whatever kept a call from its end speaks of an interruption. */
function isUnfinished({ text, isError }: ToolResult): boolean {
  return isError && /interrupted/i.test(text) && interruptedIn(text) === null;
}

/** What was said since the agent's last answer: results, and news that came with them or after. */
function latestOf({ messages }: OwnPart): WireMessage[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
}

/** Agents of which was said that they did not come to their end: that is dealt with at once. */
function interruptedAgents(latest: readonly WireMessage[]): string[] {
  const told = [...latest.flatMap(resultsOf).map(({ text }) => text), ...latest.flatMap(textsOf)];
  return told.flatMap((text) => interruptedIn(text) ?? []);
}

export function interruptedIn(text: string): string | null {
  const found =
    /^interrupted: (?:provider: )?agent (\S+) was interrupted/.exec(text) ??
    /^Agent (\S+) \([^)]*\) (?:interrupted|cancelled|failed)/.exec(text) ??
    /^<task-notification>\n<task-id>(\S+)<\/task-id>(?:\n<name>.*<\/name>)?\n<status>(?:interrupted|cancelled|failed)/.exec(
      text,
    );
  return found?.[1] ?? null;
}

function resumeCall(agent: string): Call {
  return { name: 'SendMessage', input: { to: agent, message: 'Go on, please.' } };
}

function repeat({ messages }: OwnPart, result: ToolResult, planned: readonly PlannedCall[]): Call {
  const asked = messages.flatMap(blocksOf).find(({ type, id }) => type === 'tool_use' && id === result.call);
  if (asked === undefined) throw new Error('a result answers no call of this agent');
  const call: Call = { name: String(asked.name), input: JSON.parse(JSON.stringify(asked.input)) };
  if (result.text.startsWith(NOT_RUN)) return call;
  const input = JSON.stringify(asked.input);
  return planned.find((one) => JSON.stringify(one.input) === input)?.again ?? call;
}

function reportsIn(own: OwnPart): Map<string, string> {
  const reports = heard(own).flatMap((text) => Array.from(text.matchAll(REPORT)));
  return new Map(reports.map(([whole, task = '']) => [task, whole]));
}

function unheard({ children }: AgentPlan, own: OwnPart): AgentPlan[] {
  const reports = reportsIn(own);
  return children.filter(({ task }) => !reports.has(task));
}

/** Whom the main agent has had messages from. */
function talkersIn(own: OwnPart): string[] {
  const found = heard(own).flatMap((text) => Array.from(text.matchAll(NEWS), ([, task = '']) => task));
  return [...new Set(found)].sort();
}

/** Reports are told by digest, so that a report of reports stays short. */
function reportOf(plan: AgentPlan, own: OwnPart): string {
  // Whether others changed their files meanwhile is chance, and no effect.
  const looked = heard(own)
    .findLast((text) => text.startsWith('effects: '))
    ?.replace(/^Files that other agents have read changed while this ran\..*$/m, '');
  const reports = reportsIn(own);
  const children = plan.children.map(({ task }) => `${task}:${digestOf(reports.get(task) ?? 'nothing')}`);
  const facts = [
    looked?.trim().replaceAll('\n', ' ') ?? 'effects: unknown',
    `children: ${children.join(' ') || 'none'}`,
    ...(plan.kind === 'main' ? [`news: ${talkersIn(own).join(' ') || 'none'}`] : []),
  ];
  return `Scope: ${plan.task}. [${facts.join('; ')}]`;
}

function summary(own: OwnPart, step: number): CarefulAnswer {
  const news = talkersIn(own).map((task) => `news from ${task}.`);
  return {
    text: [`So far: step ${step}`, ...reportsIn(own).values(), ...news].join('\n'),
    moment: 'summary',
  };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}

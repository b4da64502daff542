/**
 * The model of the team campaign: lead and members as careful ones would be. What each says follows from its conversation
 * alone, so a request that is asked again gets the same answer.
 */
import type { Answer, RequestView, WireMessage } from 'ramet/emulator';
import { NOT_RUN } from '../kill/careful-agents.ts';
import { blocksOf, resultsOf, textsOf } from '../kill/own-part.ts';
import { goText, memberNames, overText, PARTS, partOf, type TeamPlan, taskNumbers } from './plan.ts';

type Call = { name: string; input: Record<string, unknown> };

export function whoAsks({ messages }: { messages: readonly WireMessage[] }): string {
  return /You are (m\d+)\. /.exec(JSON.stringify(messages[0]))?.[1] ?? 'lead';
}

export function answerOf(plan: TeamPlan, { request }: RequestView): Answer {
  const who = whoAsks(request);
  const past = new Past(request.messages);
  const calls = who === 'lead' ? leadCalls(plan, past) : memberCalls(plan, Number(who.slice(1)), past);
  return calls.length === 0 ? { text: 'Nothing to do.' } : { text: 'Next.', tool_use: calls };
}

/** What an agent has done and heard. */
class Past {
  readonly heard: string;
  readonly #results = new Map<string, string>();

  constructor(messages: readonly WireMessage[]) {
    this.heard = messages
      .filter(({ role }) => role === 'user')
      .flatMap(textsOf)
      .join('\n');
    const calls = new Map<string, string>();
    for (const message of messages) {
      for (const { type, id, name, input } of blocksOf(message))
        if (type === 'tool_use') calls.set(String(id), keyOf({ name: String(name), input }));
      for (const { call, text } of resultsOf(message)) {
        const key = calls.get(call);
        if (key !== undefined && isSettled(key, text)) this.#results.set(key, text);
      }
    }
  }

  /** What came of a call; undefined for one that has not been made, or was not run. */
  resultOf(call: Call): string | undefined {
    return this.#results.get(keyOf(call));
  }
}

/** A file that may have been written is written again; what happened to the team's record, the engine knows. */
function isSettled(key: string, result: string): boolean {
  return !result.startsWith(key.startsWith('Write ') ? 'interrupted:' : NOT_RUN);
}

function keyOf({ name, input }: { name: string; input: unknown }): string {
  return `${name} ${JSON.stringify(input)}`;
}

function leadCalls(plan: TeamPlan, past: Past): Call[] {
  const opening = [...taskNumbers(plan).map(createCall), ...memberNames(plan).map(addCall)];
  const begun = opening.filter((call) => past.resultOf(call) === undefined);
  if (begun.length > 0) return begun;
  return memberNames(plan).flatMap((member) =>
    Array.from({ length: PARTS }, (_, index) => index + 1)
      .filter((part) => part === 1 || past.heard.includes(overText(member, part - 1)))
      .map((part) => letterCall(member, goText(member, part)))
      .filter((call) => past.resultOf(call) === undefined),
  );
}

/** The first step that is not done, of the parts that it may begin. */
function memberCalls(plan: TeamPlan, member: number, past: Past): Call[] {
  for (let part = 1; part <= PARTS; part++) {
    if (!past.heard.includes(goText(`m${member}`, part))) return [];
    for (const step of partOf(plan, member, part)) {
      const calls =
        step.kind === 'letter' ? [letterCall(step.to, step.text)] : taskCalls(step.task, member, past);
      const next = calls.find((call) => past.resultOf(call) === undefined);
      if (next !== undefined) return [next];
    }
  }
  return [];
}

function taskCalls(task: number, member: number, past: Past): Call[] {
  const claim = claimCall(task);
  const isOwn = isWon(past.resultOf(claim));
  return isOwn ? [claim, writeCall(task, member), completeCall(task)] : [claim];
}

export function isWon(result: string | undefined): boolean {
  return result !== undefined && / is yours/.test(result);
}

function createCall(task: number): Call {
  return { name: 'TaskCreate', input: { subject: `Work ${task}`, description: `Write ${fileOf(task)}.` } };
}

function addCall(name: string): Call {
  const prompt = `You are ${name}. Do your part.`;
  return { name: 'Agent', input: { subagent_type: 'teammate', name, description: name, prompt } };
}

function letterCall(to: string, message: string): Call {
  return { name: 'SendMessage', input: { to, message } };
}

export function claimCall(task: number): Call {
  return { name: 'TaskUpdate', input: { task, status: 'in_progress' } };
}

function completeCall(task: number): Call {
  return { name: 'TaskUpdate', input: { task, status: 'completed', evidence: `I wrote ${fileOf(task)}.` } };
}

function writeCall(task: number, member: number): Call {
  return { name: 'Write', input: { file_path: fileOf(task), content: `task ${task} by m${member}\n` } };
}

export function fileOf(task: number): string {
  return `work-${task}.txt`;
}

/**
 * Asks the broker for permission, and waits (RES-3). The question and its answer are recorded, so that
 * a person can see later who allowed what, and so is that the agent is `blocked` in between.
 *
 * Invariants
 * 1. A question ends with an answer, with an interrupt, or when rules and mode come to decide it; then it is withdrawn,
 *    and nothing of it is left on any signal.
 * 2. While a question is open its call counts as not begun: who resumes after a kill asks again. So a call that may run
 *    waits until the answer is on disk.
 * 3. An agent is `blocked: permission` exactly while it has an open question.
 */
import { resolve } from 'node:path';
import type { Confinement, OpenQuestion, PermissionDecision } from '../../permission/assessment.ts';
import type { PermissionAnswer, PermissionQuestion } from '../../permission/broker.ts';
import { callSummary } from '../../permission/call-summary.ts';
import type { ToolUseBlock } from '../../schema/content.ts';
import { describeError } from '../../schema/errors.ts';
import { actFor } from '../../system/current-agent.ts';
import { landingPath } from '../../system/landing-path.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Agent, HostedAgent } from '../agent/agent.ts';
import { NOT_RUN } from '../agent/notices.ts';
import { type Permit, refused } from './permit.ts';

export interface PermissionRequest {
  agent: HostedAgent;
  tool: Tool;
  call: ToolUseBlock;
  input: unknown;
  open: OpenQuestion;
  /** What rules and mode say now, or would say with these rules besides. */
  redecide(more?: readonly string[]): Promise<PermissionDecision>;
  signal: AbortSignal;
}

type GivenAnswer = PermissionAnswer | { kind: 'policy'; confinement: Confinement };

export async function askPermission(request: PermissionRequest): Promise<Permit> {
  const { agent, tool, input, open, signal } = request;
  const { cwd } = agent.directory;
  const asked = landings(tool, input, cwd);
  const answer = await whileBlocked(agent, () => askAndRecord(request));
  if (signal.aborted) return refused(NOT_RUN.interrupted);
  if (answer.kind === 'denied')
    return refused(`${tool.name} is not permitted: ${open.reason}, and ${answer.reason}`);
  const moved = landings(tool, input, cwd).find(({ place }, index) => place !== asked[index]?.place);
  if (moved !== undefined) return refused(movedText(tool, moved));
  if (answer.kind === 'policy') return { kind: 'permitted', confinement: answer.confinement };
  const { updatedInput: changed } = answer;
  // What a person allows runs unconfined.
  return {
    kind: 'permitted',
    confinement: 'none',
    ...(changed && { hooks: { changed, changedByAnswer: true } }),
  };
}

interface Landing {
  readonly path: string;
  readonly place: string | null;
}

/** Where the files that a call writes lead. A question may be open for hours, and links can come meanwhile (SEC-1). */
function landings(tool: Tool, input: unknown, cwd: string): Landing[] {
  const { writes = [] } = tool.access?.(input) ?? {};
  return writes.map((path) => ({ path, place: landingPath(resolve(cwd, path)) }));
}

function movedText({ name }: Tool, { path, place }: Landing): string {
  const where = place === null ? 'can no longer be written' : `now leads to ${place}`;
  return `${name} did nothing: ${path} ${where}, which is not what the user was asked about. Try again to ask about that.`;
}

async function whileBlocked<Result>(agent: Agent, work: () => Promise<Result>): Promise<Result> {
  agent.here.openQuestions += 1;
  if (agent.here.openQuestions === 1) agent.setStatus('blocked', 'permission');
  try {
    return await work();
  } finally {
    agent.here.openQuestions -= 1;
    if (agent.here.openQuestions === 0) agent.setStatus('running', null);
  }
}

async function askAndRecord(request: PermissionRequest): Promise<GivenAnswer> {
  const { agent, tool, call, input, open } = request;
  const { redact, permissions } = agent.runtime;
  const summary = redact(open.summary);
  const { name } = tool;
  agent.record({ type: 'permission.asked', call: call.id, tool: name, summary, reason: redact(open.reason) });
  const access = tool.access?.(input) ?? {};
  const details = tool.details?.(input);
  const { cwd } = agent.directory;
  const whole = details?.change && redact(callSummary(access, { input, cwd }, null));
  // As the model gave it, and a copy: what a program changes in place would run unjudged and unrecorded.
  const shown = structuredClone(call.input);
  const asked = { tool: name, summary, whole, input: shown, command: access.command };
  const answer = await firstAnswer(request, {
    ...{ ...open, ...askerOf(agent), ...asked },
    details,
    covers: async (more) => (await request.redecide(more)).kind === 'allow',
  });
  const rules = answer.kind === 'always' ? answer.rules : [];
  permissions.allow(rules);
  const reason = answer.kind === 'denied' ? answer.reason : null;
  const changed = 'updatedInput' in answer ? answer.updatedInput : undefined;
  agent.record({
    type: 'permission.answered',
    call: call.id,
    answer: answer.kind,
    rules: rules.map(redact),
    reason: reason === null ? null : redact(reason),
    ...(changed && { updatedInput: JSON.parse(redact(JSON.stringify(changed))) }),
  });
  if (answer.kind !== 'denied') await agent.runtime.journal.commit('synced');
  return answer;
}

function askerOf({
  spec,
  directory,
}: Agent): Pick<PermissionQuestion, 'agent' | 'agentName' | 'parent' | 'cwd'> {
  const { id, parent, name, origin, type } = spec;
  const agentName = parent === null ? null : (name ?? origin?.description ?? type);
  return { agent: id, agentName, parent, cwd: directory.cwd };
}

/** Whatever comes first. An interrupt is a denial, also when the question is never answered. */
async function firstAnswer(
  { agent: { runtime }, redecide, signal }: PermissionRequest,
  question: PermissionQuestion,
): Promise<GivenAnswer> {
  const given = Promise.withResolvers<GivenAnswer>();
  const withdrawal = new AbortController();
  const interrupt = (): void => given.resolve({ kind: 'denied', reason: 'the turn was interrupted' });
  const lookAgain = async (): Promise<void> => {
    const decision = await redecide();
    if (decision.kind === 'allow') given.resolve({ kind: 'policy', confinement: decision.confinement });
    if (decision.kind === 'deny') given.resolve({ kind: 'denied', reason: decision.reason });
  };
  // What cannot be decided again stays a question.
  const stopWatching = runtime.permissions.watch(() => void lookAgain().catch(() => {}));
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) interrupt();
  Promise.try(actFor, question.agent, () => runtime.broker.ask(question, withdrawal.signal)).then(
    given.resolve,
    (error) =>
      given.resolve({ kind: 'denied', reason: `the question could not be asked: ${describeError(error)}` }),
  );
  try {
    return await given.promise;
  } finally {
    signal.removeEventListener('abort', interrupt);
    stopWatching();
    withdrawal.abort();
  }
}

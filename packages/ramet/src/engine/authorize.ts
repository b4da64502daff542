/**
 * Asks for permission before a call runs: policy decides, and what it leaves open goes to the session's broker. A
 * question and its answer are recorded, so that a person can see later who allowed what.
 */

import type { PermissionAnswer } from '../permission/broker.ts';
import { decide } from '../permission/decide.ts';
import type { OpenQuestion } from '../permission/decision.ts';
import type { ToolUseBlock } from '../schema/content.ts';
import { describeError } from '../schema/errors.ts';
import type { Tool } from '../tools/tool.ts';
import type { Agent } from './agent.ts';
import { NOT_RUN } from './notices.ts';

/** Why the call may not run; null when it may. */
export async function refusalOf(
  agent: Agent,
  tool: Tool,
  call: ToolUseBlock,
  input: unknown,
  signal: AbortSignal,
): Promise<string | null> {
  const { spec, runtime } = agent;
  const policy = { mode: spec.permissionMode, rules: runtime.permissions.rules };
  const home = runtime.childEnvironment.HOME;
  const decision = await decide(policy, tool, { input, cwd: spec.cwd, home });
  if (decision.kind === 'allow') return null;
  if (decision.kind === 'deny') return decision.reason;
  return ask(agent, tool.name, call, { ...decision.question, input }, signal);
}

async function ask(
  agent: Agent,
  tool: string,
  call: ToolUseBlock,
  open: OpenQuestion & { input: unknown },
  signal: AbortSignal,
): Promise<string | null> {
  const { runtime, spec } = agent;
  const { redact } = runtime;
  const summary = redact(open.summary);
  agent.record({ type: 'permission.asked', call: call.id, tool, summary, reason: redact(open.reason) });
  const question = { ...open, agent: spec.id, tool, summary };
  const answer = await answerOrAbort(
    Promise.try(() => runtime.broker.ask(question, signal)),
    signal,
  );
  const rules = answer.kind === 'always' ? answer.rules : [];
  runtime.permissions.allow(rules);
  const reason = answer.kind === 'denied' ? answer.reason : null;
  agent.record({
    type: 'permission.answered',
    call: call.id,
    answer: answer.kind,
    rules: rules.map(redact),
    reason: reason === null ? null : redact(reason),
  });
  if (signal.aborted) return NOT_RUN.interrupted;
  return reason === null ? null : `${tool} is not permitted: ${open.reason}, and ${reason}`;
}

/** An interrupted question is a denial, also when whoever was asked never answers. */
async function answerOrAbort(
  answer: Promise<PermissionAnswer>,
  signal: AbortSignal,
): Promise<PermissionAnswer> {
  const given = Promise.withResolvers<PermissionAnswer>();
  const interrupt = (): void => given.resolve({ kind: 'denied', reason: 'the turn was interrupted' });
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) interrupt();
  answer.then(given.resolve, (error) =>
    given.resolve({ kind: 'denied', reason: `the question could not be asked: ${describeError(error)}` }),
  );
  try {
    return await given.promise;
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
}

/**
 * Done is proved (AGENT-6): if the caller of an agent said what its work must produce, the engine itself checks that
 * before the agent counts as done. What the agent says about it is no evidence.
 */
import { contentOf } from '../../conversation/frozen-block.ts';
import { headOf } from '../../system/text/visible-text.ts';
import type { Agent } from '../agent/agent.ts';
import { runCalls } from '../calls/tool-runner.ts';
import { type Evidence, headCommit, missingFiles } from './evidence.ts';

const LONGEST_OUTPUT = 500;

/** What is missing, in words for the agent; null when everything is there. */
export async function missingEvidence(
  agent: Agent,
  evidence: Evidence,
  signal: AbortSignal,
): Promise<string | null> {
  const problems = [...(await missingFiles(evidence)), ...(await missingCommit(agent, evidence))];
  // A check of what is not there says nothing new.
  if (problems.length === 0) problems.push(...(await failedCheck(agent, evidence, signal)));
  return problems.length === 0 ? null : problems.join('; ');
}

async function missingCommit(
  { directory, runtime }: Agent,
  { expected, commit }: Evidence,
): Promise<string[]> {
  if (expected.commit !== true) return [];
  const now = await headCommit(directory.cwd, runtime.childEnvironment);
  if ('problem' in now) return [now.problem];
  return now.commit === null || now.commit === commit ? ['there is no new commit'] : [];
}

/** A Bash call of the agent's like any other: with its rights, on record, bounded in time. */
async function failedCheck(agent: Agent, { expected }: Evidence, signal: AbortSignal): Promise<string[]> {
  if (expected.check === undefined) return [];
  const id = `check-${agent.spec.id}-${agent.state.requests}`;
  const call = { type: 'tool_use', id, name: 'Bash', input: { command: expected.check } } as const;
  const result = (await runCalls({ agent, signal, isUntold: true }, [call])).get(id);
  const answer = result === undefined ? null : contentOf(result);
  if (answer !== null && answer.is_error !== true) return [];
  return [`the check \`${expected.check}\` failed: ${headOf(String(answer?.content ?? ''), LONGEST_OUTPUT)}`];
}

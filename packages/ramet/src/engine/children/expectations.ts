/** What is expected of a child (AGENT-6): made when it is asked for, recorded, and recalled when it is resumed. */
import { UserMistake } from '../../schema/errors.ts';
import type { AgentOrigin, RecordedEvidence } from '../../schema/events.ts';
import type { Agent } from '../agent/agent.ts';
import type { AgentSpec } from '../agent/runtime.ts';
import type { AnswerSchema } from '../answer/answer-schema.ts';
import type { Evidence, Expectation } from '../answer/evidence.ts';

export async function evidenceBefore(
  expected: Expectation,
  cwd: string,
  { runtime }: Agent,
): Promise<Evidence> {
  const { noteBefore } = await import('../answer/evidence.ts');
  return noteBefore(expected, cwd, runtime.childEnvironment);
}

/** What is expected of an agent, in its recorded form, so that a resumed agent is held to it (AGENT-6). */
export function recordExpectations(
  schema: AnswerSchema | null,
  evidence: Evidence | null,
): Pick<AgentOrigin, 'schema' | 'evidence'> {
  return {
    ...(schema && { schema: JSON.parse(schema.source) }),
    ...(evidence && { evidence: recordEvidence(evidence) }),
  };
}

export async function recallExpectations(
  origin: AgentOrigin | undefined,
): Promise<Pick<AgentSpec, 'answer' | 'evidence'>> {
  const { schema, evidence } = origin ?? {};
  return {
    ...(schema && { answer: await recallSchema(schema) }),
    ...(evidence && { evidence: { ...evidence, files: new Map(Object.entries(evidence.files)) } }),
  };
}

function recordEvidence({ expected, files, commit }: Evidence): RecordedEvidence {
  return { expected, files: Object.fromEntries(files), commit };
}

async function recallSchema(schema: Record<string, unknown>): Promise<AnswerSchema> {
  const { compileAnswerSchema } = await import('../answer/answer-schema.ts');
  const compiled = await compileAnswerSchema(schema);
  // It was compiled before it was recorded.
  if (!compiled.ok) throw new Error(`the recorded schema cannot be used: ${compiled.problem}`);
  return compiled.schema;
}

export async function answerSchema(schema: Record<string, unknown>): Promise<AnswerSchema> {
  const { compileAnswerSchema } = await import('../answer/answer-schema.ts');
  const compiled = await compileAnswerSchema(schema);
  if (compiled.ok) return compiled.schema;
  throw new UserMistake('bad_schema', `the schema cannot be used: ${compiled.problem}`);
}

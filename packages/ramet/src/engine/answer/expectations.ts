/** What is expected of an agent, in its recorded form, so that a resumed agent is held to it (AGENT-6). */
import type { AgentOrigin, RecordedEvidence } from '../../schema/events.ts';
import type { AgentSpec } from '../agent/runtime.ts';
import type { AnswerSchema } from './answer-schema.ts';
import type { Evidence } from './evidence.ts';

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
  const { compileAnswerSchema } = await import('./answer-schema.ts');
  const compiled = await compileAnswerSchema(schema);
  // It was compiled before it was recorded.
  if (!compiled.ok) throw new Error(`the recorded schema cannot be used: ${compiled.problem}`);
  return compiled.schema;
}

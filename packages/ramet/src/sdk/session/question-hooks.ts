/**
 * Hooks that hear what an MCP server asks a person, and what it is told.
 *
 * Invariants
 * 1. A hook may fill in a form in a person's place. Whether an address was opened, only that person can say: what does not fit
 *    what was asked is a failure of the hook, and never comes here.
 * 2. After the answer a hook makes nothing wider: it can turn a yes into a no or fill the form otherwise, and make no yes of a no.
 */
import type { HookEffect } from '../../extensions/hooks/hook-runner.ts';
import type { ElicitedAnswer, ElicitedQuestion } from '../../permission/broker.ts';
import type { LiveParts } from './live-parts.ts';
import type { QuestionListener } from './tools/tool-source.ts';

export function questionHooks(
  { agent, hooks }: Pick<LiveParts, 'agent' | 'hooks'>,
  /** A person is about to be asked. */
  told: (question: ElicitedQuestion) => void,
): QuestionListener {
  return {
    async asked(question, signal) {
      const given = hooks.has(agent, 'Elicitation')
        ? answerOf(await hooks.run(agent, 'Elicitation', fieldsOf(question), signal))
        : null;
      if (given === null) told(question);
      return given;
    },
    async answered(question, answer, signal) {
      if (!hooks.has(agent, 'ElicitationResult')) return answer;
      const fields = { ...fieldsOf(question), ...answer };
      const changed = answerOf(await hooks.run(agent, 'ElicitationResult', fields, signal));
      return changed ?? answer;
    },
  };
}

function fieldsOf({ server, message, schema, url }: ElicitedQuestion): Record<string, unknown> {
  return {
    ...{ mcp_server_name: server, message, mode: url === undefined ? 'form' : 'url' },
    ...(url !== undefined && { url }),
    ...(schema && { requested_schema: schema }),
  };
}

function answerOf({ answer, block, stop }: HookEffect): ElicitedAnswer | null {
  if (block !== undefined || stop !== undefined) return { action: 'decline' };
  if (answer === undefined) return null;
  const { action, content } = answer;
  if (action !== 'accept') return { action };
  // The runner of hooks has held each value against the form.
  return { action, content: { ...content } as Filled };
}

type Filled = Extract<ElicitedAnswer, { action: 'accept' }>['content'] & {};

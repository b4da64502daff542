/**
 * The recipe model (RECIPE-1), Ramet's embedded default: no AI, no key, no network. It carries out the fenced blocks
 * of its task through the same tools and the same loop as any model. This file is the provider; what is answered is
 * decided in `recipe-answer.ts`, which is loaded with the first request, so that other models pay nothing for it.
 *
 * Invariants
 * 1. The answer depends on the request alone: equal requests, equal bytes. So a killed run resumes where it was.
 * 2. It bills what it read and wrote, bytes over four, at a price of 0: nothing was charged, and that is known.
 */
import { hash } from 'node:crypto';
import type { AssistantBlock } from '../../schema/content.ts';
import { Cancelled } from '../../schema/errors.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { RECIPE_MODEL } from '../catalog.ts';
import { type ModelProvider, type ModelResponse, TASK_FAILED } from '../provider.ts';
import type { RecipeAnswer, RecipeRequest } from './recipe-answer.ts';

export function recipeProvider(): ModelProvider {
  return {
    name: 'recipe',
    onlyModel: RECIPE_MODEL,
    async send({ model, body }, { signal, onDelta }) {
      const startedAt = performance.now();
      const { answerRecipe } = await import('./recipe-answer.ts');
      // Built by `conversation/request.ts`: a Messages body.
      const request = JSON.parse(Buffer.from(body).toString()) as RecipeRequest;
      const answer = await answerRecipe(request);
      if (signal.aborted) throw new Cancelled();
      onDelta({ type: 'began' });
      if (answer.text !== '') onDelta({ type: 'text', text: answer.text });
      const durationMs = performance.now() - startedAt;
      return { ...respond(answer, body), model, rate: {}, firstTokenMs: durationMs, durationMs };
    },
    close() {},
  };
}

/** `other` for every model but the recipe model, which answers by its name wherever the others are served. */
export function withRecipe(other: ModelProvider): ModelProvider {
  const recipe = recipeProvider();
  return {
    name: other.name,
    origin: other.origin,
    onlyModel: other.onlyModel,
    effortOnly: other.effortOnly,
    searchesWeb: other.searchesWeb,
    send: (request, options) => (request.model === RECIPE_MODEL ? recipe : other).send(request, options),
    ...(other.refresh && { refresh: other.refresh.bind(other) }),
    close: () => other.close(),
  };
}

export function recipeStopReason({ calls, failed }: RecipeAnswer): string {
  if (calls.length > 0) return 'tool_use';
  return failed ? TASK_FAILED : 'end_turn';
}

type Responded = Omit<ModelResponse, 'model' | 'rate' | 'firstTokenMs' | 'durationMs'>;

/** Ids are made from the request: the same again for the same, different as the conversation grows. */
function respond(answer: RecipeAnswer, body: Uint8Array): Responded {
  const digest = hash('sha256', body).slice(0, 20);
  const text: AssistantBlock[] = answer.text === '' ? [] : [{ type: 'text', text: answer.text }];
  const calls = answer.calls.map(
    ({ name, input }, index): AssistantBlock => ({
      type: 'tool_use',
      id: `toolu_${digest}_${index + 1}`,
      name,
      input,
    }),
  );
  const blocks = [...text, ...calls].map((value) => ({ value, json: JSON.stringify(value) }));
  const written = blocks.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);
  return {
    id: `msg_${digest}`,
    stopReason: recipeStopReason(answer),
    blocks,
    cutToolUse: false,
    usage: { ...NO_USAGE, input_tokens: tokensOf(body.byteLength), output_tokens: tokensOf(written) },
  };
}

function tokensOf(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/**
 * The model of the memory campaign. It answers from the conversation alone, so a request that is repeated gets the same answer. Its
 * notes name the step that they are about, so one that is lost or doubled shows.
 */
import type { Answer, RequestView } from 'ramet/emulator';
import { DREAM } from '../../packages/ramet/src/memory/dream/run-dream.ts';
import { EXTRACT } from '../../packages/ramet/src/sdk/background/extract-memory.ts';

/** Found in every answer about memory, and never to be found in memory. */
export const SECRET: string = `ghp_${'Xk29vQpL7mTzR4bNc8Wd'}${'Hs63YfJa5gEu1oVi'}`;
/** What every fork finds again: it is to be in memory once. */
export const KNOWN_FACT = 'The build of this project needs Node 24.';

export function wishOf(step: number): string {
  return `Always name branch number ${step} after its ticket.`;
}

export function factOf(step: number): string {
  return `Module number ${step} reads the format of archive ${step}.`;
}

export function promptOf(step: number): string {
  return `Do step ${step}. ${wishOf(step)}`;
}

const STEP = /Do step (\d+)\./g;

export function answerOf({ task, request }: RequestView): Answer {
  if (task.startsWith(DREAM)) return { text: 'NOTHING' };
  // Long enough that a fork is cheap beside it.
  if (!task.startsWith(EXTRACT)) return { text: 'Done with this step. '.repeat(400) };
  const steps = [...JSON.stringify(request.messages).matchAll(STEP)].map(([, step]) => Number(step));
  const last = Math.max(0, ...steps);
  return {
    text: [
      `FACT modules: ${factOf(last)}`,
      `FACT build: ${KNOWN_FACT}`,
      `FACT deploy: The token of the deploy is ${SECRET}.`,
      `USER: ${wishOf(last)}`,
      `NOTE: Step ${last} is done.`,
    ].join('\n'),
  };
}

export function isAboutMemory(body: string): boolean {
  return body.includes(EXTRACT) || body.includes(DREAM);
}

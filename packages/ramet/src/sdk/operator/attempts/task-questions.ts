/**
 * Questions about permission of a run without a person beside it: each belongs to a task, which waits while the others
 * continue, and can be answered from anywhere. A question has the same name when it is asked again after a crash, and another one
 * when another try of the task asks the same: an answer is for one try.
 */
import { createHash } from 'node:crypto';
import type { AttemptWatch } from '../../../operator/run/ports.ts';
import type { PermissionAnswer, PermissionBroker, PermissionQuestion } from '../../../permission/broker.ts';
import { denyingBroker } from '../../../permission/broker.ts';
import { Cancelled } from '../../../schema/errors.ts';
import type { TaskQuestion } from '../../../schema/operator-events.ts';
import { onAbort } from '../../../system/on-abort.ts';

export type GivenAnswer = 'once' | 'always' | 'denied';

interface Asker {
  readonly question: PermissionQuestion;
  resolve(answer: PermissionAnswer): void;
}

interface TaskOfAgent {
  readonly task: string;
  readonly watch: AttemptWatch;
}

export class TaskQuestions implements PermissionBroker {
  /** By the agent of the task; questions of agents below it are its own. */
  readonly #tasks: Map<string, TaskOfAgent> = new Map();
  readonly #open: Map<string, Asker> = new Map();
  /** Answers that came before the question was asked again. */
  readonly #early: Map<string, GivenAnswer> = new Map();

  /** Returns the unsubscribe function. */
  watch(agent: string, task: string, watch: AttemptWatch): () => void {
    this.#tasks.set(agent, { task, watch });
    return () => void this.#tasks.delete(agent);
  }

  /** An answer to a question of an earlier process. */
  expect(question: string, answer: GivenAnswer): void {
    this.#early.set(question, answer);
  }

  /** For one that its agent has asked before it was interrupted, too: it asks again when it is resumed. */
  answerLater(id: string, answer: GivenAnswer): true {
    if (!this.answer(id, answer)) this.expect(id, answer);
    return true;
  }

  /** False if no such question is open. */
  answer(id: string, answer: GivenAnswer): boolean {
    const asker = this.#open.get(id);
    if (asker === undefined) return false;
    asker.resolve(answerOf(answer, asker.question));
    return true;
  }

  async ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer> {
    const agent = this.#tasks.has(question.agent) ? question.agent : (question.parent ?? '');
    const found = this.#tasks.get(agent);
    if (found === undefined) return denyingBroker.ask(question, signal);
    const id = nameOf(found.task, agent, question);
    const early = this.#early.get(id);
    if (early !== undefined) {
      this.#early.delete(id);
      return answerOf(early, question);
    }
    const { promise, resolve, reject } = Promise.withResolvers<PermissionAnswer>();
    const unlink = onAbort(signal, () => reject(new Cancelled()));
    this.#open.set(id, { question, resolve });
    found.watch.asked(asRecorded(id, question));
    try {
      const answer = await promise;
      found.watch.answered();
      return answer;
    } finally {
      this.#open.delete(id);
      unlink();
    }
  }
}

function nameOf(task: string, agent: string, { tool, summary, whole = summary }: PermissionQuestion): string {
  const text = [task, agent, tool, whole].join('\0');
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 4);
  return `${task.replace(/[^\w.-]+/g, '-')}-${digest}`;
}

function asRecorded(
  id: string,
  { agent, tool, summary, whole = summary, reason, suggestedRules }: PermissionQuestion,
): TaskQuestion {
  return { id, agent, tool, summary: whole, reason, rules: suggestedRules };
}

function answerOf(answer: GivenAnswer, { suggestedRules }: PermissionQuestion): PermissionAnswer {
  if (answer === 'denied') return { kind: 'denied', reason: 'a person has refused it. Continue without it' };
  return answer === 'always' && suggestedRules.length > 0
    ? { kind: 'always', rules: suggestedRules }
    : { kind: 'once' };
}

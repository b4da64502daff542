/**
 * Plays the model of `ramet demo`: an agent looks at a check that fails and forks into five, and each fork fixes one file on
 * a branch of its own. `FiveAtWork` holds the answers to the forks in the middle of their work, so that the process can be
 * killed while all five wait for the model and none runs a command.
 */
import { DEMO_CHECK, MISTAKES, type Mistake } from './demo-project.ts';
import type { PlayedAnswer, PlayedModel } from './operate-story.ts';

type AskedModel = Parameters<PlayedModel>[0];

export const DEMO_PROMPT: string = `Fix what ${DEMO_CHECK} finds, with one agent for each file.`;

/** Forks have read and edited their file; what comes next is the check and the commit. */
const HELD_TURN = 2;

export class FiveAtWork implements Disposable {
  readonly #held = new Set<string>();
  readonly #free = Promise.withResolvers<void>();
  #isFree = false;

  /** How many forks wait for an answer. */
  get held(): number {
    return this.#held.size;
  }

  readonly respond: PlayedModel = async (view) => {
    const mistake = view.isFork ? MISTAKES.find(({ name }) => view.task.includes(`${name}.js`)) : undefined;
    if (mistake === undefined) return mainAnswer(view);
    if (view.turn === HELD_TURN && !this.#isFree) {
      this.#held.add(mistake.name);
      await this.#free.promise;
    }
    return forkAnswer(mistake, view);
  };

  release(): void {
    this.#isFree = true;
    this.#free.resolve();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

function mainAnswer({ turn, lastToolResult }: AskedModel): PlayedAnswer {
  if (turn === 0) return call('I run the check first.', 'Bash', { command: DEMO_CHECK });
  if (turn > 1) return { text: 'All five are fixed, each on its own branch.' };
  if (!lastToolResult.includes('should be'))
    return { text: `The check does not run here: ${lastToolResult.trim()}` };
  return {
    text: 'Five files, five mistakes, and none depends on another: one agent for each.',
    tool_use: MISTAKES.map(({ name }) => ({
      name: 'Agent',
      input: {
        description: `fix ${name}`,
        prompt: `Fix ${name}.js, run its check and commit.`,
        ...{ name, isolation: 'worktree', expect: { commit: true, check: `${DEMO_CHECK} ${name}` } },
      },
    })),
  };
}

function forkAnswer({ name, fix: [part, instead], message }: Mistake, { turn }: AskedModel): PlayedAnswer {
  const file = `${name}.js`;
  switch (turn) {
    case 0:
      return call(`I read ${file}.`, 'Read', { file_path: file });
    case 1:
      return call('I see the mistake.', 'Edit', { file_path: file, old_string: part, new_string: instead });
    case HELD_TURN: {
      const command = `${DEMO_CHECK} ${name} && git commit -qam '${message}'`;
      return call('Now its check, and the commit.', 'Bash', { command });
    }
    default:
      return { text: `Scope: ${file}. Its check passes, and the fix is committed: ${message}.` };
  }
}

function call(text: string, name: string, input: Record<string, unknown>): PlayedAnswer {
  return { text, tool_use: [{ name, input }] };
}

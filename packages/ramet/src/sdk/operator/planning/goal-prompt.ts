/** What the agent is told that turns a goal into a task file, and what it hears when the file has errors. */
import type { TaskProblem } from '../../../operator/tasks/listed-task.ts';

/** A list of more is no plan that a person can read. */
export const MOST_TASKS = 60;
const MOST_PROBLEMS = 20;

export function goalPrompt(goal: string): string {
  return `Split a goal into tasks for agents that work at the same time, each in a git worktree of its own. Each agent sees only its own task. Their work is merged and checked as a whole.

<goal>
${goal}
</goal>

Read the code that matters first. Then answer with the task list as one YAML block, in this form, and nothing after it. It takes the place of the report and of the critical files:

\`\`\`yaml
tasks:
  - id: parser
    title: Read durations such as 90s and 2h in src/duration.ts
    files: [src/duration.ts, test/duration.test.ts]
    details: |
      What must be true when it is done, which functions and files matter, and how to test it.
  - id: flag
    title: Accept durations in the --timeout flag
    depends_on: [parser]
    files: [src/cli.ts]
\`\`\`

- At most ${MOST_TASKS} tasks, as few as make sense. Each is one change that an agent can finish and test by itself.
- depends_on: only tasks whose result it needs. Tasks that need nothing start at once.
- files: paths from the root of the repository that it changes or creates. Tasks that name one file do not run at the same time: put changes of one file into one task where you can.
- Other keys that you may use: optional (true), phase, and gate (what a person must do before it starts). Leave out check, model, type, budget, max_turns, effort, isolation and status: the person who runs the list decides these.
- Quote texts that contain ": " or " #", and use no fences (three backticks) inside the block.`;
}

export function problemPrompt(problems: readonly Pick<TaskProblem, 'line' | 'column' | 'message'>[]): string {
  const lines = problems
    .slice(0, MOST_PROBLEMS)
    .map(({ line, column, message }) => `- line ${line}, column ${column}: ${message}`);
  const more = problems.length > MOST_PROBLEMS ? [`- and ${problems.length - MOST_PROBLEMS} more`] : [];
  return `Your task list cannot be used:\n${[...lines, ...more].join('\n')}\n\nAnswer with the whole list again, corrected, as one YAML block and nothing after it.`;
}

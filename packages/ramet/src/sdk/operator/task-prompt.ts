/** What the agent of a task is told. What all tasks share comes first; nothing in it is longer than a page. */

import { checkOf } from '../../operator/run/decisions.ts';
import type { AttemptOrder } from '../../operator/run/ports.ts';

export function taskPrompt({ run, task, attempt, before }: AttemptOrder): string {
  const check = checkOf(run, task);
  const list = run.file === null ? 'a list of tasks' : `the task list ${run.file}`;
  const parts = [
    `Do one task of ${list}. Other agents do the others at the same time: do this one only, and leave the task list as it is.`,
    'Work in your directory, a git worktree of your own. Change files there; committing is optional. Do not push, merge or switch branches: your work is merged with that of the others when you have ended.',
    check === null
      ? 'Check your work before you end.'
      : `Then this command must succeed on the merged files: ${check.command}\nRun it, or the part that concerns you, before you end.`,
    `Task ${task.id}: ${task.title}${task.phase === null ? '' : ` (${task.phase})`}`,
    ...(task.text === '' ? [] : [`<task>\n${task.text}\n</task>`]),
    ...(task.rest === null
      ? []
      : [`This is the beginning. The whole description is in ${task.rest}: read what you need of it.`]),
    ...(task.files.length === 0 ? [] : [`Files that it names: ${task.files.slice(0, 30).join(', ')}`]),
    ...(before === null ? [] : [failureText(before)]),
    'End with a short report: what you changed, and what is left.',
  ];
  return `${parts.join('\n\n')}${attempt.number > 1 && before === null ? '\n\nOthers try the same task; the first that passes counts.' : ''}`;
}

const LONGEST_MESSAGE = 1_000;

function failureText({ branch, cause, message }: NonNullable<AttemptOrder['before']>): string {
  const why = [cause, message].filter(Boolean).join(': ').slice(0, LONGEST_MESSAGE);
  const where =
    branch === null
      ? ''
      : ` What was done is on the branch ${branch} (git diff HEAD...${branch}): use what is good.`;
  return `An earlier attempt failed (${why}).${where} Your directory begins with what the others have finished since.`;
}

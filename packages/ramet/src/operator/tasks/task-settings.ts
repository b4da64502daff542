/** What a task sets for itself, as a run takes it; each value that cannot be taken is a mistake of the file. */
import { ISOLATIONS, type RunTaskSettings } from '../../schema/operator-events.ts';
import { EFFORTS } from '../../schema/status.ts';
import { isEnded, type ListedTask, type TaskSettings } from './listed-task.ts';
import { readBudgetText, readTurnsText } from './task-budget.ts';
import type { TaskDraft } from './task-draft.ts';

interface SettingProblem {
  name: keyof TaskSettings;
  message: string;
}

export function readSettings({ id, settings }: Pick<ListedTask, 'id' | 'settings'>): {
  settings: RunTaskSettings;
  problems: SettingProblem[];
} {
  const { check, model, type, budget, max_turns: turns, effort, isolation, review } = settings;
  const problems: SettingProblem[] = [];
  const wrong = (name: keyof TaskSettings, advice: string): void =>
    void problems.push({ name, message: `the ${name} of ${id} is "${settings[name]}": write ${advice}` });
  const known = EFFORTS.find((name) => name === effort);
  if (effort !== undefined && known === undefined) wrong('effort', EFFORTS.join(', '));
  const where = ISOLATIONS.find((name) => name === isolation?.toLowerCase());
  if (isolation !== undefined && where === undefined) wrong('isolation', ISOLATIONS.join(', '));
  const limits = budget === undefined ? undefined : readBudgetText(budget);
  if (limits === null) wrong('budget', 'dollars, tokens or a time, such as $0.50, 20000 tokens, 10 minutes');
  const maxTurns = turns === undefined ? undefined : readTurnsText(turns);
  if (maxTurns === null) wrong('max_turns', 'a whole number above 0');
  const own = {
    ...(check !== undefined && { check }),
    ...(model !== undefined && { model }),
    ...(type !== undefined && { type }),
    ...(limits !== undefined && limits !== null && { budget: limits }),
    ...(maxTurns !== undefined && maxTurns !== null && { maxTurns }),
    ...(known !== undefined && { effort: known }),
    ...(review !== undefined && { review: reviewTypes(review) }),
    ...(where !== undefined && { isolation: where }),
  };
  return { settings: own, problems };
}

export function checkSettings(draft: TaskDraft): void {
  for (const task of draft.tasks.filter(({ status }) => !isEnded(status)))
    for (const { name, message } of readSettings(task).problems)
      draft.problem({ file: task.file, ...(task.settingPlaces[name] ?? { line: task.line }) }, message);
}

/** `none` for nobody. */
function reviewTypes(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== '' && name.toLowerCase() !== 'none'))];
}

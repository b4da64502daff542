/** What a task sets for itself, as a run takes it; each value that cannot be taken is a mistake of the file. */
import { ISOLATIONS, type RunTaskSettings } from '../../schema/operator-events.ts';
import { type BudgetLimits, EFFORTS } from '../../schema/status.ts';
import { isEnded, type ListedTask, type TaskSettings } from './listed-task.ts';
import type { TaskDraft } from './task-draft.ts';

interface SettingProblem {
  name: keyof TaskSettings;
  message: string;
}

export function readSettings({ id, settings }: Pick<ListedTask, 'id' | 'settings'>): {
  settings: RunTaskSettings;
  problems: SettingProblem[];
} {
  const { check, model, type, budget, effort, isolation, review } = settings;
  const problems: SettingProblem[] = [];
  const wrong = (name: keyof TaskSettings, advice: string): void =>
    void problems.push({ name, message: `the ${name} of ${id} is "${settings[name]}": write ${advice}` });
  const known = EFFORTS.find((name) => name === effort);
  if (effort !== undefined && known === undefined) wrong('effort', EFFORTS.join(', '));
  const where = ISOLATIONS.find((name) => name === isolation?.toLowerCase());
  if (isolation !== undefined && where === undefined) wrong('isolation', ISOLATIONS.join(', '));
  const limits = budget === undefined ? undefined : readBudgetText(budget);
  if (limits === null) wrong('budget', 'dollars, such as $0.50');
  const own = {
    ...(check !== undefined && { check }),
    ...(model !== undefined && { model }),
    ...(type !== undefined && { type }),
    ...(limits !== undefined && limits !== null && { budget: limits }),
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

/** `$0.50`, `0.5`, `0.5 USD`, `20000 tokens`; null for anything else. */
function readBudgetText(text: string): BudgetLimits | null {
  const tokens = /^(\d{1,12})\s*(k?)\s*tokens?$/i.exec(text.trim());
  if (tokens !== null) {
    const count = Number(tokens[1]) * (tokens[2] === '' ? 1 : 1_000);
    return count > 0 ? { tokens: count } : null;
  }
  const dollars = /^\$?\s*(\d{1,9}(?:\.\d{1,6})?)\s*(?:\$|usd|dollars?)?$/i.exec(text.trim())?.[1];
  return dollars === undefined || Number(dollars) <= 0 ? null : { usd: Number(dollars) };
}

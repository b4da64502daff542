/** Tasks from JSON, with the place of every value. */
import { JsonMistake, parsePositionedJson } from '../../../settings/positioned-json.ts';
import { TaskDraft } from '../task-draft.ts';
import { readTaskValues, type ValueOptions, type ValuePlaces } from './task-values.ts';

export function readJsonTasks(text: string, options: Omit<ValueOptions, 'strict'>): TaskDraft {
  try {
    const { value, lineOf, offsetOf } = parsePositionedJson(text);
    const places: ValuePlaces = {
      placeOf(path) {
        const at = offsetOf(path);
        return { line: lineOf(path), column: at === undefined ? 1 : at - text.lastIndexOf('\n', at - 1) };
      },
      markOf(path) {
        const at = offsetOf(path);
        if (at === undefined || text[at] !== '"') return null;
        const end = text.indexOf('"', at + 1);
        return { start: at + 1, end };
      },
      newMarkOf(path) {
        const start = offsetOf(path);
        if (start === undefined) return null;
        const entry = /\{(\s*)(?=")/y;
        entry.lastIndex = start;
        const space = entry.exec(text)?.[1];
        if (space !== undefined) {
          const at = start + 1 + space.length;
          return { start: at, end: at, around: ['"status": "', `",${space === '' ? ' ' : space}`] };
        }
        const title = /"(?:[^"\\]|\\.)*"/y;
        title.lastIndex = start;
        const words = title.exec(text)?.[0];
        if (words === undefined) return null;
        return { start, end: start + words.length, around: [`{ "title": ${words}, "status": "`, '" }'] };
      },
    };
    return readTaskValues(value, places, { ...options, strict: false });
  } catch (error) {
    if (!(error instanceof JsonMistake)) throw error;
    const draft = new TaskDraft(options.file);
    draft.problem(error, `this is no valid JSON: ${error.message}`);
    return draft;
  }
}

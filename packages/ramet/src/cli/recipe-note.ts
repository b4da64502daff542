/** The line that `ramet` says when nobody chose the recipe model and it is used all the same (MODEL-1). */
import { RECIPE_MODEL } from '../model/catalog.ts';
import type { CommandIo } from './io.ts';

const NO_KEY =
  'no key set: using the recipe model, which carries out the commands in the task (see docs/recipe.md)';

/** `chosen`: the user named a model, or the session that goes on had one. */
export function noteRecipe(model: string, chosen: boolean, io: CommandIo): void {
  if (model === RECIPE_MODEL && !chosen) io.note(NO_KEY);
}

/** `ramet agents`: every agent type, where it comes from, and what it shadows; validate; show what a child sees. */
import { openStore } from '../../sdk/agent-types/agent-types.ts';
import { viewChild } from '../../sdk/agent-types/child-view.ts';
import { checkTypes } from '../../sdk/calls/check-types.ts';
import { findPlace } from '../../sdk/place.ts';
import { problemLines, typeListObject, typeListText } from '../../views/type-list.ts';
import { childViewObject, childViewText } from '../agent-types/child-view-text.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';
import { paintFields, paintGroups, styleFor } from '../output/painted.ts';

interface AgentsOptions {
  json?: boolean;
}

export async function agents(options: AgentsOptions, io: CommandIo): Promise<void> {
  using store = await openStore(findPlace(io), io.env);
  await store.refresh();
  const { catalog } = store;
  io.out(
    options.json
      ? `${JSON.stringify(typeListObject(catalog))}\n`
      : paintGroups(typeListText(catalog, io.columns), styleFor(io)),
  );
}

/** Exits with 1 when a file cannot be used. */
export async function validateAgents(
  paths: readonly string[],
  options: AgentsOptions,
  io: CommandIo,
): Promise<number> {
  const checked = await checkTypes(paths, callFrom(io));
  const errors = checked.problems.filter(({ level }) => level === 'error').length;
  const warnings = checked.problems.filter(({ level }) => level === 'warning').length;
  const { files, definitions, problems } = checked;
  if (options.json) io.out(`${JSON.stringify({ files, definitions, errors, warnings, problems })}\n`);
  else {
    for (const line of problemLines(problems)) io.out(line.trimStart());
    io.out(`files: ${files}, definitions: ${definitions}, errors: ${errors}, warnings: ${warnings}\n`);
  }
  return errors > 0 ? EXIT.failed : EXIT.done;
}

export async function showAgentType(name: string, options: AgentsOptions, io: CommandIo): Promise<void> {
  const view = await viewChild(name, { cwd: io.cwd, env: io.env });
  io.out(
    options.json
      ? `${JSON.stringify(childViewObject(view))}\n`
      : paintFields(childViewText(view), styleFor(io)),
  );
}

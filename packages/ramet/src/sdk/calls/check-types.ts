/** Looks for what is wrong in files that define agent types. */
import { resolve } from 'node:path';
import type { DefinitionProblem } from '../../agents/definitions/definition.ts';
import { validateDefinitions } from '../../agents/definitions/validate-definitions.ts';
import { type ListedAgentType, listedType } from '../../views/type-list.ts';
import { openStore, toolNames } from '../agent-types/agent-types.ts';
import { findPlace } from '../place.ts';
import { type Caller, type CallOptions, callerOf } from './caller.ts';

export type CheckedTypes = ReturnType<typeof validateDefinitions>;

/** `paths` are files and folders, wherever they are; without any, all that count in this place. */
export async function checkTypes(paths: readonly string[], options: CallOptions = {}): Promise<CheckedTypes> {
  const caller = callerOf(options);
  if (paths.length === 0) return checkPlace(caller);
  return validateDefinitions(
    paths.map((path) => resolve(caller.cwd, path)),
    toolNames(),
  );
}

async function checkPlace(caller: Caller): Promise<CheckedTypes> {
  using store = await openStore(findPlace(caller), caller.env);
  await store.refresh();
  const { entries, problems } = store.catalog;
  const used = entries.flatMap(({ file }) => file?.path ?? []);
  const files = new Set([...used, ...problems.map(({ path }) => path)]).size;
  return { files, definitions: used.length, problems };
}

export interface AgentTypeList {
  types: ListedAgentType[];
  /** What is wrong in their files. */
  problems: readonly DefinitionProblem[];
}

export async function listAgentTypes(options: CallOptions = {}): Promise<AgentTypeList> {
  const { cwd, env } = callerOf(options);
  using store = await openStore(findPlace({ cwd, env }), env);
  await store.refresh();
  const { entries, problems } = store.catalog;
  return { types: entries.map(listedType), problems };
}

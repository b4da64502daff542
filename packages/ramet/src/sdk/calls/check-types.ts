/** Looks for what is wrong in files that define agent types. */
import { resolve } from 'node:path';
import type { DefinitionProblem } from '../../agents/definitions/definition.ts';
import { validateDefinitions } from '../../agents/definitions/validate-definitions.ts';
import { type ListedAgentType, listedType } from '../../views/type-list.ts';
import { openStore, toolNames } from '../agent-types/agent-types.ts';
import { type OwnOnly, type PolicyLoss, policyLosses } from '../agent-types/policy-losses.ts';
import { findPlace } from '../place.ts';
import { describeSettings } from '../session/setup/session-settings.ts';
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
  const losses = policyLosses(store.catalog.definitions, await ownOnly(caller)).map(
    ({ type, field, why }): DefinitionProblem => {
      return {
        path: type.path ?? type.name,
        line: null,
        field,
        level: 'warning',
        message: `left out, ${why}`,
      };
    },
  );
  return { files, definitions: used.length, problems: [...problems, ...losses] };
}

/** What managed policy leaves out of the agent types of a place. Without such a policy nothing is read. */
export async function lossesHere(options: CallOptions = {}): Promise<readonly PolicyLoss[]> {
  const { cwd, env } = callerOf(options);
  const policy = await ownOnly({ cwd, env });
  if (policy.hooks !== 'managed' && policy.servers !== 'managed') return [];
  using store = await openStore(findPlace({ cwd, env }), env);
  await store.refresh();
  return policyLosses(store.catalog.definitions, policy);
}

async function ownOnly({ cwd, env }: Pick<Caller, 'cwd' | 'env'>): Promise<OwnOnly> {
  const { policy } = (await describeSettings(findPlace({ cwd, env }), env)).settings;
  return { hooks: policy?.hooks, servers: policy?.mcpServers };
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

/**
 * The agent types of a session: those that come with Ramet and, where there are folders for them, those of files. Without
 * such folders nothing is loaded: to look costs a few system calls.
 *
 * What a model is told of them stands in the frozen head of its prompt, so it stays what it was when the session began;
 * what comes later is said with the next prompt.
 */

import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import {
  type DefinitionPlace,
  definitionFolders,
  managedFolders,
} from '../../agents/definitions/definition-places.ts';
import type { DefinitionStore } from '../../agents/definitions/definition-store.ts';
import { builtInDefinitions } from '../../agents/prompts/built-in.ts';
import { isTrustedPlace } from '../../settings/read-settings.ts';
import { builtInTools } from '../../tools/registry.ts';
import type { Place } from '../place.ts';
import { settingsPlace } from '../session/session-settings.ts';
import type { OpenTypes } from './definition-types.ts';

export interface AgentTypes extends Disposable {
  readonly definitions: readonly AgentDefinition[];
  /** Looks whether files have changed; `name` is of the type that is about to be used. */
  refresh(name: string | null): Promise<void>;
  whyWithheld(name: string): string | null;
  /** What the user should know when the session begins. */
  notices(): string[];
  /** From now on changes are seen as they happen; `tell` gets a line when an edit breaks a file. */
  watch(tell: (line: string) => void): void;
}

function definitionPlace({ cwd, repository, home }: Place, env: NodeJS.ProcessEnv): DefinitionPlace {
  return {
    cwd,
    root: repository?.root ?? cwd,
    home,
    userHome: env.HOME || null,
    managed: managedFolders(env),
  };
}

export async function openAgentTypes(place: Place, env: NodeJS.ProcessEnv): Promise<AgentTypes> {
  const where = definitionPlace(place, env);
  let tell: ((line: string) => void) | null = null;
  let opened: OpenTypes | null = null;
  let closed = false;
  const look = async (name: string | null): Promise<void> => {
    if (opened !== null) await opened.check(name);
    else if (!closed && definitionFolders(where).length > 0) {
      const { openTypes } = await import('./definition-types.ts');
      const types = await openTypes(await openStore(place, env));
      if (opened !== null || closed) return;
      opened = types;
      if (tell !== null) types.watch(tell);
    }
  };
  await look(null);
  return {
    get definitions() {
      return opened?.store.catalog.definitions ?? builtInDefinitions;
    },
    refresh: look,
    whyWithheld: (name) => opened?.whyWithheld(name) ?? null,
    notices: () => opened?.notices() ?? [],
    watch(listener) {
      tell = listener;
      opened?.watch(listener);
    },
    [Symbol.dispose]() {
      closed = true;
      opened?.[Symbol.dispose]();
    },
  };
}

/** The definitions of a place, not read yet. */
export async function openStore(place: Place, env: NodeJS.ProcessEnv): Promise<DefinitionStore> {
  const { DefinitionStore } = await import('../../agents/definitions/definition-store.ts');
  return new DefinitionStore({
    place: definitionPlace(place, env),
    builtIn: builtInDefinitions,
    toolNames: toolNames(),
    isTrusted: () => isTrustedPlace(settingsPlace(place, env)),
  });
}

/** Of all tools there are. */
export function toolNames(): string[] {
  return builtInTools({ fork: true, types: [] }).map(({ name }) => name);
}

/**
 * The skills and commands of a session (EXT-3). Where there are no folders for them nothing is loaded: to look costs a few
 * system calls.
 */
import type { AgentFamily } from '../../engine/shapes.ts';
import { type ExtensionPlace, extensionFolders } from '../../extensions/extension-places.ts';
import type { PromptFile } from '../../extensions/prompts/prompt-file.ts';
import type { PromptStore } from '../../extensions/prompts/prompt-store.ts';
import { isTrustedPlace } from '../../settings/read-settings.ts';
import type { SettingsPlace } from '../../settings/settings.ts';

export interface SessionPrompts {
  /** As they were when they were last looked at. */
  readonly all: readonly PromptFile[];
  /** Looks again if none has that name; null if none exists then. */
  find(name: string): Promise<PromptFile | null>;
  /** What the user should know when the session begins. */
  notices(): string[];
  /** Null if no folder for them exists. */
  readonly store: PromptStore | null;
  /** Who may ask for them; null before the session is open. */
  family: AgentFamily | null;
}

export async function openPrompts(place: ExtensionPlace, trust: SettingsPlace): Promise<SessionPrompts> {
  let store: PromptStore | null = null;
  const look = async (): Promise<void> => {
    if (store === null && !hasPrompts(place)) return;
    if (store === null) {
      const { PromptStore } = await import('../../extensions/prompts/prompt-store.ts');
      store = new PromptStore({ place: () => place, isTrusted: () => isTrustedPlace(trust) });
    }
    await store.refresh();
  };
  await look();
  const all = (): readonly PromptFile[] => store?.catalog.prompts ?? [];
  return {
    get all() {
      return all();
    },
    family: null,
    get store() {
      return store;
    },
    async find(name) {
      if (store === null && !hasPrompts(place)) return null;
      const { findPrompt } = await import('../../extensions/prompts/prompt-store.ts');
      const known = findPrompt(all(), name);
      if (known !== undefined) return known;
      await look();
      return findPrompt(all(), name) ?? null;
    },
    notices: () => (store === null ? [] : promptNotices(store)),
  };
}

function hasPrompts(place: ExtensionPlace): boolean {
  return extensionFolders(place, 'skills').length > 0 || extensionFolders(place, 'commands').length > 0;
}

function promptNotices({ catalog: { untrusted, problems } }: PromptStore): string[] {
  const bad = new Set(problems.filter(({ level }) => level === 'error').map(({ path }) => path)).size;
  return [
    ...(untrusted.length === 0
      ? []
      : [`${counted(untrusted.length)} of this repository, which is not trusted: not in use (ramet trust)`]),
    ...(bad === 0 ? [] : [`${counted(bad)} that cannot be used: ramet settings says why`]),
  ];
}

function counted(count: number): string {
  return count === 1 ? '1 skill or command' : `${count} skills and commands`;
}

/**
 * The skills and commands of a session (EXT-3). Where there are no folders for them nothing is loaded: to look costs a few
 * system calls.
 */
import type { AgentFamily } from '../../engine/shapes.ts';
import { type ExtensionPlace, extensionFolders } from '../../extensions/extension-places.ts';
import type { FileProblem } from '../../extensions/front-matter/field-problem.ts';
import type { PromptFile } from '../../extensions/prompts/prompt-file.ts';
import type { PromptCatalog, PromptStore } from '../../extensions/prompts/prompt-store.ts';
import { isOwnPlace } from '../../settings/read-settings.ts';
import type { SettingsPlace } from '../../settings/settings.ts';

export interface SessionPrompts {
  /** As they were when they were last looked at. */
  readonly all: readonly PromptFile[];
  /** Looks again if none has that name; null if none exists then. */
  find(name: string): Promise<PromptFile | null>;
  /** Why one that is there may not be used now. This reads it again, with all its files. */
  whyNot(prompt: PromptFile): Promise<string | null>;
  /** What the user should know when the session begins; `tools` are those that it has besides the built-in ones. */
  notices(tools: readonly string[]): Promise<string[]>;
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
      const { folderTrust } = await import('../../extensions/trust/folder-trust.ts');
      const own = isOwnPlace(trust) ? { ...trust, isGiven: true } : trust;
      store = new PromptStore({ place: () => place, trust: () => folderTrust(own) });
    }
    await store.refresh();
  };
  await look();
  const all = (): readonly PromptFile[] => store?.catalog.prompts ?? [];
  const readRules = async (tools: readonly string[]): Promise<readonly FileProblem[]> =>
    all().some(hasRules) ? (await import('./prompt-rules.ts')).ruleProblems(all(), place, tools) : [];
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
    async whyNot({ kind, path, real, source }) {
      if (source !== 'project' || isOwnPlace(trust)) return null;
      const { filePart } = await import('../../extensions/trust/collect-parts.ts');
      const { folderTrust, NOT_AS_TRUSTED, NOT_FOLLOWED_THEN } = await import(
        '../../extensions/trust/folder-trust.ts'
      );
      const { foundFile } = await import('../../extensions/folder-scan.ts');
      const trusted = folderTrust(trust);
      const parts = filePart(kind, foundFile(path, real));
      const verdict = parts.map((part) => trusted.verdictOn(part)).find((one) => one !== 'trusted');
      return verdict === undefined ? null : verdict === 'followed' ? NOT_FOLLOWED_THEN : NOT_AS_TRUSTED;
    },
    notices: async (tools) => (store === null ? [] : promptNotices(store.catalog, await readRules(tools))),
  };
}

function hasPrompts(place: ExtensionPlace): boolean {
  return extensionFolders(place, 'skills').length > 0 || extensionFolders(place, 'commands').length > 0;
}

function promptNotices(
  { untrusted, changed, problems }: PromptCatalog,
  rules: readonly FileProblem[],
): string[] {
  const paths = (level: FileProblem['level'], all: readonly FileProblem[]): number =>
    new Set(all.filter((one) => one.level === level).map(({ path }) => path)).size;
  const bad = paths('error', [...problems, ...rules]);
  const unread = paths('warning', rules);
  return [
    ...(untrusted.length === 0
      ? []
      : [`${counted(untrusted.length)} of this repository, which is not trusted: not in use (ramet trust)`]),
    ...(changed.length === 0
      ? []
      : [
          `${counted(changed.length)} of this repository, not what you trusted: not in use (ramet trust --show shows the difference)`,
        ]),
    ...(bad === 0 ? [] : [`${counted(bad)} that cannot be used: ramet settings says why`]),
    ...(unread === 0
      ? []
      : [`${counted(unread)} with allowed-tools that cannot be read: ramet settings says why`]),
  ];
}

function hasRules({ allowedTools, disallowedTools }: PromptFile): boolean {
  return allowedTools.length > 0 || disallowedTools.length > 0;
}

function counted(count: number): string {
  return count === 1 ? '1 skill or command' : `${count} skills and commands`;
}

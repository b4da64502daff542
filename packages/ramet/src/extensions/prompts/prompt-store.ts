/**
 * The skills and commands of a place (EXT-3). Of all files that give one name, one counts: managed policy before the
 * project, the project before the user, the user before plugins. Files of a project that is not trusted are named and
 * nothing else. Files that have not changed are not read again.
 */
import { type ExtensionFolder, type ExtensionPlace, extensionFolders } from '../extension-places.ts';
import {
  type FoundFile,
  filesEndingIn,
  foundFile,
  readFound,
  type ScanRules,
  SKILL_FILE,
  scanFolder,
} from '../folder-scan.ts';
import type { FileProblem } from '../front-matter/field-problem.ts';
import { ownDigest } from '../trust/folder-part.ts';
import type { FolderTrust } from '../trust/folder-trust.ts';
import type { PromptKind } from './prompt-fields.ts';
import {
  bodyOf,
  type PromptContext,
  type PromptFile,
  parsePrompt,
  type ReadPrompt,
  unusedPrompt,
} from './prompt-file.ts';

export const RULES: Readonly<Record<PromptKind, ScanRules>> = {
  skill: { isWanted: (name) => name === SKILL_FILE, endsAt: SKILL_FILE },
  command: filesEndingIn('.md'),
};

export interface PromptCatalog {
  /** Those that can be asked for, by name. */
  readonly prompts: readonly PromptFile[];
  /** Of a project that is not trusted. */
  readonly untrusted: readonly PromptFile[];
  /** Of a trusted project, and not what was trusted. */
  readonly changed: readonly PromptFile[];
  /** Another one has their name. */
  readonly shadowed: readonly { readonly prompt: PromptFile; readonly by: string }[];
  readonly problems: readonly FileProblem[];
}

export interface PromptStoreOptions {
  place(): ExtensionPlace;
  /** What the project's own files may do; asked again with each look. */
  trust(): Pick<FolderTrust, 'isTrusted' | 'verdictOnOwn'>;
}

interface KeptPrompt {
  stamp: string;
  read: ReadPrompt;
  /** The digest of a project's file; null for others. */
  own: string | null;
}

export class PromptStore {
  readonly #options: PromptStoreOptions;
  #kept = new Map<string, KeptPrompt>();
  #catalog: PromptCatalog = {
    prompts: [],
    untrusted: [],
    changed: [],
    shadowed: [],
    problems: [],
  };

  constructor(options: PromptStoreOptions) {
    this.#options = options;
  }

  get catalog(): PromptCatalog {
    return this.#catalog;
  }

  /** Reads what has changed. */
  async refresh(): Promise<PromptCatalog> {
    const place = this.#options.place();
    const kept = new Map<string, KeptPrompt>();
    const late: { found: FoundFile; text: string; context: PromptContext }[] = [];
    const problems: FileProblem[] = [];
    for (const { kind, folder } of foldersOf(place)) {
      const { files, unreadable } = scanFolder(folder, RULES[kind]);
      for (const { path, reason } of unreadable)
        problems.push({ path, line: null, field: null, level: 'error', message: reason });
      for (const found of files) {
        const before = this.#kept.get(found.path);
        const context = { kind, path: found.path, real: found.real, folder };
        if (before?.stamp === found.stamp) {
          kept.set(found.path, before);
          continue;
        }
        const { read, text } = readPrompt(found, context);
        if (read === null) late.push({ found, text, context });
        const own = folder.source === 'project' ? ownDigest({ value: text }) : null;
        kept.set(found.path, { stamp: found.stamp, read: read ?? unusedPrompt(found.path), own });
      }
    }
    if (late.length > 0) {
      const { yamlFields } = await import('../front-matter/yaml-fields.ts');
      for (const { found, text, context } of late) {
        const read = parsePrompt(text, context, yamlFields) ?? unusedPrompt(found.path);
        const own = kept.get(found.path)?.own ?? null;
        kept.set(found.path, { stamp: found.stamp, read, own });
      }
    }
    this.#kept = kept;
    this.#catalog = catalogOf([...kept.values()], problems, this.#options.trust());
    return this.#catalog;
  }
}

export function foldersOf(place: ExtensionPlace): { kind: PromptKind; folder: ExtensionFolder }[] {
  return [
    ...extensionFolders(place, 'skills').map((folder) => ({ kind: 'skill' as const, folder })),
    ...extensionFolders(place, 'commands').map((folder) => ({ kind: 'command' as const, folder })),
  ];
}

/** `read` is null when it takes YAML to read it. */
function readPrompt(found: FoundFile, context: PromptContext): { read: ReadPrompt | null; text: string } {
  const read = readFound(found);
  if ('text' in read) return { read: parsePrompt(read.text, context, null), text: read.text };
  const problem = { line: null, field: null, level: 'error', message: read.problem } as const;
  return { read: unusedPrompt(found.path, problem), text: '' };
}

/** The body of a file as it is now, or why it cannot be read. */
export function currentBody({ path, real }: PromptFile): { body: string } | { problem: string } {
  const read = readFound(foundFile(path, real));
  return 'problem' in read ? read : { body: bodyOf(read.text) };
}

function catalogOf(
  kept: readonly KeptPrompt[],
  unreadable: readonly FileProblem[],
  trust: ReturnType<PromptStoreOptions['trust']>,
): PromptCatalog {
  const active = new Map<string, PromptFile>();
  const untrusted: PromptFile[] = [];
  const changed: PromptFile[] = [];
  const shadowed: { prompt: PromptFile; by: string }[] = [];
  for (const { read, own } of kept) {
    const { file } = read;
    if (file === null) continue;
    const verdict =
      own === null ? 'trusted' : trust.verdictOnOwn({ kind: file.kind, source: file.path }, own);
    const winner = active.get(identityOf(file.name));
    if (own !== null && !trust.isTrusted) untrusted.push(file);
    else if (verdict !== 'trusted') changed.push(file);
    else if (winner === undefined) active.set(identityOf(file.name), file);
    else shadowed.push({ prompt: file, by: winner.path });
  }
  return {
    prompts: [...active.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    untrusted,
    changed,
    shadowed,
    problems: [...unreadable, ...kept.flatMap(({ read }) => read.problems)],
  };
}

function identityOf(name: string): string {
  return name.trim().toLowerCase();
}

/** By its name, or by the last part of it where only one has that. */
export function findPrompt(prompts: readonly PromptFile[], name: string): PromptFile | undefined {
  const wanted = identityOf(name);
  const exact = prompts.find((one) => identityOf(one.name) === wanted);
  if (exact !== undefined) return exact;
  const [only, ...others] = prompts.filter((one) => identityOf(one.name).endsWith(`:${wanted}`));
  return others.length === 0 ? only : undefined;
}

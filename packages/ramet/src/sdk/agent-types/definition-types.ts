/** The types of definition files in a running session: kept up to date, with notices about them. */

import { identityOf } from '../../agents/definitions/definition-catalog.ts';
import type { DefinitionStore } from '../../agents/definitions/definition-store.ts';
import { fileProblemText } from '../../extensions/front-matter/field-problem.ts';

/** What is open once there are files to read. */
export interface OpenTypes extends Disposable {
  readonly store: DefinitionStore;
  check(name: string | null): Promise<void>;
  watch(tell: (line: string) => void): void;
  whyWithheld(name: string): string | null;
  notices(): string[];
}

export async function openTypes(store: DefinitionStore): Promise<OpenTypes> {
  await store.refresh();
  let known = errorsOf(store);
  let tell: (line: string) => void = () => {};
  const tellNew = (): void => {
    const before = new Set(known);
    known = errorsOf(store);
    for (const line of known) if (!before.has(line)) tell(line);
  };
  return {
    store,
    async check(name) {
      if (await store.check(name)) tellNew();
    },
    watch(listener) {
      tell = listener;
      store.watch(tellNew);
    },
    whyWithheld: (name) => whyWithheld(store, name),
    notices: () => noticesOf(store),
    [Symbol.dispose]: () => store[Symbol.dispose](),
  };
}

function errorsOf({ catalog }: DefinitionStore): string[] {
  return catalog.problems.filter(({ level }) => level === 'error').map(fileProblemText);
}

function whyWithheld({ catalog }: DefinitionStore, name: string): string | null {
  const identity = identityOf(name);
  const entry = catalog.entries.find(
    ({ state, definition }) => state === 'untrusted' && identityOf(definition.name) === identity,
  );
  if (entry !== undefined)
    return `the agent type "${entry.definition.name}" is defined in ${entry.file?.path}, and this repository is not trusted: the user can read that file and run \`ramet trust\``;
  const file = catalog.unusable.find((one) => identityOf(one.name ?? '') === identity);
  const problem = file?.problems.find(({ level }) => level === 'error');
  return problem === undefined
    ? null
    : `the agent type "${name}" cannot be used: ${fileProblemText(problem)}`;
}

function noticesOf({ catalog }: DefinitionStore): string[] {
  const untrusted = catalog.entries.filter(({ state }) => state === 'untrusted').length;
  const files = new Set(catalog.problems.filter(({ level }) => level === 'error').map(({ path }) => path));
  return [
    ...(untrusted === 0
      ? []
      : [
          `${counted(untrusted, 'agent definition')} of this repository ${untrusted === 1 ? 'is' : 'are'} not active: it is not trusted (ramet agents lists, ramet trust trusts)`,
        ]),
    ...(files.size === 0
      ? []
      : [`${counted(files.size, 'agent definition')} cannot be used: ramet agents says why`]),
  ];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/**
 * The options of git commands that can move refs. Git takes any beginning of a long name that only one option of the
 * command has, and letters in one word: `--force-c=main` and `-qB main`. So all names of a command must be known.
 */
export interface GitOptions {
  /** Long names in full, and letters: `--force-create`, `-B`. What git would call ambiguous stands for each of them. */
  flags: ReadonlySet<string>;
  /** What options that take a value were given, by their name in full or letter. */
  values: ReadonlyMap<string, string>;
  /** Of `rebase --exec`, which may be given more than once. */
  programs: readonly string[];
  /** What is no option, before `--`. */
  operands: readonly string[];
  /** What stands after `--`; null without one. */
  paths: readonly string[] | null;
}

const FETCHES =
  'all append atomic auto-gc auto-maintenance deepen= depth= dry-run filter= force ipv4 ipv6 jobs= keep multiple negotiate-only negotiation-tip= prefetch progress prune prune-tags quiet recurse-submodules recurse-submodules-default= refetch refmap= server-option= set-upstream shallow-exclude= shallow-since= show-forced-updates stdin submodule-prefix= tags unshallow update-head-ok update-shallow upload-pack= verbose write-commit-graph write-fetch-head';
const SWITCHES =
  'conflict= detach force guess ignore-other-worktrees merge orphan= overwrite-ignore progress quiet recurse-submodules track';

/** A name that ends in `=` takes a value, which may be the next word. */
const NAMES: Readonly<Record<string, string>> = {
  checkout: `${SWITCHES} ignore-skip-worktree-bits inter-hunk-context= ours overlay patch pathspec-file-nul pathspec-from-file= theirs unified=`,
  switch: `${SWITCHES} create= discard-changes force-create=`,
  branch:
    'abbrev all color column contains copy create-reflog delete edit-description force format= ignore-case list merged move points-at= quiet recurse-submodules remotes set-upstream set-upstream-to= show-current sort= track unset-upstream verbose with without',
  'update-ref': 'batch-updates create-reflog deref stdin',
  'symbolic-ref': 'delete quiet recurse short',
  push: 'all atomic branches delete dry-run exec= follow-tags force force-if-includes force-with-lease ipv4 ipv6 mirror porcelain progress prune push-option= quiet receive-pack= recurse-submodules= repo= set-upstream signed tags thin verbose verify',
  'send-pack':
    'all atomic dry-run exec= force force-if-includes force-with-lease helper-status mirror progress push-option= quiet receive-pack= remote= signed stateless-rpc stdin thin verbose',
  fetch: FETCHES,
  pull: `${FETCHES} allow-unrelated-histories autostash cleanup= commit edit ff ff-only gpg-sign log rebase signoff squash stat strategy= strategy-option= summary verify verify-signatures`,
  rebase:
    'abort allow-empty-message apply autosquash autostash committer-date-is-author-date continue edit-todo empty= exec= ff force-rebase fork-point gpg-sign ignore-date ignore-whitespace interactive keep-base keep-empty merge onto= preserve-merges quiet quit reapply-cherry-picks rebase-merges rerere-autoupdate reschedule-failed-exec reset-author-date root show-current-patch signoff skip stat strategy= strategy-option= trailer= update-refs verbose verify whitespace=',
  reflog:
    'all dry-run expire= expire-unreachable= rewrite single-worktree stale-fix updateref update-ref verbose',
  prune: 'dry-run exclude-promisor-objects expire= progress verbose',
  gc: 'aggressive auto cruft detach expire-to= force keep-largest-pack max-cruft-size= prune quiet',
  'read-tree':
    'aggressive debug-unpack dry-run empty exclude-per-directory= index-output= prefix= quiet recurse-submodules reset sparse-checkout trivial verbose',
};

/** Letters that take a value, which may be the next word. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ checkout: 'bBU', switch: 'cC', branch: 'u', 'update-ref': 'm', 'symbolic-ref': 'm', push: 'o' },
  ...{ fetch: 'oj', pull: 'ojsX', rebase: 'xsXC' },
};

/** What follows these in the same word is their value. */
const JOINED = /S/;

export function gitOptions(command: string, rest: readonly string[]): GitOptions {
  const flags = new Set<string>();
  const values = new Map<string, string>();
  const operands: string[] = [];
  const programs: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (word === '--') return { flags, values, programs, operands, paths: rest.slice(at + 1) };
    if (!word.startsWith('-') || word === '-') operands.push(word);
    else {
      const read = word.startsWith('--') ? longOption(command, word) : shortOptions(command, word);
      for (const name of read.names) flags.add(name);
      const last = read.names.at(-1) ?? '';
      const value = read.value ?? (read.takesNext ? rest[++at] : undefined);
      if (value !== undefined) values.set(last, value);
      if (value !== undefined && /^(?:-x|--exec)$/.test(last)) programs.push(value);
    }
  }
  return { flags, values, programs, operands, paths: null };
}

interface ReadOption {
  names: readonly string[];
  value?: string | undefined;
  takesNext: boolean;
}

function longOption(command: string, word: string): ReadOption {
  const equals = word.indexOf('=');
  const given = equals === -1 ? word : word.slice(0, equals);
  const known = (NAMES[command] ?? '').split(' ').filter((name) => `--${name}`.startsWith(given));
  const exact = known.find((name) => name.replace('=', '') === given.slice(2));
  const meant = exact === undefined ? known : [exact];
  const names = meant.map((name) => `--${name.replace('=', '')}`);
  return {
    names: names.length === 0 ? [given] : names,
    value: equals === -1 ? undefined : word.slice(equals + 1),
    takesNext: meant.length === 1 && meant[0]?.endsWith('=') === true,
  };
}

function shortOptions(command: string, word: string): ReadOption {
  const names: string[] = [];
  for (let at = 1; at < word.length; at++) {
    const letter = word.charAt(at);
    names.push(`-${letter}`);
    if (LETTERS[command]?.includes(letter) === true) {
      const value = word.slice(at + 1);
      return value === '' ? { names, takesNext: true } : { names, value, takesNext: false };
    }
    if (JOINED.test(letter)) break;
  }
  return { names, takesNext: false };
}

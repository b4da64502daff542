/**
 * Options and variables whose value is a command or a script: of programs that run it besides what they do themselves. What
 * runs the words behind it is in `launchers.ts`. A value that runs only with a second option counts, too.
 */

interface ScriptOptions {
  /** Without dashes, as `optionValues` takes them. */
  readonly names: string;
  /** The value holds it only in this form. */
  readonly within?: RegExp;
}

const SSH: ScriptOptions = {
  names: 'o',
  within: /^(?:proxy|local|knownhosts|proxyuse\w*)command[\s=]+"?(.*?)"?$/is,
};

const OPTIONS: Readonly<Record<string, ScriptOptions>> = {
  'ssh slogin autossh': SSH,
  'scp sftp': SSH,
  rsync: { names: 'e rsh' },
  zip: { names: 'TT unzip-command' },
  man: { names: 'P H pager html' },
  'rg ripgrep': { names: 'pre hostname-bin' },
  'ag ack bat batcat delta': { names: 'pager' },
  fzf: { names: 'preview with-shell' },
  tcpdump: { names: 'z' },
  go: { names: 'exec toolexec vettool' },
  'gcc g++ cc c++ clang': { names: 'wrapper' },
  logrotate: { names: 'm mail' },
  msmtp: { names: 'passwordeval' },
  sqlite3: { names: 'cmd', within: /^\.(?:shell|system)\s+(.*)$/s },
  'vi vim nvim ex view': { names: 'c cmd', within: /^:?!(.*)$/s },
};

const BY_NAME: ReadonlyMap<string, ScriptOptions> = new Map(
  Object.entries(OPTIONS).flatMap(([names, one]) => names.split(' ').map((name) => [name, one] as const)),
);

export function scriptOptionsOf(name: string): ScriptOptions | null {
  return BY_NAME.get(name) ?? null;
}

const SHARED = 'upload-pack upload receive-pack receive exec';

/** Of subcommands of git. */
const GIT_OPTIONS: Readonly<Record<string, string>> = {
  'fetch pull push ls-remote archive fetch-pack send-pack': SHARED,
  clone: `${SHARED} u`,
  difftool: 'x extcmd',
  grep: 'O open-files-in-pager',
  'filter-branch':
    'setup subdirectory-filter env-filter tree-filter index-filter parent-filter msg-filter commit-filter tag-name-filter',
  'send-email': 'sendmail-cmd to-cmd cc-cmd header-cmd smtp-server',
  instaweb: 'd httpd b browser',
};

const GIT_BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(GIT_OPTIONS).flatMap(([names, one]) => names.split(' ').map((name) => [name, one] as const)),
);

export function gitScriptOptions(command: string): string {
  return GIT_BY_NAME.get(command) ?? '';
}

/** Keys of git's configuration that hold a command: `git config alias.x '!y'`. */
export const GIT_SETTING: RegExp =
  /^(?:alias|pager|filter|credential|diff|difftool|mergetool|merge|browser|man|guitool|gpg|sendemail|trailer|uploadpack|core|sequence|interactive|tar|remote|submodule|instaweb)\..*(?:editor|command|cmd|driver|textconv|clean|smudge|process|helper|program|fsmonitor|pager|askpass|gitproxy|hook|path|difffilter|external|vcs|update|uploadpack|receivepack|browser)$|^(?:alias|pager)\.|^(?:core|sequence)\.(?:editor|pager)$/i;

const VARIABLES = new RegExp(
  `^(?:${[
    String.raw`GIT_(?:(?:SEQUENCE_)?EDITOR|SSH(?:_COMMAND)?|PAGER|EXTERNAL_DIFF|PROXY_COMMAND|ASKPASS|CONFIG_VALUE_\d+)`,
    '(?:[A-Z]+_)?(?:EDITOR|PAGER|ASKPASS|BROWSER)|(?:MAN|CABAL)PAGER|VISUAL|FCEDIT|HGEDITOR',
    'LESS(?:OPEN|CLOSE)|PROMPT_COMMAND|PS[0-4]|BASH_ENV|ENV|(?:RSYNC|CVS|HG)_(?:RSH|SSH|CONNECT_PROG)|CVS_RSH|RUSTC_(?:WORKSPACE_)?WRAPPER|CARGO_BUILD_RUSTC|npm_config_(?:script_shell|editor|git)',
  ].join('|')})$`,
);

export function isScriptVariable(name: string): boolean {
  return VARIABLES.test(name);
}

/** What such a variable makes a program run; null where only the running shell knows. */
export function scriptOfVariable(name: string, value: string | null, source: string): string | null {
  // The shell reads the file; what a process prints for it is spelled out.
  if (/^(?:BASH_)?ENV$/.test(name) && source.startsWith('<(')) return `. ${source}`;
  if (value === null) return null;
  if (/^(?:PS\d|(?:BASH_)?ENV)$/.test(name)) return `: ${value}`;
  if (name.startsWith('LESS')) return value.replace(/^[|-]+/, '');
  return value.replace(/^!/, '');
}

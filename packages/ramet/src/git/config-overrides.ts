/**
 * What of git's configuration names a program, and what to set in its place so that the program does not run. A value
 * cannot be taken back in git, only set again: so each key gets one that runs nothing of the folder's. Where there is
 * no such value git fails, and nothing runs.
 */
export interface ConfigEntry {
  /** `local` and `worktree` are the folder's; `system` and `global` the user's. */
  scope: string;
  /** Section and name in small letters, the part between as written. */
  key: string;
  value: string;
}

export interface ConfigOverrides {
  settings: readonly (readonly [key: string, value: string])[];
  environment: Readonly<Record<string, string>>;
  /** Content filters that only the folder defines. */
  filters: readonly string[];
  /** It names a program that serves a remote. */
  namesTransport: boolean;
}

const NEUTRAL: readonly (readonly [RegExp, string])[] = [
  [/^core\.pager$/, 'cat'],
  [/^core\.askpass$/, ''],
  [/^core\.sshcommand$/, 'ssh'],
  [/^core\.alternaterefscommand$/, 'true'],
  [/^(?:core|sequence)\.editor$/, 'true'],
  [/^pager\./, 'false'],
  [/^interactive\.difffilter$/, 'cat'],
  [/^diff\.external$/, 'false'],
  [/^diff\.submodule$/, 'short'],
  [/^diff\..+\.textconv$/s, 'cat'],
  // A conflict, for somebody to look at: an empty driver would take one side in silence.
  [/^merge\..+\.driver$/s, 'false'],
  [/^gpg\.(?:.+\.)?(?:program|defaultkeycommand)$/s, 'false'],
  [/^log\.showsignature$/, 'false'],
  [/^remote\..+\.vcs$/s, 'none'],
  [/^protocol\.allow$/, 'user'],
  [/^protocol\.ext\.allow$/, 'never'],
  [/^submodule\.recurse$/, 'false'],
  [/^submodule\..+\.update$/s, 'checkout'],
  [/^submodule\..+\.ignore$/s, 'dirty'],
  [/^status\.submodulesummary$/, 'false'],
  [/^trailer\..+\.(?:command|cmd)$/s, 'true'],
  [/^gc\.recentobjectshook$/, 'true'],
  [/^lfs\.standalonetransferagent$/, ''],
  [/^lfs\.extension\..+\.(?:clean|smudge)$/s, 'false'],
  [/^sendemail\..*(?:cmd|smtpserver)$/s, 'false'],
  [/^imap\.tunnel$/, 'false'],
  // Tools, formats and viewers: `difftool.x.cmd`, `tar.x.command`, `man.x.path`, `lfs.customtransfer.x.path`.
  [/^(?!include)[^.]+\..+\.(?:cmd|command|path|program)$/s, 'false'],
];

/** Of these git takes the first value and not the last: nothing can be set in their place. */
const TRANSPORT = /^remote\..+\.(?:uploadpack|receivepack)$/s;
const FILTER = /^filter\.(.+)\.[^.]+$/s;
const HELPER = /^credential\.(?:.+\.)?helper$/s;

/** `required`: files that need one of the folder's filters make git fail; otherwise they are taken as they are. */
export function overridesFor(entries: readonly ConfigEntry[], required: boolean): ConfigOverrides {
  const own = entries.filter(({ scope }) => scope === 'local' || scope === 'worktree');
  const users = entries.filter(({ scope }) => scope === 'system' || scope === 'global');
  const usersValue = (key: string): string | undefined => users.findLast((entry) => entry.key === key)?.value;
  const settings = new Map<string, string>();
  const filters = new Set<string>();
  for (const { key } of own) {
    const filter = FILTER.exec(key)?.[1];
    const [, neutral] =
      filter === undefined ? (NEUTRAL.find(([pattern]) => pattern.test(key)) ?? []) : [key, ''];
    if (neutral !== undefined) settings.set(key, usersValue(key) ?? neutral);
    if (filter !== undefined && !users.some((entry) => FILTER.exec(entry.key)?.[1] === filter))
      filters.add(filter);
  }
  for (const filter of filters) {
    // An empty `process` also keeps the other two from running.
    settings.set(`filter.${filter}.process`, '');
    settings.set(`filter.${filter}.required`, String(required));
  }
  const gitProxy = own.some(({ key }) => key === 'core.gitproxy');
  return {
    settings: [...settings, ...credentialHelpers(own, users)],
    environment: gitProxy ? { GIT_PROXY_COMMAND: '' } : {},
    filters: [...filters],
    namesTransport: own.some(({ key }) => TRANSPORT.test(key)),
  };
}

/** Helpers are a list: an empty one clears what came before, and the user's own follow again. */
function credentialHelpers(
  own: readonly ConfigEntry[],
  users: readonly ConfigEntry[],
): (readonly [string, string])[] {
  const folders = own.filter(({ key }) => HELPER.test(key));
  if (folders.length === 0) return [];
  const kept = users.filter(({ key }) => HELPER.test(key));
  return [
    ...folders.map(({ key }) => [key, ''] as const),
    ...kept.map(({ key, value }) => [key, value] as const),
  ];
}

/**
 * Programs that run the command behind them, or a script in their words: what rules that take rights away, and hooks that
 * guard a command, look through. `launched-commands.ts` reads them. An option that is not named here may have a value or
 * not, so both are tried: a name that is missing costs a refusal too many and hides nothing. What gives rights needs to be
 * exact, and has a list of its own in `reading/unwrap-command.ts`.
 */

export interface Launcher {
  /** As getopt(3) has them: a letter with `:` has a value, one with `::` only in the same word. */
  readonly short?: string;
  /** Long ones in the same way. */
  readonly long?: string;
  /** How many words come before the command: a file to lock, a duration. With `loose` there may be fewer. */
  readonly operands?: number;
  readonly loose?: true;
  /** One of these words is not the command. */
  readonly passes?: RegExp;
  /** Runs a command only behind such a word: `npm exec`. */
  readonly verb?: RegExp;
  /** What its options and operands mean is not known well: any word may be the command. */
  readonly anywhere?: true;
  /** How the words are run: as a command, as one script, or each as a script. Not at all where only options count. */
  readonly runs?: 'words' | 'script' | 'both' | 'each' | 'nothing';
  /** Options whose value is a script, without dashes; a letter may stand behind others. */
  readonly scripts?: string;
  /** The command stands behind these. */
  readonly behind?: RegExp;
  /** Its words are cut at this one. */
  readonly until?: RegExp;
  /** Options that name the directory it runs in. */
  readonly directory?: string;
  /** Options whose value is cut into words of the command. */
  readonly splits?: string;
  /** What it reads becomes words of the command. */
  readonly adds?: true;
}

const BUILTINS: Readonly<Record<string, Launcher>> = {
  'builtin coproc noglob nocorrect - then do else elif if while until !': {},
  command: { short: 'pvV' },
  exec: { short: 'cla:' },
  jobs: { runs: 'nothing', behind: /^-x$/ },
  'mapfile readarray': { runs: 'nothing', scripts: 'C' },
  'compgen complete': { runs: 'nothing', scripts: 'C' },
};

const SYSTEM: Readonly<Record<string, Launcher>> = {
  // coreutils
  env: {
    short: 'i0vu:C:S:a:',
    long: 'ignore-environment null debug unset: chdir: argv0: block-signal:: default-signal:: ignore-signal::',
    ...{
      directory: 'C chdir',
      splits: 'S split-string split-strin split-stri split-str split-st split-s split spli spl sp',
    },
  },
  nice: { short: 'n:0123456789', long: 'adjustment:' },
  nohup: {},
  stdbuf: { short: 'i:o:e:', long: 'input: output: error:' },
  timeout: {
    ...{ short: 'fpvk:s:', long: 'foreground preserve-status verbose kill-after: signal:', operands: 1 },
  },
  chroot: { long: 'groups: userspec: skip-chdir', operands: 1 },
  runcon: { short: 'ct:u:r:l:', long: 'compute type: user: role: range:', operands: 1, loose: true },
  time: { short: 'pavqo:f:', long: 'portability append verbose quiet output: format:' },
  split: { runs: 'nothing', scripts: 'filter' },
  sort: { runs: 'nothing', scripts: 'compress-program' },
  tar: {
    runs: 'nothing',
    scripts:
      'to-command use-compress-program info-script new-volume-script rsh-command checkpoint-action I F',
  },
  // util-linux
  flock: {
    short: 'sexnuoFw:E:c:',
    long: 'shared exclusive nonblock unlock close no-fork verbose timeout: wait: conflict-exit-code:',
    ...{ operands: 1, scripts: 'c command' },
  },
  'script scriptlive': {
    short: 'aefqc:E:I:O:B:T:t::m:o:',
    long: 'append flush force return quiet echo: log-in: log-out: log-io: log-timing: logging-format: output-limit: timing::',
    ...{ operands: 1, scripts: 'c command' },
  },
  ionice: { short: 'tc:n:p:P:u:', long: 'class: classdata: ignore' },
  chrt: {
    short: 'abdefiomprRGvT:P:D:',
    long: 'batch deadline ext fifo idle other rr reset-on-fork all-tasks verbose sched-runtime: sched-period: sched-deadline:',
    operands: 1,
  },
  taskset: { short: 'apc', long: 'all-tasks cpu-list pid', operands: 1 },
  prlimit: { short: 'p:o:vc::d::e::f::i::l::m::n::q::r::s::t::u::x::y::', long: 'pid: output: verbose raw' },
  'setarch linux32 linux64 i386 i586 i686 x86_64 arch': { operands: 1, loose: true },
  setpriv: {
    short: 'd',
    long: 'clear-groups keep-groups init-groups reset-env no-new-privs nnp ruid: euid: rgid: egid: reuid: regid: groups: inh-caps: ambient-caps: bounding-set: securebits: pdeathsig: ptracer: selinux-label: apparmor-profile: landlock-access: landlock-rule: seccomp-filter:',
  },
  setsid: { short: 'cfw', long: 'ctty fork wait' },
  unshare: {
    short: 'mM::m::u::i::n::p::U::C::T::frcR:w:S:G:l:',
    long: 'fork map-root-user map-current-user map-auto keep-caps root: wd: setuid: setgid: propagation: setgroups: map-user: map-group: map-users: map-groups: monotonic: boottime: load-interp:',
    directory: 'w wd',
  },
  nsenter: {
    short: 'at:m::u::i::n::p::C::U::T::S:G:r::w::W:FZe',
    long: 'all no-fork follow-context env target: setuid: setgid: wdns:',
    directory: 'wd',
  },
  'su runuser': {
    short: 'lmpPfc:g:G:s:u:w:',
    long: 'login preserve-environment pty fast group: supp-group: shell: user: whitelist-environment:',
    ...{ operands: 1, loose: true, scripts: 'c command session-command' },
  },
  sg: { operands: 1, runs: 'script', scripts: 'c' },
  choom: { short: 'n:p:', long: 'adjust: pid:' },
  uclampset: { short: 'asRm:M:p:', long: 'all-tasks system reset-on-fork pid:' },
  coresched: { short: 'vs:d:t:', operands: 1, loose: true },
  pipesz: { short: 'gscqvn:f:i:o:e:', long: 'get set check quiet verbose name: file:' },
  enosys: { short: 's:i:', long: 'syscall: ioctl:' },
  // procps, moreutils, findutils
  watch: {
    short: 'bcCdefglprtwxn:q:s:',
    long: 'beep color no-color differences:: errexit chgexit precise no-rerun no-title no-wrap exec interval: equexit: shotsdir:',
    runs: 'both',
  },
  chronic: { short: 'ev' },
  ifne: { short: 'n' },
  lckdo: { short: 'wWeExq', operands: 1 },
  zrun: {},
  'pee mispipe': { runs: 'each' },
  xargs: {
    short: '0prtxoa:d:E:e::I:i::J:L:l::n:P:R:s:S:',
    long: 'null interactive no-run-if-empty verbose exit open-tty show-limits arg-file: delimiter: eof:: replace:: max-lines:: max-args: max-procs: max-chars: process-slot-var:',
    adds: true,
  },
  'find bfs': { runs: 'nothing', behind: /^-(?:exec|ok)(?:dir)?$/, until: /^[;+]$/ },
  'fd fdfind': { runs: 'nothing', behind: /^(?:-[a-zA-Z]*[xX]|--exec(?:-batch)?)$/, until: /^;$/ },
  'parallel sem': {
    short: '0qkmrtuvXj:P:a:C:d:I:L:n:N:s:S:',
    long: 'keep-order will-cite bar dry-run tag line-buffer verbose jobs: arg-file: colsep: delimiter: max-args: max-procs: sshlogin: joblog: results: timeout: delay: retries: halt: workdir: tmpdir: id:',
    ...{ runs: 'both', until: /^:::[:+]*$/, adds: true },
  },
  entr: { short: 'acdnprsxz', runs: 'both' },
  watchexec: {
    short: 'cnrqvpIN1w:e:i:f:d:s:E:o:W:j:',
    long: 'clear restart quiet postpone no-vcs-ignore watch: exts: ignore: filter: debounce: signal: stop-signal: stop-timeout: shell: project-origin: workdir: env: emit-events-to: on-busy-update: wrap-process: delay-run: poll:',
    runs: 'both',
  },
  reflex: { anywhere: true, runs: 'both' },
  // other users, rights and namespaces
  sudo: {
    short: 'AbBEeHiKklNnPSsVvC:D:g:h:p:R:r:T:t:U:u:',
    long: 'askpass background bell preserve-env:: edit set-home login non-interactive stdin shell close-from: chdir: group: host: prompt: chroot: role: command-timeout: type: other-user: user:',
    directory: 'D chdir',
  },
  doas: { short: 'LnsC:u:' },
  pkexec: { long: 'disable-internal-agent keep-cwd user:' },
  run0: {
    short: 'u:g:D:',
    long: 'user: group: chdir: nice: unit: property: description: slice: setenv: background: machine:',
    directory: 'D chdir',
  },
  chpst: { short: 'u:U:b:e:m:d:o:p:f:c:r:t:/:n:l:L:vP012' },
  'setuidgid envuidgid envdir setlock gosu su-exec s6-setuidgid s6-envdir s6-setlock': { operands: 1 },
  'softlimit s6-softlimit': { short: 'ha:c:d:f:l:m:o:p:r:s:t:' },
  'systemd-run': {
    short: 'dGPqrStH:M:p:u:E:C:',
    long: 'user system scope remain-after-exit send-sighup pty pipe quiet collect same-dir wait no-block shell unit: property: description: slice: service-type: uid: gid: nice: working-directory: setenv: machine: host: on-active: on-boot: on-startup: on-unit-active: on-unit-inactive: on-calendar: timer-property: path-property: socket-property:',
    directory: 'working-directory',
  },
  'systemd-inhibit': { long: 'what: who: why: mode:' },
  'systemd-cat': { short: 't:p:', long: 'identifier: priority: stderr-priority: level-prefix:' },
  'start-stop-daemon': { runs: 'nothing', behind: /^(?:-[xa]|--exec|--startas)$/ },
  capsh: { runs: 'nothing', behind: /^--$/ },
  'torsocks torify tsocks': {},
  caffeinate: { short: 'dimsut:w:' },
  numactl: { anywhere: true },
  cgexec: { short: 'g:', long: 'sticky' },
  'proxychains proxychains4': { short: 'qf:' },
  'firejail aa-exec sandbox-exec trickle': { anywhere: true },
  'bwrap proot systemd-nspawn toolbox flatpak flatpak-spawn launchctl': { anywhere: true },
  // tracers and terminals
  strace: { short: 'AcCdDfFhikKnNqQrtTvVwxyYZza:b:e:E:I:o:O:p:P:s:S:u:U:X:' },
  ltrace: { short: 'bcCfhiLrStTVa:A:D:e:F:l:n:o:p:s:u:w:x:X:' },
  'gdb lldb cgdb': { runs: 'nothing', behind: /^--?(?:-|args)$/ },
  'valgrind catchsegv eatmydata fakechroot heaptrack': {},
  kcov: { operands: 1 },
  'perf rr uftrace': { operands: 1 },
  fakeroot: { short: 'uhvl:f:s:i:b:', long: 'unknown-is-real lib: faked: save-file: load-file: fd-base:' },
  faketime: { short: 'mpf', operands: 1 },
  datefudge: { short: 's', operands: 1 },
  cpulimit: {
    short: 'zqvmbirfl:p:e:P:c:s:',
    long: 'lazy background quiet verbose limit: pid: exe: path: cpu:',
  },
  'xvfb-run xvfb-run-safe': {
    short: 'ahle:f:n:p:s:w:',
    long: 'auto-servernum listen-tcp error-file: auth-file: server-num: xauth-protocol: server-args: wait:',
  },
  'dbus-run-session dbus-launch': {
    long: 'exit-with-session sh-syntax csh-syntax config-file: dbus-daemon:',
  },
  'ssh-agent gpg-agent': { short: 'cDdksa:E:O:P:t:', long: 'daemon options: homedir:' },
  unbuffer: { short: 'p' },
  rlwrap: { anywhere: true },
  screen: { anywhere: true },
  tmux: { runs: 'both', anywhere: true },
  'dtach abduco': { anywhere: true },
  'tini dumb-init catatonit': { anywhere: true },
  'nc ncat netcat': { runs: 'nothing', scripts: 'e c exec sh-exec lua-exec' },
  'busybox toybox': {},
  'ld.so': { long: 'list verify inhibit-cache library-path: preload: argv0: audit: inhibit-rpath:' },
};

const OF_PROJECTS: Readonly<Record<string, Launcher>> = {
  nodemon: { runs: 'nothing', scripts: 'x exec' },
  chokidar: { runs: 'nothing', scripts: 'c command' },
  onchange: { behind: /^--$/, runs: 'both' },
  'when-changed': { anywhere: true, runs: 'both' },
  hyperfine: { runs: 'each', scripts: 's p c setup prepare conclude cleanup' },
  'concurrently npm-run-all': { runs: 'each' },
  direnv: { verb: /^exec$/, operands: 1 },
  'dotenv dotenvx env-cmd': {
    ...{ short: 'f:e:v:p:c:r:o', long: 'file: env-file: environments: override', operands: 1, loose: true },
    passes: /^run$/,
  },
  'cross-env cross-env-shell': { runs: 'both' },
  'mise rtx': { verb: /^(?:exec|x)$/, behind: /^--$/, scripts: 'c command' },
  'asdf rbenv pyenv nodenv goenv jenv': { verb: /^exec$/ },
  'nvm fnm volta': { anywhere: true, verb: /^(?:exec|run)$/ },
  'nix-shell': { runs: 'nothing', scripts: 'run command' },
  nix: { verb: /^(?:develop|shell)$/, behind: /^(?:-c|--command)$/ },
  guix: { verb: /^(?:shell|environment)$/, behind: /^--$/ },
  devbox: { verb: /^run$/ },
  'uv poetry pipenv pdm rye hatch pixi conda mamba micromamba': {
    short: 'qvp:w:n:e:',
    long: 'quiet verbose locked frozen offline isolated no-sync no-project no-capture-output with: with-editable: with-requirements: python: package: directory: project: extra: group: only-group: env-file: name: prefix: cwd: environment:',
    verb: /^run$/,
  },
  bundle: { verb: /^exec$/ },
  'npm pnpm yarn bun corepack': {
    short: 'ycsp:C:w:F:',
    long: 'yes no silent workspaces package: prefix: workspace: cwd: dir: filter:',
    ...{ verb: /^(?:exec|x|dlx)$/, scripts: 'c call' },
  },
  'npx pnpx bunx uvx pipx': {
    short: 'yqnp:c:',
    long: 'yes no no-install quiet offline prefer-offline bun package: call: from: with: python:',
    scripts: 'c call',
  },
  'op doppler infisical aws-vault chamber teller': { behind: /^--$/, scripts: 'command' },
  envchain: { operands: 1 },
  sops: { verb: /^exec-(?:env|file)$/, operands: 1, runs: 'script' },
  'with-contenv with-env': {},
};

function byName(...tables: readonly Readonly<Record<string, Launcher>>[]): ReadonlyMap<string, Launcher> {
  const entries = tables.flatMap((table) => Object.entries(table));
  return new Map(entries.flatMap(([names, one]) => names.split(' ').map((name) => [name, one] as const)));
}

const ALL = byName(BUILTINS, SYSTEM, OF_PROJECTS);
/** Without those that look for programs of the project. */
const CARRIERS = byName(BUILTINS, SYSTEM);

/** `gtimeout` is `timeout`; the loader of programs has a version in its name. */
function plainName(name: string): string {
  if (/^ld(?:-[\w.-]+)?\.so(?:\.\d+)*$/.test(name)) return 'ld.so';
  return !ALL.has(name) &&
    /^g(?:env|nice|nohup|stdbuf|timeout|chroot|time|xargs|find|split|sort|tar)$/.test(name)
    ? name.slice(1)
    : name;
}

export function launcherNamed(name: string): Launcher | null {
  return ALL.get(plainName(name)) ?? null;
}

/** That runs the words behind it as they are, and certainly does: what acts is the command. */
export function carrierNamed(name: string): Launcher | null {
  const launcher = CARRIERS.get(plainName(name));
  if (launcher === undefined) return null;
  const { runs = 'words', behind, anywhere, loose } = launcher;
  return runs !== 'words' || behind !== undefined || anywhere || loose ? null : launcher;
}

/** Whether the words behind it may be a command, of whatever form. */
export function passesOn(name: string): boolean {
  const { runs = 'words', behind } = CARRIERS.get(plainName(name)) ?? { runs: 'nothing' };
  return /^(?:words|both|script)$/.test(runs) || behind !== undefined;
}

/**
 * Which variables a file of another tool gives to programs. Of a trusted folder's: hooks run with them outside of every
 * fence, and what a variable names may be a file that agents write. Nobody can list all that programs read, so the rule
 * holds by its shape:
 *
 * 1. a few names only say how programs speak: those may be one word, which is no path and no command with a file;
 * 2. a name that a known tool reads, or that says program, place, option, address or account, is not set;
 * 3. nor is one of a single word, but for a few: `RM`, `GREP`, `LINT` are programs to make and to many scripts;
 * 4. any other is set if its value is a switch: a number, yes or no, a stage, or a level.
 */
import { isModelKey, isOfTool } from '../../system/child-environment.ts';

/** `env` of one file: what counts of it, and a line for each reason why something does not. */
export interface TakenVariables {
  readonly env: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

/** `shown` is the file, for messages. */
export function takeVariables(
  value: unknown,
  { shown, isUsers }: { shown: string; isUsers: boolean },
): TakenVariables {
  if (value === undefined) return { env: {}, problems: [] };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { env: {}, problems: [`env in ${shown} is no object: nothing of it is set`] };
  const given = Object.entries(value).map(([name, one]) => ({ name, value: textOf(one) }));
  const judged = given.map((one) => ({ ...one, why: whyNot(one, isUsers) }));
  const problems = [NOT_FOR_PROGRAMS, NO_VARIABLE, NOT_OF_A_FOLDER].flatMap((why) => {
    const names = judged.filter((one) => one.why === why).map(({ name }) => shownName(name));
    return names.length === 0 ? [] : [`env in ${shown}: ${names.join(', ')} not set: ${why}`];
  });
  const set = judged.flatMap(({ name, value, why }) => (why === null ? [[name, value ?? ''] as const] : []));
  return { env: Object.fromEntries(set), problems };
}

const NOT_FOR_PROGRAMS =
  'programs get nothing that is for Ramet, Claude Code or a provider (set what Ramet reads where you start it)';
const NO_VARIABLE = 'a name has letters, digits and _, a value is a text, a number, true or false';
const NOT_OF_A_FOLDER =
  'a folder does not say what programs run, load or reach (set it in ~/.claude/settings.json if you want it)';

function whyNot({ name, value }: { name: string; value: string | null }, isUsers: boolean): string | null {
  if (/^(?:RAMET_|ANTHROPIC_|CLAUDE_CODE_|AWS_BEARER_TOKEN_)/.test(name) || isModelKey(name))
    return NOT_FOR_PROGRAMS;
  if (!NAME.test(name) || value === null) return NO_VARIABLE;
  return isUsers || folderMaySet(name, value) ? null : NOT_OF_A_FOLDER;
}

const NAME = /^[A-Za-z_]\w*$/;
const LONGEST_NAME = 60;

function textOf(value: unknown): string | null {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null;
}

function shownName(name: string): string {
  const start = name.slice(0, LONGEST_NAME);
  return NAME.test(name) ? start : JSON.stringify(start);
}

function folderMaySet(name: string, value: string): boolean {
  if (SETTLED.test(name))
    return (WORD.test(value) && !value.includes('..')) || (name === 'TZ' && ZONE.test(value));
  if (!SWITCH.test(value)) return false;
  return name.includes('_')
    ? !isOfTool(name) && !OF_PROGRAMS.test(name) && !TELLING.test(name) && !PART_OF_PROGRAM.test(name)
    : PLAIN.has(name);
}

const SETTLED: RegExp = new RegExp(
  `^(?:${[
    'CI|DEBUG|TZ|LANG|LANGUAGE|LC_[A-Z]+|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE',
    '(?:[A-Z0-9_]+_)?LOG_LEVEL|RUST_LOG|RUST_BACKTRACE|(?:NODE|APP|RAILS|RACK|FLASK)_ENV|NODE_NO_WARNINGS',
    'PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|UTF8|HASHSEED|IOENCODING|FAULTHANDLER)|SOURCE_DATE_EPOCH',
    'CARGO_TERM_COLOR|CARGO_INCREMENTAL|PIP_NO_INPUT|PIP_DISABLE_PIP_VERSION_CHECK|TERM|GO111MODULE|GOOS|GOARCH',
    'CGO_ENABLED|MIX_ENV|HUSKY|JEST_WORKERS|PGTZ|DO_NOT_TRACK|[A-Z0-9_]+_TELEMETRY_(?:DISABLED|OPTOUT)',
  ].join('|')})$`,
);

/** Names of one word that nothing is known to take for a program. */
const PLAIN: ReadonlySet<string> = new Set(
  'PORT ENVIRONMENT STAGE VERBOSE QUIET OFFLINE TIMEOUT RETRIES WORKERS THREADS JOBS SEED'.split(' '),
);

/** What makefiles call programs, with more around it: `HOST_CC`, `CC_FOR_BUILD`. */
const PART_OF_PROGRAM: RegExp =
  /(?:^|_)(?:CC|CXX|CPP|LD|AR|AS|NM|FC|RM|CP|MV|SH|SED|AWK|GREP|TAR|YACC|LEX|TEX|RANLIB|STRIP|OBJCOPY|OBJDUMP|LINT)(?:_|$)/i;

/** Besides the tools that programs of agents are known to need. */
const OF_PROGRAMS: RegExp = new RegExp(
  `^(?:${[
    'BASH_|LD_|DYLD_|GLIBC_|MALLOC_|GIT_|SSH_|GPG|GNUPG|OPENSSL|CURL',
    'PYTHON|PYTEST|PERL|R_|RUBY|LUA|PHP|ERL_|ELIXIR|MIX_|OCAML|GHC|STACK_|JULIA|GUILE|TCL|JAVA|JDK_|GRADLE|MAVEN|MVN|CLASS',
    'LESS|GREP_|MAKE|GCC_|TERM|VIM|EMACS|GIO_|GTK|QT_|DBUS_|SYSTEMD_|SUDO_|HG|SVN|CVS|NPM|PNPM|YARN|ELECTRON',
    'OPENAI|ANTHROPIC|CLAUDE|GEMINI|MISTRAL|GROQ|OPENROUTER|DEEPSEEK|XAI_|OLLAMA|RUSTC|HUSKY|LOCALDOMAIN|GLOBIGNORE|VSCODE|VAGRANT|ESLINT',
    'P4|BZR|COMPOSER|MAIL',
    'DOCKER|COMPOSE_|BUILDKIT|KUBE|HELM|TF_|TERRAFORM|ANSIBLE|VAULT_|AWS_|AZURE_|GOOGLE_|GCLOUD|CLOUDSDK|MYSQL|OTEL_',
  ].join('|')})`,
  'i',
);

/** What names of variables say by convention, also in the middle: `MYAPP_SERVER_2`. */
const TELLING: RegExp = new RegExp(
  [
    'PATH|HOME|DIR|FOLDER|ROOT|PREFIX|FILE|CONF|CFG|INIT|RC$|PROFILE|SETTING|START|CONTEXT|OPT|FLAG|ARGS?(?:_|V?$)',
    'PLUGIN|MODULE|PACKAGE|LIB|LOAD|IMPORT|REQUIRE|INCLUDE|EXTENSION|INJECT|HOOK|COMMAND|CMD|EXE|PROG|SCRIPT|TOOL|BIN$',
    'SHELL|EDIT|VISUAL|PAGER|BROWSE|VIEWER|ASKPASS|RSH|WRAP|LAUNCH|RUNNER|ENGINE|DRIVER|BACKEND|STRATEGY|COMPILER|LINKER',
    'PROXY|HOST|SERVER|SERVICE|ADDR|ENDPOINT|UR[IL]|REGISTRY|MIRROR|INDEX|REMOTE|SOCK|DSN|CERT|CA$|CA_|TLS|SSL|VERIFY|TRUST|SECUR|SAFE|AUTH(?!ORS?(?:_|$))',
    'INI$|ADMIN$|INPUTS|APP$|COLLECTION|RUNTIME|TOKEN|SECRET|PASS|CREDENTIAL|KEY|ACCOUNT',
  ].join('|'),
  'i',
);

/** No `/`, `\`, `~`, `$` or space: two words may be a command with a file. What begins with `.`, `:` or `-` may be a file or an option. */
const WORD = /^(?:[\w*][\w.,:=+*@%-]*)?$/;

/** What the tables of time zones are called. */
const ZONE = /^[a-z][\w+-]*(?:\/[a-z][\w+-]*)*$/i;

const SWITCH: RegExp = new RegExp(
  `^(?:${[
    '|\\d+(?:\\.\\d+)?(?:ns|us|ms|s|sec|m|min|h|d|[kmgt]?i?b|[kgt]|%)?|true|false|yes|no|on|off|enabled|disabled',
    'dev|development|test|testing|ci|qa|staging|preview|prod|production|local|demo',
    'trace|debug|verbose|info|notice|warn|warning|error|fatal|silent|quiet',
  ].join('|')})$`,
  'i',
);

/**
 * Which variables a trusted folder may give to programs: hooks run with them outside of every fence, and what a variable
 * names may be a file that agents write. Nobody can list all that programs read, so the rule holds by its shape:
 *
 * 1. a few names only say how programs speak: those are set, whatever their value;
 * 2. a name that a known tool reads, or that says program, place, option, address or account, is not;
 * 3. any other is set if its value is plain words: they are no path, no option, no address and no command.
 */
import { isOfTool } from '../../system/child-environment.ts';

export function folderMaySet(name: string, value: string): boolean {
  if (SETTLED.test(name)) return true;
  return !isOfTool(name) && !OF_PROGRAMS.test(name) && !TELLING.test(name) && PLAIN.test(value);
}

const SETTLED: RegExp = new RegExp(
  `^(?:${[
    'CI|DEBUG|TZ|LANG|LANGUAGE|LC_[A-Z]+|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE',
    '(?:[A-Z0-9_]+_)?LOG_LEVEL|RUST_LOG|RUST_BACKTRACE|(?:NODE|APP|RAILS|RACK|FLASK)_ENV|NODE_NO_WARNINGS',
    'PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|UTF8|HASHSEED|IOENCODING|FAULTHANDLER)|SOURCE_DATE_EPOCH',
    'DO_NOT_TRACK|[A-Z0-9_]+_TELEMETRY_(?:DISABLED|OPTOUT)',
  ].join('|')})$`,
);

/** Besides the tools that programs of agents are known to need. */
const OF_PROGRAMS: RegExp = new RegExp(
  `^(?:${[
    '(?:ENV|IFS|PS[0-4]|CPP|AR|AS|LD|EX|NODE)$|BASH_|LD_|DYLD_|GLIBC_|MALLOC_|GIT_|SSH_|GPG|GNUPG|OPENSSL|CURL',
    'PYTHON|PYTEST|PERL|R_|RUBY|LUA|PHP|ERL_|ELIXIR|MIX_|OCAML|GHC|STACK_|JULIA|GUILE|TCL|JAVA|JDK_|GRADLE|MAVEN|MVN|CLASS|GO[A-Z]*$',
    'LESS|GREP_|MAKE|GCC_|TERM|VIM|EMACS|GIO_|GTK|QT_|DBUS_|SYSTEMD_|SUDO_|HG|SVN|CVS|NPM|PNPM|YARN|ELECTRON',
    'OPENAI|ANTHROPIC|CLAUDE|GEMINI|MISTRAL|GROQ|OPENROUTER|DEEPSEEK|XAI_|OLLAMA|RUSTC|HUSKY|LOCALDOMAIN|GLOBIGNORE|VSCODE|VAGRANT|ESLINT',
    'DOCKER|COMPOSE_|BUILDKIT|KUBE|HELM|TF_|TERRAFORM|ANSIBLE|VAULT_|AWS_|AZURE_|GOOGLE_|GCLOUD|CLOUDSDK|PG[A-Z]+$|MYSQL|OTEL_',
  ].join('|')})`,
  'i',
);

/** What names of variables say by convention, also in the middle: `MYAPP_SERVER_2`. */
const TELLING: RegExp = new RegExp(
  [
    'PATH|HOME|DIR|FOLDER|ROOT|PREFIX|FILE|CONF|CFG|INIT|RC$|PROFILE|SETTING|START|CONTEXT|OPT|FLAG|ARGS?(?:_|V?$)',
    'PLUGIN|MODULE|PACKAGE|LIB|LOAD|IMPORT|REQUIRE|INCLUDE|EXTENSION|INJECT|HOOK|COMMAND|CMD|EXE|PROG|SCRIPT|TOOL|BIN$',
    'SHELL|EDIT|VISUAL|PAGER|BROWSE|VIEWER|ASKPASS|RSH|WRAP|LAUNCH|RUNNER|ENGINE|DRIVER|BACKEND|STRATEGY|COMPILER|LINKER',
    'PROXY|HOST|SERVER|SERVICE|ADDR|ENDPOINT|UR[IL]|REGISTRY|MIRROR|INDEX|REMOTE|SOCK|DSN|CERT|CA$|CA_|TLS|SSL|VERIFY|TRUST|SECUR|SAFE|AUTH(?!OR)',
    'TOKEN|SECRET|PASS|CREDENTIAL|KEY|ACCOUNT',
  ].join('|'),
  'i',
);

const PLAIN = /^(?:[a-z0-9_][\w.,:+-]*(?: [a-z0-9_][\w.,:+-]*)*)?$/i;

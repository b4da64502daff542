import { existsSync } from 'node:fs';
import { delimiter, dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rametHome } from './home.ts';
import { existingPath, isInside } from './landing-path.ts';

let known: OwnPlaces | null | undefined;

/**
 * The environment of programs that agents start (SEC-1): a list of what builds, tests and git are known to need. What
 * is not on it stays behind, so a secret that nobody thought of does not travel. Further names come from the user, in
 * `RAMET_CHILD_ENV`; keys that pay for models never pass.
 */
const MODEL_KEYS =
  /^(?:ANTHROPIC|OPENAI|CLAUDE|AZURE_OPENAI|GEMINI|GOOGLE_AI|MISTRAL|GROQ|OPENROUTER|RAMET)_.*(?:KEY|TOKEN|SECRET|PASSWORD|HEADERS|CREDENTIAL)/;

/** Tells a heavy command, and what it starts, the place that it has (`check-slots.ts`). */
export const SLOT_VARIABLE = 'RAMET_CHECK_SLOT';

/** Tools that are set up by variables with a common beginning. */
const FAMILIES =
  'LC XDG NODE NPM_CONFIG npm_config COREPACK NVM FNM VOLTA YARN PNPM BUN DENO GIT_AUTHOR GIT_COMMITTER GIT_CONFIG GIT_SSL ' +
  'GIT_SSH PYTHON PIP UV POETRY PIPENV CONDA PYENV JAVA JDK MAVEN GRADLE ANDROID GO CGO CARGO RUST RUSTUP CMAKE PKG_CONFIG ' +
  'RUBY GEM BUNDLE RBENV DOTNET NUGET COMPOSER DOCKER KUBE PLAYWRIGHT PUPPETEER VITEST JEST CYPRESS TURBO NX NIX ' +
  'HOMEBREW ASDF MISE CCACHE RAMET_MODEL';

const NAMES =
  'PATH HOME USER LOGNAME SHELL TERM COLORTERM TMPDIR TMP TEMP TZ LANG LANGUAGE HOSTNAME DISPLAY WAYLAND_DISPLAY CI ' +
  'NO_COLOR FORCE_COLOR CLICOLOR DEBUG SSH_AUTH_SOCK HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy ' +
  'no_proxy all_proxy SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE VIRTUAL_ENV M2_HOME GOPATH GOROOT ' +
  'GOBIN GOPROXY GOFLAGS GOCACHE GOMODCACHE GOPRIVATE GOOS GOARCH RUSTFLAGS CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS ' +
  'LD_LIBRARY_PATH LIBRARY_PATH CPATH MAKEFLAGS GIT_TERMINAL_PROMPT GIT_CEILING_DIRECTORIES GIT_TEMPLATE_DIR ' +
  `KUBECONFIG RAMET_HOME ${SLOT_VARIABLE} SOURCE_DATE_EPOCH`;

/** Within the families: names that say they hold a secret, such as `npm_config_//host/:_authToken`. */
const SECRET =
  /(?:^|[_:])_?(?:auth|auth_?token|token|secret|password|passwd|credentials?|(?:api|access|private)_?key)(?:_|$)/i;

const names: ReadonlySet<string> = new Set(NAMES.split(' '));
const families: readonly string[] = FAMILIES.split(' ').map((family) => `${family}_`);
/** Members of a family that carry its bare name in front without an underscore. */
const JOINED =
  /^(?:PYTHON(?:PATH|HOME|STARTUP|UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|WARNINGS)|RUBY(?:LIB|OPT))$/;

export function isModelKey(name: string): boolean {
  return MODEL_KEYS.test(name);
}

/** Whether builds, tests, git and the like are known to read it, in whatever case it is written. */
export function isOfTool(name: string): boolean {
  const upper = name.toUpperCase();
  return names.has(upper) || families.some((family) => upper.startsWith(family.toUpperCase()));
}

/** `further` are names that settings add. */
export function childEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  further: readonly string[] = [],
): Record<string, string> {
  const wanted = new Set([...(env.RAMET_CHILD_ENV ?? '').split(/[\s,]+/), ...further]);
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || isModelKey(name)) continue;
    if (wanted.has(name) || isNeeded(name)) kept[name] = value;
  }
  return kept;
}

/** In Ramet's home. */
export const PYTHON_CACHE = 'python-cache';

/**
 * For commands that run with trusted files only. Agents can write what these would take without a look: compiled code of Python
 * beside a module (such commands have a folder of their own for it), and files by which git takes any folder for a repository.
 */
export function forTrustedCommand(env: Readonly<Record<string, string>>): Record<string, string> {
  const own = { ...env, PYTHONPYCACHEPREFIX: join(rametHome(env), PYTHON_CACHE) };
  return { ...own, ...gitSettings(env, [NO_BARE]) };
}

/** No folder is a repository by its files alone: its configuration would name programs. */
export const NO_BARE: readonly [string, string] = ['safe.bareRepository', 'explicit'];

/** Settings of git by variables, after those that are there already. */
export function gitSettings(
  env: Readonly<Record<string, string>>,
  settings: readonly (readonly [string, string])[],
): Record<string, string> {
  const first = Number.parseInt(env.GIT_CONFIG_COUNT ?? '0', 10) || 0;
  const variables: Record<string, string> = { GIT_CONFIG_COUNT: String(first + settings.length) };
  for (const [index, [key, value]] of settings.entries()) {
    variables[`GIT_CONFIG_KEY_${first + index}`] = key;
    variables[`GIT_CONFIG_VALUE_${first + index}`] = value;
  }
  return variables;
}

function isNeeded(name: string): boolean {
  if (names.has(name)) return true;
  return (JOINED.test(name) || families.some((family) => name.startsWith(family))) && !SECRET.test(name);
}

interface OwnPlaces {
  /** Folders of programs that came with Ramet. */
  readonly bins: readonly string[];
  /** The checkout, or what npx made for it. */
  readonly root: string;
}

/**
 * Ramet started from its checkout, or by npx, has its own `node_modules/.bin` first on the PATH. An agent's `tsc`, `node`
 * or `vitest` in another repository would then be Ramet's. So programs of agents do not get that folder, nor npm's
 * variables about the checkout, unless they work in it. A project that depends on Ramet keeps its own
 * `node_modules/.bin`. `workplace` is where the agents work.
 */
export function withoutOwnPrograms(
  env: Record<string, string>,
  workplace: string,
  own: OwnPlaces | null = ownPlaces(),
): Record<string, string> {
  if (own === null || isInside(existingPath(workplace) ?? workplace, own.root)) return env;
  const kept = Object.entries(env).filter(
    ([name, value]) => !/^npm_config_/i.test(name) || !isInside(value, own.root),
  );
  const path = env.PATH?.split(delimiter).filter((folder) => !isOwn(folder, own));
  return { ...Object.fromEntries(kept), ...(path !== undefined && { PATH: path.join(delimiter) }) };
}

/** For the package in `folder`; null if it is a dependency of another package, or installed globally. */
export function placesOf(folder: string): OwnPlaces | null {
  const modules = folder.lastIndexOf(`${sep}node_modules${sep}`);
  if (modules === -1) {
    const root = dirname(dirname(folder));
    return { root, bins: [folder, root].map((place) => join(place, 'node_modules/.bin')) };
  }
  const root = folder.slice(0, modules);
  return root.includes(`${sep}_npx${sep}`) ? { root, bins: [join(root, 'node_modules/.bin')] } : null;
}

function ownPlaces(): OwnPlaces | null {
  known ??= findOwn(dirname(fileURLToPath(import.meta.url)));
  return known;
}

function findOwn(start: string): OwnPlaces | null {
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'bin/ramet.js'))) return placesOf(folder);
  }
  return null;
}

function isOwn(folder: string, { bins }: OwnPlaces): boolean {
  if (!/[/\\]node_modules[/\\]\.bin[/\\]?$/.test(folder)) return false;
  return bins.includes(resolve(folder)) || bins.includes(existingPath(folder) ?? folder);
}

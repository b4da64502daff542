/**
 * Commands that keep a machine busy (OP-3): builds, test suites, installing packages. They are told by how they are called; what is
 * not known counts as light. A command wrongly called heavy costs a wait at worst, and one wrongly called light runs as before,
 * so the list names what projects use, and no more. `docs/operate.md` prints it in words.
 */
import { basename } from 'node:path';
import { actingCommand } from './acting-command.ts';
import type { CommandLayers } from './reading/understand-script.ts';

/**
 * Scripts, targets and files by the words in their names: `test:unit`, `build-docs`, `scripts/run_tests.sh`. What stays (servers,
 * watchers) and what is quick is light, whatever else its name says.
 */
const HEAVY_WORD =
  /^(?:pre|post|re|un)?(?:tests?|testing|specs?|build|builds|compile|bundle|ci|check|checks|verify|validate|typecheck|types|tsc|lint|e2e|integration|unit|coverage|cover|bench|benchmark|benchmarks|dist|install)$/;
const LIGHT_WORD = /^(?:watch|dev|serve|server|start|up|preview|open|ui|help|clean|fmt|format|list|version)$/;

/** Asks, or stays: none of these does the work. */
const ASKS =
  /^(?:--help|-h|--version|-V|--dry-run|--watch(?:All)?(?:=.*)?|-w=.*|--list|--listTests|--collect-only|--co|--showConfig|--ui)$/;

/** The value of such an option is the next word. */
const VALUED =
  /^(?:-C|-F|-w|--prefix|--workspace|--filter|--cwd|--dir|--directory|--file|--manifest-path|--project|--package|--color|--loglevel)$/;

/** Heavy whatever it is asked for. */
const ALWAYS = `vitest jest mocha ava tap karma nyc c8 tsc vue-tsc svelte-check webpack rollup eslint stylelint lerna knip
  pytest py.test tox nox mypy pylint pyright golangci-lint ctest ninja mvn mvnw gradle gradlew sbt ant msbuild xcodebuild rspec
  phpunit phpstan bats prove configure buildah`;

/** By subcommand. */
const BY_VERB: Readonly<Record<string, RegExp>> = {
  cargo: /^(?:build|b|test|t|check|c|clippy|bench|nextest|install|run|r|doc|rustc|tarpaulin|llvm-cov)$/,
  go: /^(?:build|test|vet|install|generate)$/,
  dotnet: /^(?:build|test|publish|restore|pack|msbuild)$/,
  swift: /^(?:build|test)$/,
  docker: /^build$/,
  podman: /^build$/,
  meson: /^(?:compile|test|install)$/,
  bazel: /^(?:build|test|coverage)$/,
  bazelisk: /^(?:build|test|coverage)$/,
  buck2: /^(?:build|test)$/,
  mix: /^(?:test|compile|dialyzer|deps\.(?:get|compile))$/,
  stack: /^(?:build|test|install|bench)$/,
  cabal: /^(?:build|test|install|bench)$/,
  zig: /^(?:build|test)$/,
  lake: /^(?:build|test)$/,
  deno: /^(?:test|check|compile|bench|lint)$/,
  flutter: /^(?:build|test|analyze)$/,
  dart: /^(?:test|compile|analyze)$/,
  composer: /^(?:install|update|test)$/,
  bundle: /^(?:install|update)$/,
  pip: /^(?:install|wheel)$/,
  pip3: /^(?:install|wheel)$/,
  uv: /^(?:sync|build)$/,
  poetry: /^(?:install|update|build)$/,
  pdm: /^(?:install|update|build|sync)$/,
  pipenv: /^(?:install|sync)$/,
  vite: /^build$/,
  next: /^(?:build|lint)$/,
  nuxt: /^(?:build|generate)$/,
  astro: /^(?:build|check)$/,
  ng: /^(?:build|test|e2e|lint)$/,
  playwright: /^(?:test|install)$/,
  cypress: /^(?:run|install)$/,
  parcel: /^build$/,
  'wasm-pack': /^(?:build|test)$/,
};

/** They run a script, a task or a target: its name says what it is. Without any, the first one, which builds. */
const RUNNERS = 'make gmake bmake mage just task rake invoke inv nx turbo moon gulp grunt';
/** Package managers run the scripts of a project. */
const MANAGERS = 'npm pnpm yarn bun';
const MANAGER_VERB = /^(?:test|t|tst|it|install|i|ci|clean-install|install-test|add|rebuild|rb|dedupe)$/;
/** The command stands behind them. */
const CARRIERS = /^(?:npx|bunx|pnpx|xvfb-run|corepack|dotenv|cross-env|uvx|pipx)$/;
const CARRIER_VERB = /^(?:exec|x|dlx)$/;
/** What is behind `run` of these is a command. */
const RUN_COMMANDS = /^(?:uv|poetry|pdm|pipenv|hatch|rye|conda|mamba|bundle|nix)$/;
const SHELLS = /^(?:sh|bash|dash|zsh)$/;
const INTERPRETERS = /^(?:sh|bash|dash|zsh|node|nodejs|deno|bun|tsx|python[\d.]*|ruby|perl|php)$/;
const DEEPEST = 4;

const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));
const [always, runners, managers] = [set(ALWAYS), set(RUNNERS), set(MANAGERS)];

/** What has none of these words need not be read. */
const MENTIONS = new RegExp(
  `(?<![\\w-])(?:cmake|npx|bunx|${[...always, ...runners, ...managers, ...Object.keys(BY_VERB)].map(RegExp.escape).join('|')})(?![\\w-])|test|build|check|spec|lint|bench|compile|install|dist|\\bci\\b|e2e|cover|verify|types`,
);
const LONGEST = 20_000;

/** Whether it is worth reading: costs nothing for most commands. */
export function mayBeHeavy(script: string, also: readonly string[] = []): boolean {
  const start = script.slice(0, LONGEST);
  return MENTIONS.test(start) || also.some((name) => start.includes(firstWord(name)));
}

function firstWord(name: string): string {
  return name.replace(/^!/, '').trim().split(/\s+/, 1)[0] ?? '';
}

/** Reads a script, if that is needed to tell. */
export async function isHeavyText(
  script: string,
  cwd: string,
  also: readonly string[] = [],
): Promise<boolean> {
  if (!mayBeHeavy(script, also)) return false;
  const { understandScript } = await import('./reading/understand-script.ts');
  return isHeavyScript((await understandScript(script, { directories: [cwd] })).commands, also);
}

/** `also` are commands by how they begin; one with `!` before it is light. They come before what is known. */
function isHeavyScript(
  commands: readonly Pick<CommandLayers, 'layers' | 'transparent'>[],
  also: readonly string[] = [],
): boolean {
  return commands.some(({ layers, transparent }) => {
    if (transparent) return false;
    const { words } = actingCommand(layers[0]);
    return isHeavyCommand(
      words.map(({ value, start }) => value ?? start),
      also,
    );
  });
}

function isHeavyCommand(words: readonly string[], also: readonly string[]): boolean {
  const named = also.findLast((name) => beginsWith(words, name.replace(/^!/, '').trim().split(/\s+/)));
  if (named !== undefined) return !named.startsWith('!');
  return isHeavy(words, 0);
}

function beginsWith(words: readonly string[], start: readonly string[]): boolean {
  return start.every((word, index) => words[index] === word);
}

function isHeavy([first = '', ...rest]: readonly string[], depth: number): boolean {
  const program = basename(first).replace(/\.(?:exe|cmd|bat)$/, '');
  if (rest.some((word) => ASKS.test(word)) || depth > DEEPEST) return false;
  const [verb = '', ...more] = wordsAfter(rest);
  if (always.has(program)) return !LASTING_VERB.test(verb) && (rest.length !== 1 || rest[0] !== '-v');
  if (managers.has(program)) return isHeavyScriptOf(program, rest, depth);
  if (CARRIERS.test(program)) return isHeavy(behind(rest), depth + 1);
  if (RUN_COMMANDS.test(program) && /^(?:run|exec)$/.test(verb))
    return isHeavy(behind(rest.slice(rest.indexOf(verb) + 1)), depth + 1);
  if (runners.has(program)) return isHeavyTarget(program, rest);
  if (program === 'cmake') return rest.includes('--build');
  if (program === 'docker' && /^(?:compose|buildx)$/.test(verb))
    return more.some((word) => /^(?:build|bake)$/.test(word));
  if (Object.hasOwn(BY_VERB, program) && BY_VERB[program]?.test(verb)) return true;
  if (INTERPRETERS.test(program)) return isHeavyFile(program, rest, depth);
  return /\//.test(first) && !/^\/(?:usr\/)?bin\//.test(first) && hasHeavyName(first);
}

const LASTING_VERB = /^(?:watch|dev|ui|serve|start|help|list|init)$/;

/** Without options and their values, and without `NAME=value`. */
function wordsAfter(words: readonly string[]): string[] {
  return words.filter(
    (word, index) => !/^[-+]/.test(word) && !/^\w+=/.test(word) && !VALUED.test(words[index - 1] ?? ''),
  );
}

/** From the first word that is no option. */
function behind(words: readonly string[]): string[] {
  const at = words.findIndex(
    (word, index) =>
      !word.startsWith('-') && !/^\w+=/.test(word) && !/^(?:-p|--package|-c)$/.test(words[index - 1] ?? ''),
  );
  return at === -1 ? [] : words.slice(at);
}

/** `npm test`, `pnpm -r build`, `yarn workspace web test`, `npm exec vitest`. */
function isHeavyScriptOf(manager: string, rest: readonly string[], depth: number): boolean {
  const [verb, ...more] = wordsAfter(rest);
  if (verb === undefined) return manager === 'yarn' && rest.every((word) => word.startsWith('-'));
  if (CARRIER_VERB.test(verb)) return isHeavy(behind(rest.slice(rest.indexOf(verb) + 1)), depth + 1);
  if (verb === 'run' || verb === 'run-script') return hasHeavyName(more[0] ?? '');
  if (verb === 'workspace') return isHeavyScriptOf(manager, more.slice(1), depth + 1);
  if (verb === 'workspaces') return more.some(hasHeavyName);
  if (MANAGER_VERB.test(verb)) return true;
  // npm has no short form for scripts; the others run what is no command of theirs.
  return manager !== 'npm' && (hasHeavyName(verb) || isHeavy([verb, ...more], depth + 1));
}

function isHeavyTarget(runner: string, rest: readonly string[]): boolean {
  if (!/make$/.test(runner)) return wordsAfter(rest).some(hasHeavyName);
  if (rest.includes('-n')) return false;
  const targets = wordsAfter(rest.filter((_, index) => !/^-[CfIoj]$/.test(rest[index - 1] ?? '')));
  return targets.length === 0 || !targets.every(isLight);
}

/** `node build.js`, `bash scripts/test.sh`, `python -m pytest`, `node --test`, `bash -lc "npm test"`. */
function isHeavyFile(program: string, rest: readonly string[], depth: number): boolean {
  if (rest[0] === '-m') return isHeavyModule(rest.slice(1), depth);
  const code = rest.findIndex((word) => /^-\w*[ce]$/.test(word));
  if (code !== -1) return SHELLS.test(program) && isHeavyCode(rest[code + 1] ?? '', depth);
  if (rest.includes('--test')) return true;
  const [file] = behind(rest);
  return file !== undefined && hasHeavyName(file);
}

/** Of a script that is not read as one. */
function isHeavyCode(script: string, depth: number): boolean {
  return script.split(/&&|\|\||[;|&\n]/).some((part) => isHeavy(part.trim().split(/\s+/), depth + 1));
}

function isHeavyModule([module = '', ...rest]: readonly string[], depth: number): boolean {
  return /^(?:unittest|build)$/.test(module) || isHeavy([module, ...rest], depth + 1);
}

function partsOf(name: string): string[] {
  return basename(name)
    .replace(/\.(?:sh|bash|[cm]?[jt]sx?|py|rb|pl|php)$/, '')
    .toLowerCase()
    .split(/[:._/\\-]+/);
}

function isLight(name: string): boolean {
  return name === 'run' || partsOf(name).some((part) => LIGHT_WORD.test(part));
}

function hasHeavyName(name: string): boolean {
  const parts = partsOf(name);
  return parts.some((part) => HEAVY_WORD.test(part)) && !isLight(name);
}

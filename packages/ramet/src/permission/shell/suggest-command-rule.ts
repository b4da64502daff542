/**
 * A rule that would allow a command and its like. Only programs that are known to do one thing are offered with any
 * arguments; of all others, interpreters and launchers first of all, nothing but the very command (RES-3).
 */
import { basename } from 'node:path';
import { offeredRule } from '../rule.ts';
import { textsOf } from './command-rules.ts';
import { uncoveredWords } from './programs/uncovered-options.ts';
import type { ShellCommand } from './reading/shell-reading.ts';

/** Compilers, linters, formatters and test runners: what they run is the project's own. */
const ONE_THING =
  /^(?:tsc|vue-tsc|eslint|prettier|biome|oxlint|stylelint|vitest|jest|mocha|ava|tap|karma|pytest|ruff|mypy|pyright|black|isort|flake8|pylint|rustfmt|gofmt|goimports|golangci-lint|staticcheck|clang-format|clang-tidy|ctest|ninja|phpunit|phpstan|rspec|rubocop|shellcheck|shfmt|hadolint|markdownlint|ktlint|swiftlint)$/;

/** Programs whose first argument says what they do, and what of it does one thing. */
const SUBCOMMANDS: Readonly<Record<string, RegExp>> = {
  git: /^(?:add|blame|branch|checkout|cherry-pick|clean|commit|diff|fetch|log|merge|mv|pull|push|rebase|reset|restore|revert|rm|show|stash|status|switch|tag|worktree)$/,
  npm: /^(?:test|t|ci|install|i|add|uninstall|update|outdated|ls|audit|pack|version|publish|link|dedupe|prune|rebuild)$/,
  yarn: /^(?:test|install|add|remove|upgrade|build|lint|why|pack)$/,
  pnpm: /^(?:test|install|i|add|remove|update|build|lint|why|pack)$/,
  bun: /^(?:test|install|add|remove|build)$/,
  deno: /^(?:test|lint|fmt|check|doc)$/,
  cargo: /^(?:build|check|test|clippy|fmt|doc|bench|tree|update|metadata|add|fetch)$/,
  go: /^(?:build|test|vet|fmt|mod|list|doc|get)$/,
  docker: /^(?:build|images|inspect|logs|ps|pull|stats)$/,
  kubectl: /^(?:describe|diff|explain|get|logs|top)$/,
  pip: /^(?:check|download|freeze|install|list|show)$/,
  pip3: /^(?:check|download|freeze|install|list|show)$/,
  gh: /^(?:issue|pr|release|repo|run|search|status|workflow)$/,
  dotnet: /^(?:build|clean|format|restore|test)$/,
  poetry: /^(?:add|build|check|install|lock|show|update)$/,
  uv: /^(?:add|build|lock|sync|tree)$/,
  bundle: /^(?:check|install|list|outdated|update)$/,
  composer: /^(?:install|outdated|require|show|update|validate)$/,
  terraform: /^(?:fmt|graph|plan|show|validate)$/,
  brew: /^(?:info|install|list|search|update|upgrade)$/,
  systemctl: /^(?:status|show|list-units)$/,
};
/** Of those, what changes something outside the project, or brings something into it: with other words it is another matter. */
const REACHES_OUT: Readonly<Record<string, RegExp>> = {
  git: /^(?:push|pull|clean)$/,
  npm: /^(?:install|i|add|uninstall|update|version|publish|link)$/,
  yarn: /^(?:add|remove|upgrade)$/,
  pnpm: /^(?:install|i|add|remove|update)$/,
  bun: /^(?:install|add|remove)$/,
  cargo: /^add$/,
  go: /^get$/,
  docker: /^pull$/,
  pip: /^(?:download|install)$/,
  pip3: /^(?:download|install)$/,
  gh: /./,
  poetry: /^add$/,
  uv: /^add$/,
  bundle: /^update$/,
  composer: /^(?:require|update)$/,
  brew: /^(?:install|update|upgrade)$/,
};
const RUNS_SCRIPTS = /^(?:npm|yarn|pnpm|bun)$/;

/** What they run comes on standard input when it is not named, so even their bare name allows everything. */
const TAKES_INPUT =
  /^(?:(?:ba|z|da|k|fi|c|tc|a)?sh|eval|source|\.|exec|xargs|parallel|ssh|node|deno|bun|tsx|ts-node|python[\d.]*|pypy[\d.]*|perl[\d.]*|ruby|irb|php|lua(?:jit)?[\d.]*|Rscript|R|julia|ghci|ocaml|scala|groovy|pwsh|tclsh|expect|gdb|lldb|sqlite3|psql|mysql|bc|dc|m4|at|batch|busybox|sudo|doas|su)$/;

export function suggestCommandRule(command: ShellCommand): string | null {
  const [name, first, second] = command.words.map(({ value }) => value);
  if (name === null || name === undefined) return null;
  // In quotes it is one name; in a rule, without them, it would be something else.
  if (!isPlainName(name)) return exactly(command);
  if (command.assignments.length > 0 || uncoveredWords(command.words).length > 0) return exactly(command);
  const program = basename(name);
  if (ONE_THING.test(program) || isOwnScript(name)) return withFurtherWords(name);
  if (first === null || first === undefined || first.startsWith('-') || program !== name)
    return exactly(command);
  if (
    first === 'run' &&
    RUNS_SCRIPTS.test(name) &&
    typeof second === 'string' &&
    /^[\w:.][\w:.-]*$/.test(second)
  )
    return withFurtherWords(`${name} run ${second}`);
  const isIn = (table: Readonly<Record<string, RegExp>>): boolean =>
    Object.hasOwn(table, name) && table[name]?.test(first) === true;
  return isIn(SUBCOMMANDS) && !isIn(REACHES_OUT) ? withFurtherWords(`${name} ${first}`) : exactly(command);
}

/** A file of the project that is run by its name; not a program that was installed into it. */
function isOwnScript(name: string): boolean {
  return (
    name.startsWith('./') &&
    !/(?:^|\/)(?:node_modules|\.venv|venv|vendor|\.bin|\.\.)\//.test(name) &&
    !TAKES_INPUT.test(basename(name)) &&
    !/(?:^|\/)(?:gradlew|mvnw|manage\.py)$/.test(name)
  );
}

function exactly(command: ShellCommand): string | null {
  const words = command.words.map(({ value }) => value);
  const known = words.every((value) => value !== null);
  const operands = words.slice(1).filter((value) => value !== null && !value.startsWith('-'));
  const takesInput = (value: string | null | undefined): boolean => TAKES_INPUT.test(basename(value ?? ''));
  // With nothing but options it would read what to run; so would one that stands last behind a launcher.
  if (!known || (takesInput(words[0]) && operands.length === 0) || takesInput(words.at(-1))) return null;
  if (/^(?:xargs|parallel)$/.test(basename(words[0] ?? ''))) return null;
  const text = textsOf(command).giving[0] ?? '';
  // A rule has no way to write a star that is only a star.
  return words.length > 1 && !text.includes('*') && !mayAssign(text) ? offeredRule(`Bash(${text})`) : null;
}

/** Only for text without a star. */
function withFurtherWords(beginning: string): string | null {
  return offeredRule(`Bash(${beginning}:*)`);
}

function isPlainName(name: string): boolean {
  return /^[\w@%+:,./-]+$/.test(name);
}

/** `'A=b' make` runs a program named `A=b`, and its text would be that of `A=b make`. */
function mayAssign(text: string): boolean {
  return /^[A-Za-z_]\w*\+?=/.test(text);
}

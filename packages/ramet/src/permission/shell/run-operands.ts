/**
 * What test runners, checkers and interpreters may write of the files they are given. A runner runs them, a checker
 * looks at them, an interpreter reads its script; with options such as `--fix` a checker changes them.
 */
import { HERE, isOperand, isOutput, type WrittenOperands } from './operand-words.ts';
import type { ShellWord } from './reading/shell-word.ts';
import { outputFolders, writtenFolders } from './written-folders.ts';

const TESTERS =
  /^(?:vitest|jest|mocha|ava|tap|uvu|playwright|cypress|pytest|py\.test|unittest|rspec|phpunit|nose2|tox|nox)$/;
const CHECKERS =
  /^(?:eslint|prettier|biome|stylelint|oxlint|ruff|mypy|pyright|flake8|pylint|shellcheck|markdownlint|markdownlint-cli2)$/;
/** These change what they are given unless an option says otherwise. */
const FORMATTERS =
  /^(?:black|isort|yapf|autopep8|autoflake|pyupgrade|rustfmt|gofmt|goimports|shfmt|clang-format|standard|xo|rubocop|dprint)$/;
const TOOLCHAINS: Readonly<Record<string, RegExp>> = {
  go: /^(?:test|vet)$/,
  deno: /^(?:test|lint|check|bench)$/,
  cargo: /^(?:test|check|clippy|nextest|bench|t|c)$/,
};
const INTERPRETERS = /^(?:node|tsx|ts-node|python[\d.]*|ruby|php|bash|sh|dash|zsh|deno|bun)$/;
const LAUNCHERS = /^(?:npx|bunx|pnpx|uvx)$/;
const MANAGERS = /^(?:npm|pnpm|yarn|bun)$/;
/** Options of these and of make that name the directory they work in. */
const ELSEWHERE = /^(?:-C|--(?:prefix|cwd|dir|directory))$/;
const ENVIRONMENTS = /^(?:uv|poetry|pipenv|pdm|rye|hatch)$/;
const TEST_SCRIPT = /^(?:test|t|test[:-](?!.*(?:update|fix|write))[\w:-]+)$/;
/** With these a checker changes what it is shown. */
const CHANGES =
  /^(?:-w|-i|-[a-z]*u|--?(?:[\w-]*(?:(?<!pre|suf)fix|write|update|in-?place|apply)[\w-]*))(?:=|$)|^(?:format|migrate|fmt)$/;
const ONLY_LOOKS = /^--(?:check|check-only|diff|dry-run)$/;
/** Options of checkers whose value is the next word. */
const VALUED =
  /^(?:-c|-f|--(?:config|config-path|ext|ignore-path|ignore-pattern|rule|parser|plugin|max-warnings|format|select|ignore|exclude|extend-select|log-level|cache-location|cache-strategy))$/;
const SUBCOMMAND = /^(?:check|lint|format|fmt|migrate|ci)$/;

export function runOperands(name: string, words: readonly ShellWord[]): WrittenOperands {
  const unknown = { words, whole: words.some(isFixing) ? words : [], patterns: true };
  return known(name, words) ?? { ...unknown, inside: writtenFolders(name, words) };
}

/** Null for a program that nobody knows: each of its words may name a written file. */
function known(name: string, words: readonly ShellWord[]): WrittenOperands | null {
  const first = words.find(isOperand)?.value ?? '';
  if (LAUNCHERS.test(name)) return launched(words);
  if (MANAGERS.test(name)) return managed(words);
  if (ENVIRONMENTS.test(name)) return first === 'run' ? launched(after('run', words)) : null;
  if (name === 'coverage') return first === 'run' ? asModule(after('run', words)) : null;
  if (name === 'make' || name === 'gmake') return made(words);
  if (name === 'tsc' || name === 'vue-tsc') return typeChecked(words);
  if (TESTERS.test(name)) return shown(words, false);
  if (CHECKERS.test(name)) return shown(words, true);
  if (FORMATTERS.test(name)) return formatted(words);
  const target = words.find((word) => isOperand(word) && !word.start.startsWith('+'))?.value ?? '';
  const checks = Object.hasOwn(TOOLCHAINS, name) ? TOOLCHAINS[name] : undefined;
  if (checks?.test(target)) return shown(words, false);
  if (checks !== undefined && target === 'fmt') return formatted(words);
  return INTERPRETERS.test(name) ? withoutScript(name, words) : null;
}

/** `npm test`, `npm run test`, `npm exec eslint`. */
function managed(words: readonly ShellWord[]): WrittenOperands | null {
  const first = words.find(isTarget)?.value ?? '';
  if (/^(?:exec|x|dlx)$/.test(first)) return launched(after(first, words));
  const script = first === 'run' || first === 'run-script' ? after(first, words)[0]?.value : first;
  return TEST_SCRIPT.test(script ?? '') ? shown(words, false) : null;
}

/** An operand that is not the directory to work in. */
function isTarget(word: ShellWord, index: number, words: readonly ShellWord[]): boolean {
  return isOperand(word) && !ELSEWHERE.test(words[index - 1]?.value ?? '');
}

function after(word: string, words: readonly ShellWord[]): readonly ShellWord[] {
  return words.slice(words.findIndex(({ value }) => value === word) + 1);
}

function launched(words: readonly ShellWord[]): WrittenOperands | null {
  const at = words.findIndex(isOperand);
  const { value } = words[at] ?? {};
  // A flag with a value of its own may name another program.
  const isPlain = words
    .slice(0, at)
    .every((word) => /^(?:-y|--yes|--no|--no-install|--)$/.test(word.value ?? ''));
  return value === undefined || value === null || !isPlain ? null : known(value, words.slice(at + 1));
}

/** `python -m pytest a.py`, `coverage run --branch -m pytest a.py`. */
function asModule(words: readonly ShellWord[]): WrittenOperands | null {
  const at = words.findIndex(({ value }) => value === '-m');
  const isFirst = at !== -1 && !words.slice(0, at).some(isOperand);
  const inner = isFirst ? known(words[at + 1]?.value ?? '', words.slice(at + 2)) : null;
  return inner === null
    ? null
    : { ...inner, words: [...words.slice(0, at).filter(isOutput), ...inner.words] };
}

/** `make test FILE=a.test.js`; a variable that sounds like a place to write counts as one. */
function made(words: readonly ShellWord[]): WrittenOperands | null {
  const targets = words.filter(isTarget).filter(({ value, start }) => !/^\w+=/.test(value ?? start));
  const isTest = targets.length > 0 && targets.every(({ value }) => /^(?:test|check)s?$/.test(value ?? ''));
  const isPlace = ({ start }: ShellWord): boolean => /^\w*(?:out|dest|dir|prefix)\w*=/i.test(start);
  return isTest ? { words: [...words.filter(isOutput), ...words.filter(isPlace)], whole: [] } : null;
}

function typeChecked(words: readonly ShellWord[]): WrittenOperands | null {
  const flags = words.flatMap(({ value }, index) => (/^--noemit$/i.test(value ?? '') ? [index] : []));
  const isOff = flags.length === 0 || flags.some((at) => words[at + 1]?.value === 'false');
  return isOff ? null : shown(words, false);
}

function shown(words: readonly ShellWord[], isChecker: boolean): WrittenOperands {
  if (!words.some(({ start }) => CHANGES.test(start)))
    return { words: words.filter(isOutput), whole: [], inside: outputFolders(words) };
  return { words, whole: isChecker ? orHere(words) : words, patterns: true };
}

function formatted(words: readonly ShellWord[]): WrittenOperands {
  const looks = words.some(({ value }) => ONLY_LOOKS.test(value ?? ''));
  return looks
    ? { words: words.filter(isOutput), whole: [] }
    : { words, whole: orHere(words), patterns: true };
}

/** A checker or formatter that is given nothing takes the working directory. */
function orHere(words: readonly ShellWord[]): readonly ShellWord[] {
  const named = words.filter(
    (word, index) =>
      isOperand(word) &&
      !VALUED.test(words[index - 1]?.value ?? '') &&
      !(index === 0 && SUBCOMMAND.test(word.value ?? '')),
  );
  return named.length === 0 ? [...words, HERE] : words;
}

function isFixing({ value }: ShellWord): boolean {
  return /^--(?:fix|write|in-place)(?:=|$)|^fmt$/.test(value ?? '');
}

/** `node a.js out` reads a.js and may write out; with `-e` nothing is a script; `node --test` runs all it names. */
function withoutScript(name: string, words: readonly ShellWord[]): WrittenOperands | null {
  const [first] = words;
  if (/^(?:node|tsx)$/.test(name) && runsTests(words)) return shown(words, false);
  if (name.startsWith('python') && first?.start.startsWith('-') === true) return asModule(words);
  return first !== undefined && isOperand(first) ? { words: words.slice(1), whole: [] } : null;
}

function runsTests(words: readonly ShellWord[]): boolean {
  const at = words.findIndex(({ value }) => value === '--test');
  const isOption = (word: ShellWord, index: number): boolean =>
    !isOperand(word) || /^(?:-r|--(?:import|require|loader|env-file))$/.test(words[index - 1]?.value ?? '');
  const before = words.slice(0, Math.max(at, 0));
  return (
    at !== -1 &&
    before.every(isOption) &&
    !before.some(({ value }) => /^(?:-e|-p|--eval|--print)$/.test(value ?? ''))
  );
}

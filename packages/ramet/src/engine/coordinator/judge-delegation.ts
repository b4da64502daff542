/**
 * Whether what a coordinator hands to a worker can be carried out by one who knows nothing else (COORD-2). Pure: it looks at
 * words, so it is cautious. A delegation comes back only if nothing in it is concrete, or if it tells the worker to decide
 * what the coordinator should have decided and says little else.
 */

/** What a text names, each kind as it stands there. */
export interface NamedThings {
  readonly files: readonly string[];
  readonly symbols: readonly string[];
  readonly lines: readonly string[];
  readonly commands: readonly string[];
  /** Error texts, values, and anything in quotes. */
  readonly quotes: readonly string[];
}

const ENDINGS =
  'ts|tsx|js|jsx|mjs|cjs|mts|cts|py|ipynb|go|rs|rb|erb|java|kt|kts|swift|c|cc|cpp|h|hpp|cs|php|ex|exs|hs|ml|lua|zig|dart|jl|r|R|asm|s|sh|ps1|bat|sql|prisma|proto|graphql|html|css|scss|less|svg|vue|svelte|astro|md|mdx|rst|txt|json|jsonc|yml|yaml|toml|ini|cfg|conf|env|xml|xaml|csv|tf|nix|gradle|lock|snap|pem|pdf|bats|example';

const FILES = [
  // A path, with or without an ending.
  /(?<![\w@])(?:\.{0,2}\/)?(?:[\w@.-]+\/)+[\w@.*-]+/g,
  new RegExp(`(?<![\\w/])[\\w@.*-]*[\\w*-]\\.(?:${ENDINGS})(?![\\w/])`, 'g'),
  /\b(?:Dockerfile|Containerfile|Makefile|Justfile|Rakefile|Gemfile|Pipfile|Procfile|Brewfile|Podfile|Caddyfile|Vagrantfile|Jenkinsfile|CMakeLists|LICENSE|README|CHANGELOG|CONTRIBUTING|CODEOWNERS)\b(?!\.\w)/g,
  /(?<!\w)\.(?:env|gitignore|npmrc|eslintrc|editorconfig)\b|\b(?:gitignore|dockerignore|editorconfig)\b/g,
];

/** What follows "the function" in a sentence about one that it does not name. */
const NO_SYMBOL = [
  'a an the this that these those it its he she they we you i your our their all any each every some no not',
  'and or but nor so as at by for from if in into of off on onto out over per than then to too under until up via',
  'with without within when where which while who whose why how what because before after inside between behind below',
  'above across along around like again also already always instead just now only still well yet here there once twice',
  'is isn are was were be been being has have had having does doesn do did doing can cannot could should would must may',
  'might shall will need needs work works working fail fails failing failed return returns returning throw throws take',
  'takes get gets give gives go goes make makes break breaks broken crash crashes hang hangs call calls called named use',
  'used uses using run runs running look looks seem seems read reads write writes send sends keep keeps lose loses leak',
  'leaks show shows contain contains handle handles stay stays become becomes behave behaves',
  'level system code file files body bodies test tests name names definition definitions declaration declarations',
  'hierarchy design layout style structure structures boundary boundaries lookup key keys value values type types row',
  'rows cell cells column columns view views props library libraries tree trees graph',
  'better properly correctly faster slower nicer cleaner easier simpler safer more less right wrong stable clean simple',
  'small consistent intact unchanged public private readable robust today accordingly everywhere somewhere somehow',
]
  .join(' ')
  .replaceAll(' ', '|');

const SYMBOLS = [
  /`[^`\n]+`/g,
  /\b[A-Za-z_$][\w$]*(?:\.|::|#|->)[A-Za-z_$][\w$]*(?:\(\))?/g,
  /\b[A-Za-z_$][\w$]*\([^)\n]{0,80}\)/g,
  /\b[a-z]+(?:[A-Z][a-z0-9]*)+\b/g,
  /\b(?:[A-Z][a-z0-9]+){2,}\b/g,
  /\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b/g,
  /\b[A-Z][A-Z0-9]{2,}_[A-Z0-9_]+\b/g,
  /(?<!\w)--?[a-z][\w-]*\b/g,
  /(?<!\w)(?:GET|POST|PUT|PATCH|DELETE|HEAD) \/[\w/:.{}-]*/g,
  /(?<![\w.])\/[a-z][\w-]*(?:\/[\w:{}-]+)*/g,
  /(?<!\w)[.#][a-z][\w-]*__?[\w-]+\b/g,
  /\b(?:function|class|method|type|interface|struct|trait|enum|module|component|hook|fixture|constant|variable|field|column|table|index|endpoint|route|label|flag|option|command|target|test|branch|migration|scope|helper|header)s? ["`']?[A-Za-z_$][\w$.-]*[A-Z_\d"`'][\w$.-]*/g,
  // The name of a thing as people write it: class Registry, section Install, the function slugify, the table users.
  /\b(?:function|class|method|type|interface|struct|trait|enum|module|component|constant|variable|field|column|table|section|chapter|workflow|package|service|model|page|protocol|template|stage)s? [A-Z][\w$-]+/g,
  new RegExp(
    `\\b(?:function|class|method|interface|struct|trait|enum|module|component|constant|variable|field|column|table|section|workflow|command|subcommand|option|flag|route|template|model|script|package|stage) (?!(?:${NO_SYMBOL})\\b)[a-z_$][\\w$-]+`,
    'g',
  ),
  // In style sheets: a class or id of several words, or said to be one, and a colour.
  /(?<![\w.#])[.#][a-z][a-z0-9]*(?:-[a-z0-9]+)+\b/g,
  /\b(?:class|id|selector) [.#][a-z][\w-]*/g,
  /(?<!\w)#(?:[0-9a-f]{6}|[0-9a-f]{8}|(?=\d{0,3}[a-f])[0-9a-f]{3,4})\b/gi,
];

const LINES = [/:\d+(?:-\d+)?\b/g, /\blines? \d+/gi, /\bcell \d+/gi, /\bcommit [0-9a-f]{7,40}\b/g];

const COMMANDS = [
  /\b(?:npm|npx|pnpm|yarn|bun|deno|cargo|rustc|python3?|pip|pytest|ruff|mypy|tox|cmake|ctest|mvn|gradle|rake|rspec|rails|dotnet|docker|docker-compose|kubectl|helm|terraform|ansible|git|grep|sed|awk|curl|psql|sqlite3|tsc|vitest|jest|eslint|biome|prettier|phpunit|composer|luacheck|molecule|mandoc|flock|openssl) [a-z./@-][\w./:@=*-]*/g,
  // Words of other sentences too.
  /\b(?:go (?:test|build|vet|run|mod|generate|fmt)|make (?:test|check|build|lint|all|install|release|clean)\b|mix test|swift (?:test|build)|bundle exec|(?:node|bash|sh) [\w./-]+\.\w+)/g,
  /^\s*\$ \S+/gm,
];

const QUOTES = [
  /"[^"\n]{2,}"|\u201c[^\u201d\n]{2,}\u201d|(?<!\w)'[^'\n]{2,}'(?!\w)/g,
  /\b(?:[A-Z][a-z]+)*(?:Error|Exception|Timeout|Warning)\b/g,
  /\b(?:E[A-Z]{4,}|E\d{4})\b/g,
  /\bfrom \d[\w.%]* to \d[\w.%]*/g,
];

/** Pairs of words, and names of things that no repository has as a symbol. */
const NO_NAMES =
  /^(?:(?:and\/or|either\/or|read\/write|client\/server|server\/client|input\/output|in\/out|request\/response|start\/stop|before\/after|try\/catch|async\/await|front-?end\/back-?end|yes\/no|on\/off|his\/her|he\/she|CI\/CD|TCP\/IP|I\/O|N\/A)|JavaScript|TypeScript|CoffeeScript|GitHub|GitLab|BitBucket|PostgreSQL|MySQL|MongoDB|GraphQL|OpenAPI|DevOps|WebSockets?|PowerPoint|PowerShell|MacOS|LinkedIn|YouTube)$/i;

export function namedThings(text: string): NamedThings {
  const files = found(text, FILES);
  // What is a path is not a symbol too.
  const rest = files.reduce((left, file) => left.replaceAll(file, ' '), text);
  return {
    files,
    symbols: found(rest, SYMBOLS),
    lines: found(text, LINES),
    commands: found(text, COMMANDS),
    quotes: found(rest, QUOTES),
  };
}

function found(text: string, patterns: readonly RegExp[]): string[] {
  const all = patterns.flatMap((pattern) => text.match(pattern) ?? []).map((one) => one.replace(/\.+$/, ''));
  return [...new Set(all)].filter((one) => !NO_NAMES.test(one));
}

const LEARNED =
  '(?:findings?|research|analysis|investigation|exploration|results?|reports?|conclusions?|recommendations?|knowledge|insights?|observations?|information)';
const FOUND =
  '(?:found|discovered|identified|learn(?:ed|t)|saw|seen|uncovered|noticed|proposed|suggested|recommended|determined|concluded)';

/** The worker is to know, or to decide, what the coordinator had to. */
const PUSHES: readonly RegExp[] = [
  new RegExp(
    `\\b(?:based|building|relying|acting|drawing) (?:up)?on (?:all )?(?:your|the|our|these|those|their|its|what|everything)\\b[^.;:]{0,40}?(?:${LEARNED}|${FOUND}|conversation|discussion|discussed)`,
    'i',
  ),
  new RegExp(
    `\\b(?:according to|in line with|per|following|given|with|from) (?:your|the|these|those|their)(?: own)?(?: \\w+)? ${LEARNED}\\b`,
    'i',
  ),
  new RegExp(
    `\\b(?:use|using|take|apply|follow|implement|consider|look at) (?:your|the|all|these|those)(?: own)?(?: \\w+)? ${LEARNED}\\b`,
    'i',
  ),
  new RegExp(
    `\\b(?:as|what|whatever|that|which|everything|all|from what) you(?:['\u2019]ve| have)?(?: just| already)? ${FOUND}`,
    'i',
  ),
  new RegExp(
    `\\b(?:issues?|problems?|bugs?|errors?|cause|fix|fixes|changes?|solution|approach|things?) (?:that |which )?(?:you|the research|the workers?|they)(?:['\u2019]ve| have| has)? ${FOUND}`,
    'i',
  ),
  /\b(?:as you (?:see fit|think)|you think (?:is|are) (?:best|right)|(?:choose|decide) (?:what|which|the best|on the))/i,
  new RegExp(`\\bthe (?:workers?|research(?:ers?)?) (?:has|have) ${FOUND}`, 'i'),
];

export interface Delegation {
  readonly prompt: string;
  /** What the call says must come of it: files and a command are as concrete as words. */
  readonly expected?: readonly string[] | undefined;
}

/** What is missing; null when nothing is. `mustName`: it must name something concrete, as in implementation. */
export function missingIn({ prompt, expected = [] }: Delegation, mustName: boolean): string | null {
  const named = namedThings(prompt);
  const push = PUSHES.map((pattern) => pattern.exec(prompt)?.[0]).find((text) => text !== undefined);
  if (push !== undefined && !isSpelledOut(named)) return pushed(push);
  const isConcrete = Object.values(named).some((things) => things.length > 0) || expected.length > 0;
  return mustName && !isConcrete && !saysWhat(prompt) ? NOTHING_CONCRETE : null;
}

/** This many words with a figure, or without one, say what is wanted, unless they are the ones that fit any task. */
const [WITH_FIGURE, WITHOUT] = [9, 16];

const FITS_ANY_TASK =
  /\b(?:careful(?:ly)?|thorough(?:ly)?|conventions?|best practices?|quality|the plan|all of it|everything|as needed|where needed|make sure|and so on|whatever)\b/i;

/** Whether it describes a behaviour closely enough, though it names no place: 5 tries a minute, then answer 429. */
function saysWhat(prompt: string): boolean {
  const words = prompt.split(/\s+/).length;
  if (/(?<![#\w])v?\d/.test(prompt)) return words >= WITH_FIGURE;
  return words >= WITHOUT && !FITS_ANY_TASK.test(prompt);
}

/**
 * Whether the text says what to do in spite of such a phrase. The name of a file and of a test command say where, and not
 * what.
 */
function isSpelledOut({ symbols, lines, quotes }: NamedThings): boolean {
  return symbols.length + lines.length + quotes.length >= 2 || (symbols.length > 0 && lines.length > 0);
}

function pushed(phrase: string): string {
  return `"${phrase.slice(0, 80)}" leaves the conclusion to the worker. Draw it yourself and write it down: which file and symbol, what is wrong there, what to write instead, how to prove it`;
}

const NOTHING_CONCRETE =
  'it names nothing concrete: no file, symbol, line, command or error text. Say where to work, what to change there, and which command proves it';

/**
 * What is known of programs that commands of a repository start: which of their words they run, and which files of the
 * repository tell them what to run.
 */

/** They run what their first operand names, or what they read. */
export const RUNS_SCRIPTS: RegExp =
  /^(?:(?:ba|da|z|k|a|fi|c|tc)?sh|\.|source|eval|node(?:js)?|bun|deno|tsx|ts-node|swc-node|python[\d.]*|pypy\d*|ruby|perl|php|lua[\d.]*|luajit|Rscript|osascript|pwsh|powershell|java|groovy|scala|kotlin|swift|julia|elixir|escript|guile|racket|tclsh|expect|wish|go|dotnet|awk|gawk|mawk)$/;

/** Of these, those that read the language of commands. */
export const SHELLS: RegExp = /^(?:ba|da|z|k|a|fi)?sh$/;

/** They run the command that their words are; a word among these may be what decides. */
export const RUNS_COMMANDS: RegExp =
  /^(?:builtin|command|exec|time|env|nice|ionice|chrt|taskset|nohup|setsid|timeout|gtimeout|stdbuf|unbuffer|script|xargs|find|fd|parallel|sudo|doas|su|runuser|flock|watch|watchexec|entr|strace|ltrace|busybox|trap|direnv|npx|pnpx|bunx|uvx|pipx|npm|pnpm|yarn|corepack|uv|poetry|pipenv|pdm|rye|hatch|pixi|conda|mamba|mise|asdf|rtx|bundle|rbenv|nvm|fnm|volta|devbox|nix|nix-shell|nix-develop|concurrently|npm-run-all|run-p|run-s|wireit|turbo|nx|lerna|cross-env|dotenv|dotenvx|doppler|op|infisical|chroot|unshare|bwrap|firejail|cargo|docker|podman|docker-compose|ssh)$/;

/** Of these, those whose first operand is a program of its own. */
export const PASSES_ON: RegExp =
  /^(?:builtin|command|exec|time|env|nice|ionice|chrt|nohup|setsid|timeout|gtimeout|stdbuf|unbuffer|xargs|parallel|sudo|doas|watch|npx|pnpx|bunx|uvx|cross-env)$/;

/** They also load what no word names: modules of a project, configuration, hooks of their own. */
export const LOADS_MORE: RegExp =
  /^(?:uvx?|poetry|pipx|pipenv|pdm|rye|hatch|pixi|conda|mamba|tsx|ts-node|husky|chroot)$/;

/** They run a folder as a program. */
export const RUNS_FOLDERS: RegExp = /^(?:run-parts|uv|poetry|pipx|pipenv|pdm|rye|hatch|pixi|conda|mamba)$/;

/** A word of these comes before the file that they run: `go run x`, `uv run --with y x`. */
export const SUBCOMMANDS: RegExp =
  /^(?:run|run-script|exec|x|dlx|tool|task|start|test|build|generate|script|\d+[smh]?)$/;

/** What follows is the program itself, or the name of a module. */
export function isInline(program: string, option: string): boolean {
  return (SHELLS.test(program) ? /^-[a-zA-Z]*c[a-zA-Z]*$/ : INLINE).test(option);
}

const INLINE: RegExp = /^(?:-[a-zA-Z]*[cepmE]|--(?:eval|print|command|execute))$/;
/** They have no value, so that the next word is the script. */
export const FLAGS: RegExp =
  /^(?:-[euxvlisnBEsSIqOwTh]+|--(?:norc|noprofile|posix|login|no-warnings|experimental-[\w-]+|enable-source-maps|watch|test|silent|quiet|verbose|yes|no-install|frozen|locked|offline))$|=/;
/** They look at nothing else then. */
export const ASKS_ABOUT: RegExp = /^(?:-[vV]|--(?:version|help))$/;

/** Files, in the directory or the nearest above it, that tell a program what to run. */
const MANIFESTS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    'npm npx pnpm pnpx yarn bun bunx corepack npm-run-all run-p run-s concurrently wireit':
      'package.json .npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs pnpm-workspace.yaml bunfig.toml',
    'turbo nx lerna': 'package.json turbo.json nx.json lerna.json',
    'make gmake': 'GNUmakefile makefile Makefile',
    just: 'justfile Justfile .justfile',
    cargo: 'Cargo.toml build.rs .cargo/config.toml .cargo/config',
    'rake bundle rails rspec': 'Rakefile rakefile Rakefile.rb rakefile.rb Gemfile .rspec',
    'task go-task':
      'Taskfile.yml taskfile.yml Taskfile.yaml taskfile.yaml Taskfile.dist.yml Taskfile.dist.yaml',
    deno: 'deno.json deno.jsonc package.json',
    'node nodejs tsx ts-node': 'package.json',
    composer: 'composer.json',
    'R Rscript': '.Rprofile .Renviron .RData',
    'uv uvx poetry pipenv pdm rye hatch pixi poe pip pip3 pipx tox nox pytest py.test ruff mypy flake8 black isort':
      'pyproject.toml .flake8 uv.toml setup.py setup.cfg tox.ini noxfile.py Pipfile pixi.toml conftest.py pytest.ini mypy.ini',
    'invoke inv fab': 'tasks.py fabfile.py pyproject.toml',
    go: 'go.mod go.work',
    'gradle gradlew':
      'build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties gradle/wrapper/gradle-wrapper.properties',
    'mvn mvnw':
      'pom.xml .mvn/jvm.config .mvn/maven.config .mvn/extensions.xml .mvn/wrapper/maven-wrapper.properties',
    'ant sbt mix rebar3 lein': 'build.xml build.sbt mix.exs rebar.config project.clj',
    'docker docker-compose podman podman-compose':
      'compose.yaml compose.yml docker-compose.yaml docker-compose.yml compose.override.yaml docker-compose.override.yml Dockerfile Containerfile',
    'nix nix-shell nix-develop devbox': 'flake.nix shell.nix default.nix devbox.json',
    'mise asdf rtx':
      'mise.toml .mise.toml .tool-versions mise.local.toml .mise.local.toml mise/config.toml .mise/config.toml .config/mise.toml .config/mise/config.toml',
    'direnv dotenv dotenvx': '.envrc .env',
    'pre-commit husky lint-staged': '.pre-commit-config.yaml package.json',
    lefthook: ['lefthook', '.lefthook', 'lefthook-local', '.lefthook-local', '.config/lefthook']
      .flatMap((name) => ['yml', 'yaml', 'toml', 'json'].map((ending) => `${name}.${ending}`))
      .join(' '),
    nodemon: 'nodemon.json package.json',
    'foreman overmind hivemind honcho': 'Procfile Procfile.dev .foreman .overmind.env .env',
    'grunt gulp': 'Gruntfile.js gruntfile.js gulpfile.js gulpfile.mjs gulpfile.ts package.json',
    'bazel bazelisk': 'WORKSPACE WORKSPACE.bazel MODULE.bazel BUILD BUILD.bazel .bazelrc',
    'cmake ctest meson ninja scons':
      'CMakeLists.txt CMakePresets.json CMakeUserPresets.json CTestTestfile.cmake CTestConfig.cmake CMakeCache.txt meson.build build.ninja SConstruct',
    'dotnet swift dart flutter zig':
      'global.json Directory.Build.props Directory.Build.targets Package.swift pubspec.yaml build.zig',
    'earthly vagrant terraform tofu pulumi ansible-playbook':
      'Earthfile Vagrantfile main.tf Pulumi.yaml ansible.cfg',
  }).flatMap(([programs, files]) =>
    programs.split(' ').map((program) => [program, files.split(' ')] as const),
  ),
);

export function manifestsOf(program: string): readonly string[] {
  return MANIFESTS.get(program) ?? [];
}

const TASKS: Readonly<Record<string, readonly string[]>> = {
  lefthook: ['.lefthook', '.lefthook-local'],
  mise: [
    '.mise/tasks',
    '.mise/conf.d',
    'mise-tasks',
    'mise/tasks',
    '.config/mise/tasks',
    '.config/mise/conf.d',
  ],
};

/** Folders whose files they run by their names. */
export function taskFolders(program: string): readonly string[] {
  return Object.hasOwn(TASKS, program) ? (TASKS[program] ?? []) : [];
}

/** Their file has commands of its own, which are not followed. */
export const TELLS_COMMANDS: RegExp =
  /^(?:g?make|just|rake|task|go-task|invoke|inv|fab|gradlew?|mvnw?|ant|cmake|ninja|scons|earthly)$/;

/** Files whose lines, or the values in them, are commands and scripts. */
export const HOLDS_COMMANDS: RegExp =
  /^(?:\.?justfile|taskfile(?:\.dist)?\.ya?ml|procfile(?:\.dev)?|\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)|\.pre-commit-config\.yaml|\.envrc|\.?mise(?:\.local)?\.toml|devbox\.json|nodemon\.json|\.npmrc|\.yarnrc(?:\.yml)?|\.lintstagedrc.*|bunfig\.toml|\.overmind\.env)$/i;

/** What an interpreter loads first from a folder. */
export const BEGINS_FOLDER: RegExp = /^(?:(?:__init__|__main__|index|main|init|mod)\.\w+|package\.json)$/;

export const RUNS_PACKAGE_SCRIPTS: RegExp =
  /^(?:npm|pnpm|yarn|bun|npx|pnpx|bunx|corepack|npm-run-all|run-p|run-s|concurrently|wireit|turbo|nx|lerna|node)$/;

/** Configuration by the name of its program: `eslint.config.js`, `.prettierrc`, `jest.setup.ts`. */
export function isConfigurationOf(program: string, file: string): boolean {
  const name = file.toLowerCase();
  const own = program.toLowerCase();
  if (own.length < 3 || !(name.startsWith(own) || name.startsWith(`.${own}`))) return false;
  return /^(?:rc|\.(?:config|conf|setup|workspace|rc|json|jsonc|toml|ya?ml|[cm]?[jt]s)\b|file$)/.test(
    name.slice(name.startsWith('.') ? own.length + 1 : own.length),
  );
}

const PLAIN =
  ': [ [[ afplay ag alias arch aplay base64 basename bat beep biome black break bzip2 cat cd chmod chown cksum clang-format clear cmp column comm continue cp curl cut date dd declare df diff dircolors dirname dirs disown dos2unix du echo egrep env exit export expr eza false fg fgrep file fmt fold getconf getopts git gofmt goimports grep groups gunzip gzip hash head help hexdump hostname id install isort jobs join jq kill let ln local logger logname ls lsof md5sum mkdir mkfifo mktemp more mv nl notify-send nproc od open paste pgrep popd prettier printenv printf ps pushd pwd read readlink readonly realpath return rg rm rmdir ruff rustfmt say sed seq set sha1sum sha256sum shasum shfmt shift shopt shuf sleep sort split stat stty sum sync tac tail tar tee terminal-notifier test times touch tput tr tree true truncate tsc tty type typeset ulimit umask unalias uname unexpand uniq unlink unset unxz unzip uptime uuidgen wait wc wget which who whoami xdg-open xxd xz yes yq zcat zip';
const PLAIN_PROGRAMS: ReadonlySet<string> = new Set(PLAIN.split(' '));

/** They run nothing of what their words name. */
export function isPlain(program: string): boolean {
  return PLAIN_PROGRAMS.has(program);
}

/** Variables that lead programs to what they load. */
export const PLACES: RegExp =
  /PATH$|(?:PERL5|RUBY)LIB$|^(?:BASH_)?ENV$|OPT(?:(?:ION)?S)?$|(?:DIRS?|HOME|ROOT)$|^(?:LUA_C?PATH\w*|PYTHON(?:USERBASE|PLATLIBDIR))$/;
/** Variables whose value a program runs, or loads what it names. */
export const NAMES_PROGRAM: RegExp =
  /(?:^|_)(?:PAGER|EDITOR|VISUAL|SHELL|BROWSER|ASKPASS|COMMAND|CMD|WRAPPER|PRELOAD|INIT|STARTUP|HELPER)$|^(?:CC|CXX|LD|AR|MAKEFILES|MAKEFLAGS|PERL5DB|LESS(?:OPEN|CLOSE)|PYTHON(?:STARTUP|WARNINGS|BREAKPOINT)|DYLD_INSERT_LIBRARIES|GIT_(?:SSH|EXTERNAL_DIFF|CONFIG_\w+))$/;
/** They give what they read to a command as its words. */
export const FEEDS: RegExp = /^(?:xargs|parallel)$/;
/** With these, what they read goes into words of the command: `xargs -I% sh %`. */
export const REPLACES: RegExp = /^(?:-[a-zA-Z0-9]*[IiJ]|--(?:replace|max-replace))/;

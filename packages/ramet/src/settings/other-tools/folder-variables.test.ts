import { describe, expect, test } from 'vitest';
import { takeVariables } from './folder-variables.ts';

function folderMaySet(name: string, value: string): boolean {
  return name in takeVariables({ [name]: value }, { shown: 'x', isUsers: false }).env;
}

/** The name decides, also where the value is only a switch: a file may be called so. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'a word that a known program takes for another program, a file or a host': [
    ...['PATH', 'EDITOR', 'PAGER', 'GIT_PAGER', 'MANPAGER', 'BROWSER', 'SHELL', 'RSYNC_RSH', 'CC', 'PYTHON'],
    ...['XDG_CONFIG_HOME', 'HOME', 'GNUPGHOME', 'CURL_HOME', 'OPENSSL_CONF', 'OPENSSL_MODULES', 'PSQLRC'],
    ...['RIPGREP_CONFIG_PATH', 'NODE_OPTIONS', 'NODE_TLS_REJECT_UNAUTHORIZED', 'NODE_EXTRA_CA_CERTS'],
    ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_NO_VERIFY'],
    ...['PYTEST_ADDOPTS', 'PYTEST_PLUGINS', 'PYTHONPATH', 'PYTHONBREAKPOINT', 'PYTHONSTARTUP', 'PYTHONHOME'],
    ...['PERL5OPT', 'PERL5LIB', 'PERL5DB', 'RUBYOPT', 'RUBYLIB', 'R_PROFILE_USER', 'R_LIBS', 'LUA_INIT'],
    ...['LD_PRELOAD', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'GCONV_PATH', 'BASH_ENV', 'ENV', 'ZDOTDIR', 'IFS'],
    ...['https_proxy', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY', 'npm_config_prefix', 'NPM_CONFIG_REGISTRY'],
    ...['GIT_SSH_COMMAND', 'GIT_CONFIG_COUNT', 'GIT_EXTERNAL_DIFF', 'SSH_ASKPASS', 'SSH_AUTH_SOCK'],
    ...[
      'DOCKER_HOST',
      'DOCKER_CONTEXT',
      'KUBECONFIG',
      'PGHOST',
      'PGSERVICEFILE',
      'DATABASE_URL',
      'REDIS_URL',
    ],
    ...['JAVA_TOOL_OPTIONS', 'CLASSPATH', 'MAVEN_ARGS', 'GRADLE_OPTS', 'GOFLAGS', 'GOPROXY', 'CGO_CFLAGS'],
    ...['CARGO_BUILD_RUSTC', 'RUSTC_WRAPPER', 'RUSTUP_TOOLCHAIN', 'MAKEFLAGS', 'TERMINFO', 'LESSOPEN'],
    ...['ANSIBLE_STRATEGY', 'TF_CLI_ARGS', 'AWS_PROFILE', 'GH_TOKEN', 'GTK_MODULES', 'VIMINIT', 'HGRCPATH'],
    ...['OPENAI_BASE_URL', 'OPENAI_MODEL', 'GEMINI_X', 'LOCALDOMAIN', 'HOSTALIASES', 'RUSTC', 'GLOBIGNORE'],
    ...['SSLKEYLOGFILE', 'DOTNET_STARTUP_HOOKS', 'SWIFT_EXEC', 'CLAUDE_PROJECT_DIR', 'npm_execpath', 'FPATH'],
    ...['FLASK_APP', 'QUART_APP', 'CELERY_APP', 'INVOKE_TASKS_COLLECTION_NAME', 'APP_RUNTIME', 'ODBCINI'],
    ...[
      'ODBCSYSINI',
      'TNS_ADMIN',
      'MAILCAPS',
      'XAUTHORITY',
      'TEXINPUTS',
      'COMPOSER',
      'TAPE',
      'MAIL',
      'P4PORT',
    ],
    ...[
      'RM',
      'GREP',
      'AR',
      'LD',
      'AS',
      'AWK',
      'SED',
      'CXX',
      'FC',
      'GET',
      'CO',
      'LINT',
      'YACC',
      'TEX',
      'WEAVE',
    ],
    ...[
      'rm',
      'Foo',
      'AUTHOR',
      'SPHINXBUILD',
      'HOST_CC',
      'CC_FOR_BUILD',
      'MY_RM',
      'SED_X',
      'BUILD_AR',
      'X_AWK_2',
    ],
    ...['OTEL_EXPORTER_OTLP_ENDPOINT', 'API_BASE_URL', 'MYAPP_PLUGINS', 'MYAPP_SERVER', 'MYAPP_COMMAND'],
  ],
};

describe('SEC-1: a variable of a trusted folder', () => {
  test.for(Object.entries(REFUSED))('is not set if its name says %s', ([, names]) => {
    expect(names.filter((name) => ['x', 'dev', '1'].some((value) => folderMaySet(name, value)))).toEqual([]);
  });

  test.for([
    ...['./evil', '/tmp/x', 'a/b', '~', '$HOME', 'C:\\x', '-r x', 'a --load=x', 'sh -c x', 'http://a', 'a@b'],
    ...[
      'a;b',
      'a|b',
      '`x`',
      'a\nb',
      '..',
      '.x',
      '*',
      'x=y',
      'sh evil',
      'npx some-package',
      'evil',
      'evil.com:80',
    ],
    ...[
      'eu-west-1',
      '1.2.3',
      'a,b',
      'true false',
      'true\n',
      'dev.sh',
      '-1',
      '1 2',
      'test:dev',
      '30 s',
      'debugger',
    ],
  ])('is not set if nobody knows its name and its value is more than a switch: %j', (value) => {
    expect(['MYAPP_MODE', 'RM', 'GREP', 'SPHINXBUILD'].filter((name) => folderMaySet(name, value))).toEqual(
      [],
    );
  });

  test.for([
    ...[
      '1',
      '',
      '0.5',
      '3000',
      '30s',
      '512MB',
      '250ms',
      '80%',
      'true',
      'FALSE',
      'yes',
      'no',
      'on',
      'off',
      'enabled',
    ],
    ...[
      'disabled',
      'dev',
      'Development',
      'test',
      'testing',
      'ci',
      'qa',
      'staging',
      'preview',
      'prod',
      'production',
    ],
    ...[
      'local',
      'demo',
      'trace',
      'debug',
      'verbose',
      'info',
      'notice',
      'warn',
      'WARNING',
      'error',
      'fatal',
      'silent',
    ],
    'quiet',
  ])('is set if its name says nothing of the kind and its value is a switch: %j', (value) => {
    expect(
      ['MYAPP_MODE', 'MY_CARMA', 'ENVIRONMENT', 'STAGE', 'PORT', 'VERBOSE'].filter(
        (name) => !folderMaySet(name, value),
      ),
    ).toEqual([]);
  });

  const SETTLED = {
    ...{ NODE_ENV: 'test', DEBUG: 'app:*,-app:db', CI: 'true', LANG: 'de_DE.UTF-8', LC_ALL: 'C.UTF-8' },
    ...{ LANGUAGE: 'de:en', LC_TIME: 'de_DE@euro', RUST_LOG: 'info,app::db=debug', RUST_BACKTRACE: '1' },
    ...{
      LOG_LEVEL: 'debug',
      NO_COLOR: '',
      FORCE_COLOR: '0',
      NEXT_TELEMETRY_DISABLED: '1',
      PYTHONUNBUFFERED: '1',
    },
    ...{
      CARGO_TERM_COLOR: 'always',
      PIP_NO_INPUT: '1',
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
      TERM: 'xterm-256color',
    },
    ...{ GO111MODULE: 'on', GOOS: 'linux', GOARCH: 'amd64', CGO_ENABLED: '0', CARGO_INCREMENTAL: '0' },
    ...{ MIX_ENV: 'prod', HUSKY: '0', JEST_WORKERS: '50%', PGTZ: 'UTC', TZ: 'UTC' },
  };

  test('is set, also to a word of its own, if it only says how programs speak', () => {
    expect(Object.entries(SETTLED).filter(([name, value]) => !folderMaySet(name, value))).toEqual([]);
  });

  test.for([
    ...[
      '../../tmp/loc',
      '/tmp/e.po',
      ':/tmp/e.po',
      ':e',
      '.x',
      'a..b',
      'a/b',
      'a\\b',
      '~',
      '~root',
      '$HOME',
      '${X}',
    ],
    ...['`x`', 'sh evil', 'a\nb', 'a;b', 'a|b', '-x'],
  ])('is not set to what may name a file or be a command, whatever its name: %j', (value) => {
    const names = Object.keys(SETTLED).filter((name) => name !== 'TZ' || value !== 'a/b');
    expect(names.filter((name) => folderMaySet(name, value))).toEqual([]);
  });

  test('may be a time zone with a slash, which no part leads out of its folder', () => {
    const zones = ['Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+1', 'UTC+2', 'CET-1CEST'];
    expect(zones.filter((zone) => !folderMaySet('TZ', zone))).toEqual([]);
    const paths = ['/Europe/Berlin', 'Europe/../x', 'Europe//x', 'Europe/', './x', ':UTC', 'a/.b', 'a/1'];
    expect(paths.filter((path) => folderMaySet('TZ', path))).toEqual([]);
  });
});

describe('EXT-1: variables that are left out', () => {
  const taken = (isUsers: boolean) =>
    takeVariables(
      {
        ...{ NODE_ENV: 'test', PATH: '/x', CLAUDE_CODE_ENABLE_TELEMETRY: '0', OPENAI_API_KEY: 'k' },
        ...{ ANTHROPIC_MODEL: 'm', RAMET_HOME: '/x', 'A-B': '1', 'C\u001b[2J': '1', LIST: ['1'], NONE: null },
      },
      { shown: '.claude/settings.json', isUsers },
    );

  test('are all named, and where to set them', () => {
    const { env, problems } = taken(false);
    expect(env).toEqual({ NODE_ENV: 'test' });
    expect(problems).toEqual([
      'env in .claude/settings.json: CLAUDE_CODE_ENABLE_TELEMETRY, OPENAI_API_KEY, ANTHROPIC_MODEL, RAMET_HOME not set: programs get nothing that is for Ramet, Claude Code or a provider (set what Ramet reads where you start it)',
      'env in .claude/settings.json: "A-B", "C\\u001b[2J", LIST, NONE not set: a name has letters, digits and _, a value is a text, a number, true or false',
      'env in .claude/settings.json: PATH not set: a folder does not say what programs run, load or reach (set it in ~/.claude/settings.json if you want it)',
    ]);
  });

  test('are in your own file only what programs never get', () => {
    const { env, problems } = taken(true);
    expect(env).toEqual({ NODE_ENV: 'test', PATH: '/x' });
    expect(problems).toHaveLength(2);
  });

  test('are all where env is no object', () => {
    const named = (value: unknown) => takeVariables(value, { shown: 'x', isUsers: false }).problems;
    expect(named(['A'])).toEqual(['env in x is no object: nothing of it is set']);
    expect(named(undefined)).toEqual([]);
  });
});

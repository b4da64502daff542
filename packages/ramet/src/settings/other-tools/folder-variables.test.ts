import { describe, expect, test } from 'vitest';
import { folderMaySet } from './folder-variables.ts';

/** Values as a repository would write them: the name decides, and where nobody knows the name, the value. */
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
    ...['JAVA_TOOL_OPTIONS', 'CLASSPATH', 'MAVEN_ARGS', 'GRADLE_OPTS', 'GOFLAGS', 'GOPROXY', 'CGO_ENABLED'],
    ...['CARGO_BUILD_RUSTC', 'RUSTC_WRAPPER', 'RUSTUP_TOOLCHAIN', 'MAKEFLAGS', 'TERMINFO', 'LESSOPEN'],
    ...['ANSIBLE_STRATEGY', 'TF_CLI_ARGS', 'AWS_PROFILE', 'GH_TOKEN', 'GTK_MODULES', 'VIMINIT', 'HGRCPATH'],
    ...[
      'OPENAI_BASE_URL',
      'OPENAI_MODEL',
      'GEMINI_X',
      'LOCALDOMAIN',
      'HOSTALIASES',
      'RUSTC',
      'HUSKY',
      'GLOBIGNORE',
    ],
    ...['SSLKEYLOGFILE', 'DOTNET_STARTUP_HOOKS', 'SWIFT_EXEC', 'CLAUDE_PROJECT_DIR', 'npm_execpath', 'FPATH'],
    ...['OTEL_EXPORTER_OTLP_ENDPOINT', 'API_BASE_URL', 'MYAPP_PLUGINS', 'MYAPP_SERVER', 'MYAPP_COMMAND'],
  ],
};

describe('SEC-1: a variable of a trusted folder', () => {
  test.for(Object.entries(REFUSED))('is not set if its name says %s', ([, names]) => {
    expect(names.filter((name) => folderMaySet(name, 'x'))).toEqual([]);
  });

  test.for([
    ...['./evil', '/tmp/x', 'a/b', '~', '$HOME', 'C:\\x', '-r x', 'a --load=x', 'sh -c x', 'http://a', 'a@b'],
    ...['a;b', 'a|b', '`x`', 'a\nb', '..', '.x', '*', 'x=y'],
  ])('is not set if nobody knows its name and its value is more than words: %j', (value) => {
    expect(folderMaySet('MYAPP_MODE', value)).toBe(false);
  });

  test.for([...['1', '', 'true', 'dev', 'eu-west-1', '1.2.3', 'a,b', 'from-the-folder', 'two words', '0.5']])(
    'is set if its name says nothing of the kind and its value is a word: %j',
    (value) => {
      expect(
        ['MYAPP_MODE', 'FOO', 'ENVIRONMENT', 'TARGET', 'PORT', 'AUTHOR'].filter(
          (name) => !folderMaySet(name, value),
        ),
      ).toEqual([]);
    },
  );

  test('is set, whatever its value, if it only says how programs speak', () => {
    const settled = {
      ...{ NODE_ENV: 'test', DEBUG: 'app:*,-app:db', CI: 'true', TZ: 'Europe/Berlin', LANG: 'de_DE.UTF-8' },
      ...{ LC_ALL: 'C.UTF-8', RUST_LOG: 'info,app::db=debug', RUST_BACKTRACE: '1', PYTHONUNBUFFERED: '1' },
      ...{ LOG_LEVEL: 'debug', NO_COLOR: '1', FORCE_COLOR: '0', NEXT_TELEMETRY_DISABLED: '1' },
    };
    expect(Object.entries(settled).filter(([name, value]) => !folderMaySet(name, value))).toEqual([]);
  });
});

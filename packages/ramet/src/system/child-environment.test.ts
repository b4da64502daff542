import { describe, expect, test } from 'vitest';
import { childEnvironment } from './child-environment.ts';

describe('SEC-1: the environment of child programs', () => {
  test.for([
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_CUSTOM_HEADERS',
    'OPENAI_API_KEY',
    'GEMINI_API_KEY',
    'RAMET_SERVER_TOKEN',
    'RAMET_TOKEN',
    'RAMET_MEMORY_KEY_FILE',
  ])('never carries %s, not even when it is asked for', (name) => {
    expect(childEnvironment({ [name]: 'secret', RAMET_CHILD_ENV: name })).toEqual({});
  });

  test.for([
    'AWS_SECRET_ACCESS_KEY',
    'GITHUB_TOKEN',
    'DATABASE_URL',
    'NPM_TOKEN',
    'NODE_AUTH_TOKEN',
    'npm_config__authToken',
    'npm_config_//registry.example/:_authToken',
    'PIP_PASSWORD',
    'POETRY_HTTP_BASIC_X_PASSWORD',
    'DOCKER_AUTH_CONFIG',
    'CARGO_REGISTRY_TOKEN',
    'SOMETHING_ELSE',
  ])('leaves %s behind', (name) => {
    expect(childEnvironment({ [name]: 'x' })).toEqual({});
  });

  test('carries what shells, builds and git need, and leaves its source alone', () => {
    const env = {
      PATH: '/bin',
      HOME: '/home/user',
      LANG: 'C.UTF-8',
      LC_ALL: 'C',
      TMPDIR: '/tmp',
      SSH_AUTH_SOCK: '/run/agent',
      HTTPS_PROXY: 'http://proxy',
      no_proxy: 'localhost',
      NODE_OPTIONS: '--max-old-space-size=4096',
      npm_config_registry: 'https://registry.example',
      GIT_AUTHOR_NAME: 'Ann',
      GIT_CONFIG_GLOBAL: '/dev/null',
      PYTHONPATH: 'src',
      VIRTUAL_ENV: '/venv',
      JAVA_HOME: '/java',
      GOPATH: '/go',
      CARGO_HOME: '/cargo',
      XDG_CACHE_HOME: '/cache',
      RAMET_HOME: '/r',
      RAMET_MODEL_HAIKU: 'm',
    };
    const child = childEnvironment({ ...env, GONE: undefined });
    expect(child).toEqual(env);
    child.PATH = '/other';
    expect(env.PATH).toBe('/bin');
  });

  test('carries the names that RAMET_CHILD_ENV lists', () => {
    const env = { RAMET_CHILD_ENV: 'DATABASE_URL, NPM_TOKEN', DATABASE_URL: 'd', NPM_TOKEN: 't', OTHER: 'o' };
    expect(childEnvironment(env)).toEqual({ DATABASE_URL: 'd', NPM_TOKEN: 't' });
  });
});

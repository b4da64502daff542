/**
 * How an MCP server is described: the shape of one entry of `mcpServers`, in the words of the public convention. It is
 * checked here, and `${VAR}` in it is filled in. Nothing is started.
 */

import { resolve } from 'node:path';
import { isModelKey } from '../../system/child-environment.ts';
import { digestOf } from '../../system/digest.ts';
import type { RunCheck } from '../trust/run-check.ts';

/** As a person wrote it; a setting or an option that nobody has checked yet. */
export type WrittenServer = Readonly<Record<string, unknown>>;

export interface StdioServer {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Where it runs, as a whole path; the session's directory when absent. */
  readonly cwd?: string | undefined;
  /** Of a repository: it starts only with the files that were trusted. No part of its digest. */
  readonly check?: RunCheck | undefined;
}

export interface HttpServer {
  readonly type: 'http' | 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type McpServerConfig = (StdioServer | HttpServer) & ServerTimes;

/** In milliseconds; the session's own when absent. */
export interface ServerTimes {
  readonly startTimeout?: number | undefined;
  readonly timeout?: number | undefined;
}

/** With what must hold each time it starts. */
export function guardedServer(server: CheckedServer, check: RunCheck | undefined): CheckedServer {
  if (!server.ok || server.config.type !== 'stdio' || check === undefined) return server;
  return { ...server, config: { ...server.config, check } };
}

export type CheckedServer =
  | { readonly ok: true; readonly config: McpServerConfig; readonly notes: readonly string[] }
  | { readonly ok: false; readonly problem: string };

export interface ConfigGround {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The repository brought it: keys that pay for models are not filled in. */
  readonly isForeign: boolean;
  /** A relative `cwd` begins here, wherever this process or the session works. */
  readonly folder: string;
}

const KNOWN: ReadonlySet<string> = new Set(
  'type command args env cwd url headers timeout startTimeout disabled'.split(' '),
);
const TYPES: Readonly<Record<string, 'stdio' | 'http' | 'sse'>> = {
  stdio: 'stdio',
  http: 'http',
  'streamable-http': 'http',
  streamableHttp: 'http',
  sse: 'sse',
};

/** The problem follows the server's name: `has no command: ...`. */
export function checkServer(written: unknown, ground: ConfigGround): CheckedServer {
  if (!isObject(written)) return bad('is no object: write {"command": ...} or {"type": "http", "url": ...}');
  const type = typeOf(written);
  if (type === null)
    return bad(`has the type ${JSON.stringify(written.type)}: there are stdio, http and sse`);
  const filled = new Filling(ground);
  const times = timesOf(written);
  if (typeof times === 'string') return bad(times);
  const shape = type === 'stdio' ? stdioOf(written, filled, ground) : httpOf(written, type, filled);
  if (typeof shape === 'string') return bad(shape);
  if (filled.problem !== null) return bad(filled.problem);
  const idle: readonly string[] = type === 'stdio' ? ['url', 'headers'] : ['command', 'args', 'env', 'cwd'];
  const unknown = Object.keys(written).filter((key) => !KNOWN.has(key) || idle.includes(key));
  const notes = unknown.map((key) => `has the field ${key.slice(0, 60)}, which has no effect here`);
  return { ok: true, config: { ...shape, ...times }, notes };
}

/** Servers that are equal in this share one process. */
export function configDigest(config: McpServerConfig, cwd: string): string {
  return digestOf(JSON.stringify([sorted(config), config.type === 'stdio' ? (config.cwd ?? cwd) : null]));
}

/** For lists: what would be started or asked, without values that may be secret. */
export function describeConfig(config: McpServerConfig): string {
  if (config.type !== 'stdio') return withoutQuery(config.url);
  return [config.command, ...config.args].join(' ');
}

/** Also in the middle of a name: `PGPASSWORD`, `SecretKey`. Who wrote the configuration gave it to one server alone. */
const HIDDEN = /auth|cookie|key|token|secret|pass|pwd|credential|signature|private/i;

/** Texts of a configuration that must never be shown, under names that say so. */
export function secretsOf(config: McpServerConfig): Record<string, string> {
  const values = config.type === 'stdio' ? config.env : config.headers;
  const named = Object.entries(values).map(([name, value]) => {
    const bare = value.replace(/^(?:Bearer|Basic|token)\s+/i, '');
    return [hiddenName(name), bare] as const;
  });
  return { ...Object.fromEntries(named), ...(config.type !== 'stdio' && secretsOfUrl(config.url)) };
}

/** As names of secrets are known by their form. */
function hiddenName(name: string): string {
  return HIDDEN.test(name) && !/_(?:TOKEN|KEY|SECRET|PASSWORD)$/i.test(name) ? `${name}_TOKEN` : name;
}

function secretsOfUrl(url: string): Record<string, string> {
  const { password, searchParams } = new URL(url);
  return {
    ...Object.fromEntries([...searchParams].map(([name, value]) => [hiddenName(name.toUpperCase()), value])),
    ...(password !== '' && { URL_PASSWORD: decodeURIComponent(password) }),
  };
}

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function typeOf({ type, url }: WrittenServer): 'stdio' | 'http' | 'sse' | null {
  if (type === undefined) return url === undefined ? 'stdio' : 'http';
  return typeof type === 'string' && Object.hasOwn(TYPES, type) ? (TYPES[type] ?? null) : null;
}

function stdioOf(
  { command, args, env, cwd }: WrittenServer,
  filled: Filling,
  { folder }: ConfigGround,
): StdioServer | string {
  if (typeof command !== 'string' || command.trim() === '')
    return 'has no command: write {"command": "program", "args": [...]}, or a url for a server over HTTP';
  if (args !== undefined && !isTexts(args)) return 'has args that are no list of texts';
  const variables = textsOf(env);
  if (variables === null) return 'has an env that is no object of texts';
  if (cwd !== undefined && typeof cwd !== 'string') return 'has a cwd that is no text';
  if (cwd?.startsWith('~'))
    return `has a cwd that begins with ~, which stands for nothing here: write \${HOME} for your home directory`;
  return {
    type: 'stdio',
    command: filled.text(command),
    args: (args ?? []).map((one) => filled.text(one)),
    env: filled.values(variables),
    ...(cwd !== undefined && { cwd: resolve(folder, filled.text(cwd)) }),
  };
}

function httpOf({ url, headers }: WrittenServer, type: 'http' | 'sse', filled: Filling): HttpServer | string {
  if (typeof url !== 'string' || url === '')
    return 'has no url: write {"type": "http", "url": "https://..."}';
  const fields = textsOf(headers);
  if (fields === null) return 'has headers that are no object of texts';
  const address = filled.text(url);
  if (filled.problem === null && !/^https?:$/.test(URL.parse(address)?.protocol ?? ''))
    return 'has a url that is no http or https address';
  if (filled.problem === null && hasUser(address))
    return 'has a url with a user or a password, which cannot be sent: give a header Authorization instead';
  const filledHeaders = filled.values(fields);
  const wrong = Object.entries(filledHeaders).find(([name, value]) => !isHeader(name, value));
  if (wrong !== undefined)
    return `has a header that cannot be sent: ${JSON.stringify(wrong[0].slice(0, 60))}`;
  return { type, url: address, headers: filledHeaders };
}

function hasUser(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && `${url.username}${url.password}` !== '';
}

function isHeader(name: string, value: string): boolean {
  return /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && !/[\r\n\0]/.test(value);
}

function timesOf({ timeout, startTimeout }: WrittenServer): ServerTimes | string {
  for (const [name, value] of Object.entries({ timeout, startTimeout }))
    if (value !== undefined && !(typeof value === 'number' && Number.isFinite(value) && value > 0))
      return `has a ${name} that is no number of milliseconds above 0`;
  return {
    ...(typeof timeout === 'number' && { timeout }),
    ...(typeof startTimeout === 'number' && { startTimeout }),
  };
}

/** Fills in `${VAR}` and `${VAR:-default}`, and keeps the first thing that could not be filled in. */
class Filling {
  problem: string | null = null;
  readonly #ground: ConfigGround;

  constructor(ground: ConfigGround) {
    this.#ground = ground;
  }

  text(text: string): string {
    return text.replace(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_, name: string, otherwise?: string) => {
      const { env, isForeign } = this.#ground;
      if (isForeign && isModelKey(name)) {
        this.problem ??= `asks for ${name}, a key that pays for models: a repository does not get it`;
        return '';
      }
      const value = env[name] || otherwise;
      if (value === undefined) this.problem ??= `needs the variable ${name}, which is not set`;
      return value ?? '';
    });
  }

  values(values: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, this.text(value)]));
  }
}

/** Numbers and flags are texts in an environment. */
function textsOf(value: unknown): Record<string, string> | null {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) return null;
  const entries = Object.entries(value);
  if (entries.some(([, one]) => !['string', 'number', 'boolean'].includes(typeof one))) return null;
  return Object.fromEntries(entries.map(([key, one]) => [key, String(one)]));
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sorted(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

function bad(problem: string): CheckedServer {
  return { ok: false, problem };
}

/**
 * The servers of a place: those that a user, a repository, the command line and a program name. Of two with one name the
 * nearer counts. What a repository brings counts after the folder is trusted (SEC-1). Nothing is started here.
 */
import { dirname, join, resolve } from 'node:path';
import { describeError, systemCode, UserMistake } from '../../schema/errors.ts';
import { JsonMistake, parsePositionedJson } from '../../settings/positioned-json.ts';
import { POLICY_SERVERS } from '../../settings/setting-value.ts';
import { loadFile } from '../../system/regular-file.ts';
import type { RunCheck } from '../trust/run-check.ts';
import { type CheckedServer, checkServer, guardedServer, isObject } from './server-config.ts';
import { serverKeys } from './tool-names.ts';

/** From the farthest to the nearest. */
const SERVER_SCOPES = ['user', 'project', 'local', 'command line', 'library', 'managed'] as const;
export type ServerScope = (typeof SERVER_SCOPES)[number];

export interface WrittenServers {
  readonly scope: ServerScope;
  /** The file, for messages; what the caller calls it otherwise. */
  readonly source: string;
  /** A repository brings it: it counts only after trust. */
  readonly isForeign: boolean;
  /** Where a relative `cwd` of one begins. */
  readonly folder: string;
  readonly servers: Readonly<Record<string, unknown>>;
}

/** MCP servers of a plugin, by names that begin with the plugin's. */
export interface PluginServers {
  readonly source: string;
  readonly servers: Readonly<Record<string, unknown>>;
  /** Of a plugin of the repository, which is trusted: when one may start. */
  readonly check?: RunCheck | undefined;
}

export interface ConfiguredServer {
  readonly name: string;
  /** Its part of the names of its tools. */
  readonly key: string;
  readonly scope: ServerScope;
  readonly source: string;
  readonly checked: CheckedServer;
  /** Why it does not count, though nothing is wrong with it; null for one that does. */
  readonly unused: string | null;
  /** A repository brings it, and it is not trusted as it is. */
  readonly isWithheld: boolean;
}

export interface ServerPlace {
  /** From the working directory up to the repository's root. */
  readonly folders: readonly string[];
  readonly userHome: string | null;
  /** The repository's root, or the working directory: for what a user set up for every place. */
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the servers of this file of a repository are trusted, as they are. */
  readonly isTrusted: (source: string) => boolean;
  /** Why a server of such a file does not count, where it is more than that the folder is not trusted. */
  readonly whyWithheld?: (source: string, name: string) => string | null;
  /** Why settings leave out a server of this file; null for one that they do not. */
  readonly whyLeftOut?: (named: { name: string; source: string; server: unknown }) => string | null;
  /** Managed policy allows no others. */
  readonly onlyManaged?: boolean | undefined;
  /** For servers of such a file: what must hold each time they start. */
  readonly checkFor?: (source: string) => RunCheck | undefined;
}

export interface ServerReport {
  readonly servers: readonly ConfiguredServer[];
  /** Files that could not be read, one line each. */
  readonly problems: readonly string[];
}

export const PROJECT_FILE = '.mcp.json';
const USER_FILE = '.claude.json';
const LARGEST_BYTES = 1 << 20;
/** That file holds the history of a user's sessions as well. */
const LARGEST_STATE_BYTES = 16 << 20;
const UNTRUSTED_SERVER = 'this folder is not trusted: ramet trust';

/** `others` are of settings, the command line and the library. */
export async function configuredServers(
  place: ServerPlace,
  others: readonly WrittenServers[],
): Promise<ServerReport> {
  const problems: string[] = [];
  const read = async (path: string, largest?: number): Promise<Record<string, unknown> | null> => {
    const found = await readObject(path, largest);
    if (typeof found !== 'string') return found;
    problems.push(`${path} ${found}: its MCP servers are not used`);
    return null;
  };
  const { folders, userHome, root } = place;
  const [state, ...files] = await Promise.all([
    userHome === null ? null : read(join(userHome, USER_FILE), LARGEST_STATE_BYTES),
    ...folders.map((folder) => read(join(folder, PROJECT_FILE))),
  ]);
  const ofUser =
    userHome === null || state === null
      ? []
      : userServers(state, { source: join(userHome, USER_FILE), folders, root });
  const ofProject = folders.flatMap((folder, index) => {
    const servers = serversIn(files[index]);
    const source = join(folder, PROJECT_FILE);
    return servers === null ? [] : [{ scope: 'project' as const, source, isForeign: true, folder, servers }];
  });
  // The nearest folder last, and within a scope what Ramet's own settings say after what others do.
  const written = [...ofUser, ...ofProject.reverse(), ...others].sort(
    (one, other) => SERVER_SCOPES.indexOf(one.scope) - SERVER_SCOPES.indexOf(other.scope),
  );
  return { servers: resolved(written, place), problems };
}

/** A file of servers that the caller names, or the JSON itself. */
export async function givenServers(text: string, cwd: string): Promise<WrittenServers> {
  const isJson = text.trimStart().startsWith('{');
  const found = isJson ? readText(text) : await readObject(resolve(cwd, text));
  const shown = isJson ? 'the JSON' : text;
  const servers = typeof found === 'string' || found === null ? null : serversIn(found);
  if (servers === null) {
    const why = typeof found === 'string' ? found : found === null ? 'does not exist' : 'holds no mcpServers';
    throw new UserMistake(
      'mcp_config',
      `MCP configuration: ${shown} ${why}: give a file like .mcp.json, or its JSON`,
    );
  }
  const folder = isJson ? cwd : dirname(resolve(cwd, text));
  return { scope: 'command line', source: '--mcp-config', isForeign: false, folder, servers };
}

function userServers(
  { mcpServers, projects }: Record<string, unknown>,
  { source, folders, root }: Pick<ServerPlace, 'folders' | 'root'> & { source: string },
): WrittenServers[] {
  const own = isObject(mcpServers)
    ? [{ scope: 'user' as const, source, isForeign: false, folder: root, servers: mcpServers }]
    : [];
  const local = [...folders].reverse().flatMap((folder) => {
    const project = isObject(projects) ? projects[folder] : null;
    const servers = isObject(project) && isObject(project.mcpServers) ? project.mcpServers : null;
    return servers === null ? [] : [{ scope: 'local' as const, source, isForeign: false, folder, servers }];
  });
  return [...own, ...local];
}

/** Some write the servers without a key around them. */
function serversIn(file: Record<string, unknown> | null | undefined): Record<string, unknown> | null {
  if (file == null) return null;
  if ('mcpServers' in file) return isObject(file.mcpServers) ? file.mcpServers : {};
  const isList = Object.values(file).every((one) => isObject(one) && ('command' in one || 'url' in one));
  return isList ? file : null;
}

function resolved(written: readonly WrittenServers[], place: ServerPlace): ConfiguredServer[] {
  const { env, isTrusted, onlyManaged = false } = place;
  const isForbidden = ({ scope }: WrittenServers): boolean => onlyManaged && scope !== 'managed';
  const nearest = new Map<string, WrittenServers>();
  const isWithheld = (one: WrittenServers): boolean =>
    one.isForeign && !isForbidden(one) && !isTrusted(one.source);
  // A repository that is not trusted takes no server of the user's away.
  for (const one of [...written.filter(isWithheld), ...written.filter((each) => !isWithheld(each))])
    for (const name of Object.keys(one.servers)) nearest.set(name, one);
  const keys = serverKeys([...nearest.keys()]);
  const servers = written.flatMap((one) =>
    Object.entries(one.servers).map(([name, server]): ConfiguredServer => {
      const { scope, source, isForeign, folder } = one;
      const winner = nearest.get(name) ?? one;
      const whyNot = isWithheld(one) ? (place.whyWithheld?.(source, name) ?? UNTRUSTED_SERVER) : null;
      const why =
        scope === 'managed' ? null : (whyNot ?? place.whyLeftOut?.({ name, source, server }) ?? null);
      const isBeaten = winner !== one && !isForbidden(one);
      const unused = isBeaten
        ? `set in ${winner.source}`
        : whyUnused(server, isForbidden(one) ? POLICY_SERVERS : why);
      const check = isForeign && unused === null ? place.checkFor?.(source) : undefined;
      const checked = guardedServer(checkServer(server, { env, isForeign, folder }), check);
      return {
        name,
        key: keys.get(name) ?? name,
        scope,
        source,
        checked,
        unused,
        isWithheld: isWithheld(one),
      };
    }),
  );
  return servers.sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
}

function whyUnused(server: unknown, whyWithheld: string | null): string | null {
  return isObject(server) && server.disabled === true ? 'it is disabled' : whyWithheld;
}

/** Null when there is no such file; a text says what is wrong with it. */
async function readObject(
  path: string,
  largest = LARGEST_BYTES,
): Promise<Record<string, unknown> | string | null> {
  try {
    const { bytes } = await loadFile(path);
    if (bytes.length > largest) return `has ${bytes.length} bytes, too many`;
    return readText(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    return error instanceof TypeError
      ? 'is not UTF-8 text'
      : `cannot be read (${code ?? describeError(error)})`;
  }
}

function readText(text: string): Record<string, unknown> | string {
  try {
    const { value } = parsePositionedJson(text);
    return isObject(value) ? value : 'holds no JSON object';
  } catch (error) {
    if (!(error instanceof JsonMistake)) throw error;
    return `is wrong in line ${error.line}: ${error.message}`;
  }
}

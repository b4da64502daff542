/**
 * Puts a server into a file of servers or settings, or takes it out. Everything else in the file stays as it is: a file
 * with comments keeps them.
 */
import { isDeepStrictEqual } from 'node:util';
import { UserMistake } from '../../schema/errors.ts';
import { changeInFile, insertInto, type RuleFile } from '../../settings/allow-in-file.ts';
import { JsonMistake, parsePositionedJson } from '../../settings/positioned-json.ts';
import { isObject, type WrittenServer } from './server-config.ts';

const KEY = 'mcpServers';

/** Throws a UserMistake when the file cannot be changed, or has another server of that name that is not to be replaced. */
export async function putServer(
  file: RuleFile,
  name: string,
  server: WrittenServer,
  replaces: boolean,
): Promise<void> {
  await changeInFile(file, (text) => {
    const before = text.trim() === '' ? {} : read(text).servers;
    if (!replaces && Object.hasOwn(before, name) && !isDeepStrictEqual(before[name], server))
      throw new UserMistake('mcp_name', `${file.path} has a server ${name} already: --force replaces it`);
    return withServer(text, name, server);
  });
}

export async function holdsServer(file: RuleFile, name: string): Promise<boolean> {
  let holds = false;
  await changeInFile(file, (text) => {
    holds = text.trim() !== '' && Object.hasOwn(read(text).servers, name);
    return text;
  });
  return holds;
}

/** False when the file has no such server. */
export async function takeServer(file: RuleFile, name: string): Promise<boolean> {
  let found = false;
  await changeInFile(file, (text) => {
    if (text.trim() === '') return text;
    const { value, servers } = read(text);
    found = Object.hasOwn(servers, name);
    if (!found) return text;
    const { [name]: _, ...rest } = servers;
    return written(text, { ...value, [KEY]: rest });
  });
  return found;
}

function withServer(text: string, name: string, server: WrittenServer): string {
  if (text.trim() === '') return `${JSON.stringify({ [KEY]: { [name]: server } }, null, 2)}\n`;
  const { value, servers, offsetOf } = read(text);
  const wanted = { ...value, [KEY]: { ...servers, [name]: server } };
  if (isPlain(text) || Object.hasOwn(servers, name)) return written(text, wanted);
  const member = `${JSON.stringify(name)}: ${JSON.stringify(server)}`;
  const next =
    KEY in value
      ? insertInto(text, offsetOf([KEY]), member, Object.keys(servers).length === 0)
      : insertInto(text, offsetOf([]), `"${KEY}": { ${member} }`, Object.keys(value).length === 0);
  if (!isDeepStrictEqual(parsePositionedJson(next).value, wanted))
    throw mistake('it cannot be changed safely');
  return next;
}

function read(text: string): {
  value: Record<string, unknown>;
  servers: Record<string, unknown>;
  offsetOf: ReturnType<typeof parsePositionedJson>['offsetOf'];
} {
  const { value, offsetOf } = parsePositionedJson(text);
  if (!isObject(value)) throw mistake('it holds no JSON object');
  const servers = value[KEY] ?? {};
  if (!isObject(servers)) throw mistake(`${KEY} is no object`);
  return { value, servers, offsetOf };
}

/** The whole again, indented as it was. */
function written(text: string, value: object): string {
  if (!isPlain(text))
    throw mistake('it has comments or trailing commas, which would be lost: change it by hand');
  const [, indent = '  '] = /^\{\r?\n([ \t]+)/.exec(text) ?? [];
  return `${JSON.stringify(value, null, indent)}\n`;
}

function isPlain(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function mistake(message: string): JsonMistake {
  return new JsonMistake(1, message);
}

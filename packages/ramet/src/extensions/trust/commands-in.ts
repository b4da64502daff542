/** The commands that a part of a repository holds. */

export interface PartCommand {
  /** A script, or the words of one command, with `NAME=value` for its environment. */
  readonly texts: readonly string[];
  /** It is no command: words of a text that may hold some. */
  readonly isRough: boolean;
  /** What it prints decides about calls. */
  readonly answers?: true;
}

/** Hooks of these events answer whether a call may run. */
const DECIDES: RegExp = /^(?:PreToolUse|PermissionRequest)$/;

export function decidesCalls(event: string): boolean {
  return DECIDES.test(event);
}

/** Which of them runs, and when, is for its reader to know. */
export function commandsOf({
  kind,
  value,
  declared = null,
}: {
  readonly kind: string;
  readonly value: unknown;
  /** As `FolderPart` has it. */
  readonly declared?: Readonly<Record<string, unknown>> | null | undefined;
}): PartCommand[] {
  if (kind === 'rights' || kind === 'limits') return [];
  if (kind === 'skill' || kind === 'command') return shellParts(String(value)).map(script);
  if (kind === 'agent' || kind === 'plugin')
    return declared === null ? roughWords(String(value)) : ofFields(declared);
  if (typeof value === 'string') return [script(value)];
  return commandsIn(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function script(text: string): PartCommand {
  return { texts: [text], isRough: false };
}

function commandsIn(value: unknown, answers = false): PartCommand[] {
  const within = (inner: unknown, key = ''): PartCommand[] => commandsIn(inner, answers || decidesCalls(key));
  if (Array.isArray(value)) return value.flatMap((one) => within(one));
  if (!isObject(value)) return [];
  const { command, args, env, cwd, ...rest } = value;
  if (typeof command !== 'string') return Object.entries(value).flatMap(([key, inner]) => within(inner, key));
  const words = Array.isArray(args) ? args.filter((one) => typeof one === 'string') : [];
  const variables = isObject(env) ? Object.entries(env).map(([name, one]) => `${name}=${one}`) : [];
  const place = typeof cwd === 'string' ? [cwd] : [];
  const texts = [command, ...words, ...variables, ...place];
  return [
    // A single text may be a script, whose shell knows defaults itself.
    {
      texts: texts.length === 1 ? texts : texts.map(withDefaults),
      isRough: false,
      ...(answers && { answers }),
    },
    ...Object.values(rest).flatMap((one) => within(one)),
  ];
}

/** As a server gets them where no variable is set. */
function withDefaults(text: string): string {
  return text.replace(/\$\{[A-Za-z_]\w*:-([^}]*)\}/g, (_, otherwise: string) => otherwise);
}

/** Only these fields say what runs; most definitions have neither. */
function ofFields({ hooks, mcpServers }: Readonly<Record<string, unknown>>): PartCommand[] {
  return commandsIn([hooks, mcpServers]);
}

/** Of a file that cannot be read nothing runs. The files that it seems to name are covered anyway. */
function roughWords(text: string): PartCommand[] {
  const fields = /^(?:hooks|mcpServers):[\s\S]*/m.exec(text)?.[0];
  return fields === undefined ? [] : [{ texts: fields.split(/[\s,[\]{}"']+/), isRough: true }];
}

/** What a skill or a command has run before the model reads it. */
function shellParts(text: string): string[] {
  return Array.from(text.matchAll(/!`([^`\n]+)`/g), ([, command = '']) => command);
}

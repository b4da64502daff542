/** What a child of a type will see, as people read it. */
import type { ChildView } from '../../sdk/agent-types/child-view.ts';
import { printable, table, tokens as tokenCount } from '../../views/text/format.ts';

/** The same for every type; a fork has all of it. */
const NOT_INHERITED =
  "the conversation of its parent, its parent's system prompt, files its parent has read, its list of work, its background shells";

export function childViewText(view: ChildView): string {
  const { definition, model, mode, tools, instructions, tokens } = view;
  const asked = definition.model === model ? '' : ` (asked for: ${definition.model})`;
  const rows = [
    ['type', definition.name],
    ['from', definition.path ?? 'built-in'],
    ['model', `${model}${asked}`],
    ...(definition.effort === undefined ? [] : [['effort', definition.effort]]),
    ['mode', `${mode} (asked for: ${definition.permissionMode}; never wider than its parent's)`],
    ['tools', `${tools.join(', ') || noTools(definition.tools)}; ${about(tokens.tools)}`],
    ['system prompt', `${Buffer.byteLength(view.system)} bytes, ${about(tokens.system)}`],
    ['project instructions', instructionsText(definition.instructions, instructions, tokens.instructions)],
    ['git status', definition.git ? 'yes' : 'no'],
    ['environment', `yes, with the origin of its task; ${about(tokens.environment)}`],
    ...(view.leftOut.length === 0 ? [] : [['left out', view.leftOut.join('; ')]]),
    ['not inherited', NOT_INHERITED],
    ['in all', `${about(tokens.total)} before its task`],
  ].map((row) => row.map(printable));
  return `${table(rows)}\n--- system prompt ---\n${printable(view.system)}\n\n--- environment ---\n${printable(view.environment)}\n`;
}

/** A type that wants no tools can be started; one that has none of those it wants cannot. */
function noTools(wanted: ChildView['definition']['tools']): string {
  return wanted.length === 0 ? 'none, as its file says' : 'none of those it asks for: it cannot be started';
}

function instructionsText(wanted: boolean, text: string | null, size: number): string {
  if (!wanted) return 'no (omitClaudeMd)';
  return text === null ? 'yes, but there are none here' : `yes, ${about(size)}`;
}

function about(count: number): string {
  return `about ${tokenCount(count)} tokens`;
}

export function childViewObject(view: ChildView): Record<string, unknown> {
  const { definition, model, mode, tools, system, instructions, environment, tokens } = view;
  return {
    name: definition.name,
    path: definition.path ?? null,
    model,
    effort: definition.effort ?? null,
    permission_mode: mode,
    tools,
    system,
    system_bytes: Buffer.byteLength(system),
    project_instructions: definition.instructions,
    instructions,
    git_status: definition.git,
    environment,
    left_out: view.leftOut,
    not_inherited: NOT_INHERITED.split(', '),
    estimated_tokens: tokens,
  };
}

/**
 * Control requests between the prompts of `--input-format stream-json`, in the words of the public convention: each is
 * answered with a `control_response` of its id, also one that cannot be done.
 */
import { describeError, UserMistake } from '../schema/errors.ts';
import type { SessionMode } from '../schema/status.ts';
import type { Session } from '../sdk/session/session.ts';

export interface ControlRequest {
  readonly id: string;
  readonly subtype: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface ControlledStream {
  readonly session: Session;
  /** Ends the run of the present prompt; false when none runs. */
  interrupt(): boolean;
  out(line: string): void;
}

type Handle = (stream: ControlledStream, fields: ControlRequest['fields'], begun: string) => object;

const HANDLES: Readonly<Record<string, Handle>> = {
  initialize({ session: { id, model, tools, agent } }, fields) {
    const [refused] = Object.entries(GIVEN_ELSEWHERE).filter(([name]) => !isEmpty(fields[name]));
    if (refused !== undefined)
      throw new UserMistake('control', `${refused[0]} is not taken here: ${refused[1]}`);
    return { session_id: id, model, tools, permission_mode: agent.permissionMode, control_requests: KNOWN };
  },
  interrupt: (stream) => ({ interrupted: stream.interrupt() }),
  set_permission_mode({ session }, { mode }) {
    session.setPermissionMode(textOf('set_permission_mode', 'mode', mode) as SessionMode); // what is none the session refuses
    return { mode: session.agent.permissionMode };
  },
  set_model({ session }, { model }, begun) {
    session.setModel(textOf('set_model', 'model', model ?? begun));
    return { model: session.model };
  },
  mcp_status: ({ session: { mcpServers } }) => ({
    mcpServers: mcpServers.map(({ name, status }) => ({ name, status })),
  }),
  get_context_usage({ session }) {
    const { tokens, window, compactsAt, parts } = session.context();
    const limit = (most: number): number | null => (Number.isFinite(most) ? most : null);
    const categories = parts().map(({ name, tokens: share }) => ({ name, tokens: share }));
    return { totalTokens: tokens, maxTokens: limit(window), compactsAt: limit(compactsAt), categories };
  },
  stop_task({ session: { agents } }, fields) {
    const task = textOf('stop_task', 'task_id', fields.task_id);
    const found = agents.find(({ id, name }) => id === task || name === task);
    if (found === undefined)
      throw new UserMistake('control', `stop_task: no agent ${JSON.stringify(task.slice(0, 60))} is at work`);
    found.cancel();
    return { stopped: found.id };
  },
};
const KNOWN: readonly string[] = Object.keys(HANDLES);

/** What programs of that convention may send with `initialize`, and how it is given to Ramet. */
const GIVEN_ELSEWHERE: Readonly<Record<string, string>> = {
  systemPrompt: 'give --system-prompt',
  appendSystemPrompt: 'give --append-system-prompt',
  agents: 'give --agents',
  hooks: 'set them in settings, or use the library',
  sdkMcpServers: 'use the library, or give --mcp-config',
  jsonSchema: 'give --json-schema',
};

function textOf(request: string, field: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  const what = value === undefined ? 'missing' : JSON.stringify(value).slice(0, 100);
  throw new UserMistake('control', `${request}: ${field} is ${what}; give a text that is not empty`);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.values(value).every((one) => one === '');
}

/** Of a request that waits its turn: a model is changed between two prompts, never within a run. */
export function isForLater({ subtype }: ControlRequest): boolean {
  return subtype === 'set_model';
}

export function answerControl(
  stream: ControlledStream,
  { id, subtype, fields }: ControlRequest,
  begun: string,
): void {
  const answer = (response: object): void =>
    stream.out(
      `${JSON.stringify({ type: 'control_response', response: { ...response, request_id: id } })}\n`,
    );
  const handle = Object.hasOwn(HANDLES, subtype) ? HANDLES[subtype] : undefined;
  try {
    if (handle === undefined)
      throw new UserMistake(
        'control',
        `there is no control request ${JSON.stringify(subtype.slice(0, 60))}; there are ${KNOWN.join(', ')}`,
      );
    answer({ subtype: 'success', response: handle(stream, fields, begun) });
  } catch (error) {
    if (!(error instanceof UserMistake)) throw error;
    answer({ subtype: 'error', error: describeError(error) });
  }
}

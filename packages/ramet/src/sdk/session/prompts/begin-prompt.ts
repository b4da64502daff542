/**
 * What comes before a prompt goes to the main agent: a skill or a command takes its place, and may name a model; between
 * two prompts a person may choose another model or mode.
 */
import { hosted, switchModel } from '../../../engine/opening.ts';
import type { Agent } from '../../../engine/shapes.ts';
import { nameSession } from '../../../journal/rename-session.ts';
import { resolveModel } from '../../../model/catalog.ts';
import type { ImageBlock, TextBlock } from '../../../schema/content.ts';
import { describeError } from '../../../schema/errors.ts';
import type { SessionMode } from '../../../schema/status.ts';
import { checkArgument, NAME } from '../../calls/argument-kinds.ts';
import {
  type ResolvedOptions,
  refuseUnenforceableBudget,
  requireSessionMode,
  resolveOptions,
} from '../../options.ts';
import { noBypass, widestMode } from '../../policy.ts';
import type { LiveParts } from '../live-parts.ts';
import type { PromptOptions } from '../session-type.ts';
import type { GivenPrompt } from './prompt-input.ts';

/** `@server:uri`. Which servers there are is looked up then. */
const MAY_NAME_RESOURCE = /(?:^|[\s(])@[\w.-]+:[a-z][a-z\d+.-]*:/i;

const LONGEST_TITLE = 200;

export interface BegunPrompt extends Disposable {
  readonly prompt: string | null;
  readonly attachments: readonly (TextBlock | ImageBlock)[];
  readonly denied: readonly string[];
}

export async function beginPrompt(
  parts: LiveParts,
  prompt: string | null,
  { commands, typed, attachments = [], answer }: PromptOptions & Pick<GivenPrompt, 'answer'>,
  signal: AbortSignal,
): Promise<BegunPrompt> {
  const { agent, settings } = parts;
  if (prompt !== null)
    titleAfter(parts, answer === undefined ? prompt : prompt.replace(answer.directive, ''));
  using undo = new DisposableStack();
  // What a skill or a command allows ends with the prompt.
  undo.defer(() => hosted(agent).runtime.permissions.revoke(agent.spec.id));
  const mayBeCommand = commands === true && prompt !== null && /^\s*\//.test(prompt);
  const command =
    mayBeCommand && (typed === true || parts.prompts.store !== null || /^\s*\/mcp__/.test(prompt))
      ? await (await import('../../extensions/typed-command.ts')).typedCommand(parts, prompt, {
          typed,
          signal,
        })
      : null;
  const named =
    typed === true && command === null && prompt !== null && MAY_NAME_RESOURCE.test(prompt)
      ? await (await import('./user-share.ts')).namedResources(agent, prompt, signal)
      : [];
  if (command !== null && command.model !== null) undo.defer(switchedModel(agent, command.model, settings));
  const ending = undo.move();
  return {
    prompt: withInitialPrompt(parts, command?.prompt ?? prompt),
    attachments: [...attachments, ...named, ...(command?.attachments ?? [])],
    denied: command?.denied ?? [],
    [Symbol.dispose]: () => ending[Symbol.dispose](),
  };
}

/** What the type of the main agent says first, with the first prompt. */
function withInitialPrompt({ agent, settings }: LiveParts, prompt: string | null): string | null {
  const initial = settings.mainType?.definition.initialPrompt;
  const isFirst = agent.conversation.messages.length === 0;
  return prompt === null || initial === undefined || !isFirst ? prompt : `${initial}\n\n${prompt}`;
}

/** A session that was opened without a title is called by its first prompt. It is never worth a failed run. */
function titleAfter({ agent, settings, place, runtime }: LiveParts, prompt: string): void {
  if (settings.title !== null || agent.conversation.messages.length > 0) return;
  const title = titleOf(prompt, runtime.redact);
  if (title === null) return;
  try {
    nameSession(place.project, runtime.journal.session, title);
  } catch (error) {
    agent.warn('no_title', `the session has no title: ${describeError(error)}`);
  }
}

/** One line without secrets; null for nothing. */
export function titleOf(text: string, redact: (text: string) => string): string | null {
  return redact(text).trim().replace(/\s+/g, ' ').slice(0, LONGEST_TITLE).toWellFormed() || null;
}

/** Until what it returns is called. */
function switchedModel(agent: Agent, name: string, settings: ResolvedOptions): () => void {
  const before = agent.conversation.head.model;
  const model = resolveModel(name, settings.env, settings.providerName, settings.settings.models);
  refuseUnenforceableBudget(model, settings);
  if (model !== before) switchModel(agent, 'model', model);
  return () => {
    if (agent.conversation.head.model === model && model !== before) switchModel(agent, 'model', before);
  };
}

/** Each change is recorded, so that a resumed session has it. */
export function changeModel(agent: Agent, name: string, settings: ResolvedOptions): void {
  checkArgument('session.setModel', 'the model', name, NAME);
  const { model } = resolveOptions({ env: settings.env, model: name }, settings);
  if (model === null || model === agent.conversation.head.model) return;
  refuseUnenforceableBudget(model, settings);
  switchModel(agent, 'model', model);
}

export function changePermissionMode(agent: Agent, mode: SessionMode, settings: ResolvedOptions): void {
  if (mode === 'bypassPermissions' && widestMode(settings) !== null) throw noBypass();
  agent.record({ type: 'permission.changed', mode: requireSessionMode(mode) });
  hosted(agent).runtime.permissions.changed();
}

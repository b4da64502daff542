/**
 * The conversation of an agent as a file, for hooks that read it: a JSON object on each line, `type` and `message` as
 * scripts of other tools expect them. Written only for sessions with hooks, beside the outputs of its calls, so it goes
 * when the session goes. Each look adds what is new.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Conversation } from '../../conversation/conversation.ts';
import { contentOf } from '../../conversation/frozen-block.ts';
import { makePrivateDirectory, PRIVATE_FILE } from '../../system/home.ts';
import type { Agent } from '../agent/agent.ts';

interface Written {
  readonly path: string;
  /** Another object after a compaction: then the file begins again. */
  conversation: Conversation;
  messages: number;
}

const files = new WeakMap<Agent, Written>();

/** Its path; empty where it cannot be written: a hook can do without. */
export function hookTranscript(agent: Agent): string {
  try {
    return write(agent);
  } catch {
    return '';
  }
}

function write(agent: Agent): string {
  const { conversation, runtime, spec } = agent;
  const known = files.get(agent);
  const path = known?.path ?? join(runtime.outputDirectory, `transcript-${spec.id}.jsonl`);
  const isSame = known?.conversation === conversation && known.messages <= conversation.messages.length;
  const from = isSame ? known.messages : 0;
  const lines = conversation.messages.slice(from).map(({ role, blocks }) => {
    const message = { role, content: blocks.map(contentOf) };
    return `${JSON.stringify({ type: role, sessionId: runtime.journal.session, agentId: spec.id, message })}\n`;
  });
  if (isSame && lines.length === 0) return path;
  if (isSame) appendFileSync(path, lines.join(''));
  else {
    makePrivateDirectory(runtime.outputDirectory);
    writeFileSync(path, lines.join(''), { mode: PRIVATE_FILE });
  }
  files.set(agent, { path, conversation, messages: conversation.messages.length });
  return path;
}

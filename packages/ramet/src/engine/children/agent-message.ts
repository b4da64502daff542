/** What another agent, or a person, says to a running one. The engine names the sender: the text grants nothing. */

import { quoteAttribute, quoteText } from '../../conversation/quoted-text.ts';
import { AGENT_MESSAGE } from '../../schema/content.ts';
import { headOf } from '../../system/text/cut-text.ts';

export interface MessageSender {
  kind: 'message' | 'user';
  /** The agent's id; null for a person. */
  from: string | null;
  name: string | null;
}

const LONGEST_NAME = 100;

export function agentMessageText(sender: MessageSender, text: string): string {
  return `<${AGENT_MESSAGE} from="${quoteAttribute(nameOf(sender))}">\n${quoteText(text.toWellFormed())}\n</${AGENT_MESSAGE}>`;
}

/** An agent cannot be taken for the user: it always has its id beside it. */
function nameOf({ kind, from, name }: MessageSender): string {
  if (kind === 'user' || from === null) return 'the user';
  return name === null ? from : `${headOf(name.toWellFormed(), LONGEST_NAME)} (${from})`;
}

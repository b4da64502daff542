/**
 * Names of things. A session id is eight characters a person can type; an agent id is its session's id and a
 * number, so it is unique in a repository, sorts by birth, and is a valid file name and git ref.
 */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

export type SessionId = string;
export type AgentId = string;

/**
 * A name, not a secret: the session's file is created exclusively, so a name in use is noticed.
 * Hence no `crypto`, whose first use costs 4 ms on the way to the first request.
 */
export function newSessionId(): SessionId {
  return Array.from({ length: 8 }, () => ALPHABET[Math.floor(Math.random() * 32)]).join('');
}

export function agentId(session: SessionId, number: number): AgentId {
  return `${session}.${number}`;
}

export function isSessionId(text: string): boolean {
  return /^[0-9a-hjkmnp-tv-z]{8}$/.test(text);
}

/** The type of a main agent that is of no type. */
export const MAIN_TYPE = 'main';

/** Names the bytes of one content block, tool schema or file in the block store. */
export type Digest = string;

/**
 * Names of things. A session id is eight characters a person can type; an agent id is its session's id and a
 * number, so it is unique in a repository, sorts by birth, and is a valid file name and git ref.
 */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

export type SessionId = string;
export type AgentId = string;

export function newSessionId(): SessionId {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => ALPHABET[byte & 31]).join('');
}

export function agentId(session: SessionId, number: number): AgentId {
  return `${session}.${number}`;
}

export function isSessionId(text: string): boolean {
  return /^[0-9a-hjkmnp-tv-z]{8}$/.test(text);
}

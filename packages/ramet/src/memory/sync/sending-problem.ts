/** Why a note is not sent; null if it can be. The server refuses the same. */
import { secretInKey, secretsIn, secretsText } from '../secrets/secret-guard.ts';
import { newKeyProblem } from '../wire/memory-key.ts';

export function newNameProblem(key: string): string | null {
  const problem = newKeyProblem(key);
  if (problem !== null) return `its name cannot be a key: ${problem}`;
  const rule = secretInKey(key);
  return rule === null ? null : `its name has a secret (${rule}), and it was not sent: rename it`;
}

export function secretProblem(bytes: Uint8Array): string | null {
  const findings = secretsIn(Buffer.from(bytes).toString('utf8'));
  return findings.length === 0 ? null : `it has a secret, and was not sent: ${secretsText(findings)}`;
}

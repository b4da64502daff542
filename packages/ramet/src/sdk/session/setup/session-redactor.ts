/**
 * What a session takes out of everything that agents see: secrets of its environment, and what logins at MCP servers gave.
 * Other processes log in and renew while it runs, so it looks at the folder of the logins each time. A token that was
 * renewed stays a secret: a server may take it for a while.
 */
import { loginSecrets, loginState } from '../../../system/stored-logins.ts';
import { createRedactor, type Redactor } from '../../../tools/redaction/redact.ts';

type Secrets = Readonly<Record<string, string | undefined>>;

/** What it gives stays the same object until something changes. */
export function sessionSecrets(env: Secrets, home: string): () => Secrets {
  let state: number | null = null;
  let secrets = env;
  return () => {
    const now = loginState(home);
    if (now === null || now === state) return secrets;
    const known = new Set(Object.values(secrets));
    const fresh = Object.entries(loginSecrets(home)).filter(([, value]) => !known.has(value));
    state = now;
    if (fresh.length > 0)
      secrets = {
        ...secrets,
        ...Object.fromEntries(fresh.map(([name, value]) => [freeName(name, secrets), value])),
      };
    return secrets;
  };
}

function freeName(name: string, taken: Secrets): string {
  return name in taken ? freeName(`${name}_`, taken) : name;
}

export function sessionRedactor(current: () => Secrets): Redactor {
  let secrets = current();
  let redact = createRedactor(secrets);
  return (text) => {
    const now = current();
    if (now !== secrets) {
      secrets = now;
      redact = createRedactor(now);
    }
    return redact(text);
  };
}

/** The environment of programs that agents start: the user's own, without the keys that pay for models (SEC-1). */
const MODEL_KEYS: ReadonlySet<string> = new Set([
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_CUSTOM_HEADERS',
  'OPENAI_API_KEY',
]);

const RAMET_SECRET = /^RAMET_(?:.*_)?(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)(?:_|$)/;

export function childEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || MODEL_KEYS.has(name) || RAMET_SECRET.test(name)) continue;
    kept[name] = value;
  }
  return kept;
}

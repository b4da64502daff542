/**
 * Secrets with a form of their own that neither `schema/secret-patterns.ts` nor secretlint's recommended rules know. A hit
 * here costs a person a question, a miss publishes a secret; so it lists more than what is taken out of the text that
 * agents read. Every expression has a fixed beginning and a bounded length.
 */

/** A secret in a text, for those who look for one: the rule that saw it and where it begins. Never the secret. */
export interface SecretPlace {
  rule: string;
  /** Index in the text. */
  at: number;
}

/** Each begins with letters of its own. */
const KNOWN: readonly (readonly [rule: string, expression: string])[] = [
  ['AWS key', 'A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![A-Za-z0-9])'],
  ['age key', 'AGE-SECRET-KEY-1[A-Z0-9]{58}'],
  ['Airtable token', 'pat[A-Za-z0-9]{14}\\.[a-f0-9]{64}'],
  ['Atlassian token', 'ATATT3[A-Za-z0-9_=-]{60,250}'],
  ['Azure key', '(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,90}={0,2}'],
  ['Azure signature', '(?<=[?&])sig=[A-Za-z0-9%+/_-]{40,90}'],
  ['Buildkite token', 'bkua_[a-f0-9]{40}'],
  ['CircleCI token', 'CCIPAT_[A-Za-z0-9]{20,30}_[a-f0-9]{40}'],
  ['DigitalOcean token', 'do[opr]_v1_[a-f0-9]{64}'],
  ['Discord webhook', 'discord(?:app)?\\.com/api/webhooks/\\d{17,20}/[A-Za-z0-9_-]{60,80}'],
  ['Django key', 'django-insecure-[^\\s"\'`]{30,60}'],
  ['Doppler token', 'dp\\.(?:pt|st|ct|sa|scim|audit)\\.[A-Za-z0-9._-]{40,60}'],
  ['Dropbox token', 'sl\\.[A-Za-z0-9_-]{130,160}'],
  ['Dynatrace token', 'dt0[a-z]\\d{2}\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}'],
  ['EasyPost key', 'EZ[AT]K[a-f0-9A-Z]{50,60}'],
  ['Fastly or Fly token', 'FlyV1 fm\\d_[A-Za-z0-9+/=,_-]{60,}|fo1_[A-Za-z0-9_-]{43}'],
  ['GitLab token', 'gl(?:ptt|rt|dt|cbt|soat|ft|imt|agent|oas)-[A-Za-z0-9_.-]{20,60}'],
  ['GitLab token', 'GR1348941[A-Za-z0-9_-]{20}'],
  ['Heroku key', 'HRKU-[A-Za-z0-9_-]{36,70}'],
  ['Hugging Face token', '(?:hf|api_org)_[A-Za-z0-9]{34}'],
  ['Mailgun key', 'key-[a-f0-9]{32}(?![A-Za-z0-9])'],
  ['New Relic key', 'NR(?:AK|IQ|RA|JS|II)-[A-Za-z0-9_-]{19,42}'],
  ['Notion token', '(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,50})'],
  ['npm token', '_auth(?:Token)?\\s{0,2}=\\s{0,2}[A-Za-z0-9+/=_-]{20,200}'],
  ['OpenRouter key', 'sk-or-v1-[a-f0-9]{64}'],
  ['Perplexity key', 'pplx-[A-Za-z0-9]{40,64}'],
  ['PlanetScale token', 'pscale_(?:tkn|pw|oauth)_[A-Za-z0-9._=-]{32,64}'],
  ['Postman key', 'PMAK-[a-f0-9]{24}-[a-f0-9]{34}'],
  ['Pulumi token', 'pul-[a-f0-9]{40}'],
  ['PuTTY key', 'Private-Lines: \\d{1,3}\\r?\\n[A-Za-z0-9+/=]{40,}'],
  ['PyPI token', 'pypi-AgE[A-Za-z0-9_-]{50,250}'],
  ['Replicate token', 'r8_[A-Za-z0-9]{37}'],
  ['RubyGems key', 'rubygems_[a-f0-9]{48}'],
  ['Sentry token', 'sntry[su]_[A-Za-z0-9+/=_-]{60,250}'],
  ['Shippo or Lob key', 'shippo_(?:live|test)_[a-f0-9]{40}'],
  ['signed cookie', 's(?::|%3A)[A-Za-z0-9_-]{16,64}\\.(?:[A-Za-z0-9+/_-]|%2[BbFf]){43}'],
  ['Snyk token', 'snyk_[a-z]{2,4}\\.[A-Za-z0-9._-]{40,120}'],
  ['Square token', '(?:sq0[a-z]{3}-[A-Za-z0-9_-]{22,43}|EAAA[A-Za-z0-9_-]{60})'],
  ['Stripe webhook secret', 'whsec_[A-Za-z0-9+/=]{24,64}'],
  ['Supabase key', 'sb(?:p|_secret)_[A-Za-z0-9_-]{20,60}'],
  [
    'Teams webhook',
    'webhook\\.office\\.com/webhookb2/[a-f0-9-]{36}@[a-f0-9-]{36}/IncomingWebhook/[a-f0-9]{32}',
  ],
  ['Twilio key', 'SK[a-f0-9]{32}(?![A-Za-z0-9])'],
  ['Vault token', 'hv[sbr]\\.[A-Za-z0-9_-]{24,300}'],
  ['xAI key', 'xai-[A-Za-z0-9]{70,90}'],
];

/** The words of a wallet: twelve and more, with nothing between. */
const SEED = '["\']?(?: is)?\\s{0,4}[:=]?\\s{1,4}["\'`]?(?:[a-z]{3,8} ){11,23}[a-z]{3,8}';

/** These begin with anything; the text in the middle says whether a look is worth its while. */
const BY_THE_MIDDLE: readonly (readonly [rule: string, middle: string, expression: string])[] = [
  [
    'hashed password',
    ':$',
    '[\\w.@-]{1,40}:\\$(?:apr1|1|2[aby]|5|6|y|argon2id?)\\$(?:[./A-Za-z0-9=,+-]{1,60}\\$){0,3}([./A-Za-z0-9=+]{20,120})',
  ],
  ['BitLocker key', '-', '(?:\\d{6}-){7}\\d{6}(?![\\w-])'],
  ['seed phrase', 'hrase', `(?:[Ss]eed|[Rr]ecovery|[Ss]ecret|[Bb]ackup|[Ww]allet) [Pp]hrase${SEED}`],
  ['seed phrase', 'nemonic', `[Mm]nemonic(?: [Pp]hrase)?${SEED}`],
  // The parts before it are public.
  ['private key', 'kty', 'd["\']?\\s{0,2}:\\s{0,4}["\'][A-Za-z0-9_-]{42,700}["\']'],
  ['Azure secret', 'Q~', '[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}'],
  ['Discord token', '.', '[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40}'],
  ['Mailchimp key', '-us', '[a-f0-9]{32}-us\\d{1,2}(?![A-Za-z0-9])'],
  ['Telegram token', ':AA', '\\d{8,10}:AA[A-Za-z0-9_-]{32,34}'],
  ['Terraform token', '.atlasv1.', '[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_-]{60,70}'],
];

/** Only where a word begins: most places are passed over without a look at any expression. */
const BOUNDARY = '(?<![A-Za-z0-9_-])';
const FIXED = new RegExp(`${BOUNDARY}(?:${KNOWN.map(([, expression]) => `(${expression})`).join('|')})`, 'g');
const OTHERS = BY_THE_MIDDLE.map(([rule, middle, expression]) => ({
  rule,
  middle,
  expression: new RegExp(BOUNDARY + expression, 'g'),
}));

/** The sample that the documents of a service print, or one that a person filled in by hand. */
const SAMPLE = /EXAMPLE|(.)\1{7}|0123456789|ABCDEFGH|abcdefgh/;

export function knownPrefixes(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  for (const match of text.matchAll(FIXED)) {
    const group = match.slice(1).findIndex((captured) => captured !== undefined);
    if (!SAMPLE.test(match[0])) found.push({ rule: KNOWN[group]?.[0] ?? 'known secret', at: match.index });
  }
  for (const { rule, middle, expression } of OTHERS) {
    if (!text.includes(middle)) continue;
    for (const match of text.matchAll(expression))
      if (!SAMPLE.test(match[1] ?? match[0])) found.push({ rule, at: match.index });
  }
  return [...found, ...cutKeys(text)];
}

const END = /-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY/g;

/** Private keys whose beginning was cut off. */
function cutKeys(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  let past = 0;
  for (const { index, 0: end } of text.matchAll(END)) {
    const isCut = !text.slice(past, index).includes('-----BEGIN ');
    const last = /[A-Za-z0-9+/]{16,80}={0,2}(?:\s|\\[nr]|[>|#*]){1,20}$/.exec(
      text.slice(Math.max(past, index - 120), index),
    );
    if (isCut && last !== null) found.push({ rule: 'private key', at: index - last[0].length });
    past = index + end.length;
  }
  return found;
}

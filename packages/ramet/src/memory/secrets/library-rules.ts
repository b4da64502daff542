/**
 * The recommended rules of secretlint, run by ourselves. Its own core would take two things from the text or its name
 * that a stranger decides: comments that switch rules off, and a path whose file a rule reads.
 */
import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type { SecretPlace } from './known-prefixes.ts';

/** What we use of a rule; the types of secretlint come in a package that the preset does not bring along. */
interface LibraryRule {
  readonly meta: { readonly id: string };
  create(
    context: RuleContext,
    options: Readonly<Record<string, never>>,
  ): { file?(source: RuleSource): unknown };
}

interface RuleContext {
  sharedOptions: Readonly<Record<string, never>>;
  createTranslator(): () => string;
  report(found: { range: readonly [number, number] }): void;
  ignore(): void;
}

interface RuleSource {
  content: string;
  filePath: string;
  ext: string;
  contentType: 'text';
  hasBOM: boolean;
}

const PREFIX = '@secretlint/secretlint-rule-';

/** Would let a comment in the text decide. */
const LEFT_OUT = `${PREFIX}filter-comments`;

interface MadeRule {
  name: string;
  file?(source: RuleSource): unknown;
}

/** What the rule that runs has found: rules are made once, and made for a text they would cost more than their look. */
let finding: ((at: number) => void) | null = null;

const LIBRARY: readonly MadeRule[] = rules
  .filter(({ meta }: LibraryRule) => meta.id !== LEFT_OUT)
  .map((rule: LibraryRule) => ({
    name: rule.meta.id.slice(PREFIX.length),
    ...rule.create(
      {
        sharedOptions: {},
        // The message would hold the secret.
        createTranslator: () => () => '',
        report: ({ range: [at] }) => finding?.(at),
        ignore: () => undefined,
      },
      {},
    ),
  }));

export function libraryFindings(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  // As JSON a rule parses it whole, which only an object is worth; without a path none can open a file.
  const ext = /^\s*\{/.test(text) ? '.json' : '.txt';
  const source: RuleSource = { content: text, filePath: '', ext, contentType: 'text', hasBOM: false };
  try {
    for (const { name, file } of LIBRARY) {
      finding = (at) => found.push({ rule: name, at });
      file?.(source);
    }
  } finally {
    finding = null;
  }
  return found;
}

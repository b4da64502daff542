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

const LIBRARY: readonly LibraryRule[] = rules.filter(({ meta }: LibraryRule) => meta.id !== LEFT_OUT);

export function libraryFindings(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  for (const rule of LIBRARY) {
    const context: RuleContext = {
      sharedOptions: {},
      // The message would hold the secret.
      createTranslator: () => () => '',
      report: ({ range: [at] }) => found.push({ rule: rule.meta.id.slice(PREFIX.length), at }),
      ignore: () => undefined,
    };
    // As JSON every rule looks at it; without a path none can open a file.
    rule
      .create(context, {})
      .file?.({ content: text, filePath: '', ext: '.json', contentType: 'text', hasBOM: false });
  }
  return found;
}

/** Rewrites the documents that are computed: `npm run fix` runs it, the shape tests tell when it is due. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingsJsonSchema } from '../src/settings/settings-schema.ts';
import { citations, REQUIREMENTS_PAGE, requirementsPage } from '../test/shape/citations.ts';
import { INDEX_PAGE, withDecisions } from '../test/shape/decision-index.ts';
import {
  ALLOW_FILE,
  countDialect,
  dialectOfRepository,
  lowered,
  readAllowed,
} from '../test/shape/dialect.ts';
import { ARCHITECTURE_PAGE, recounted } from '../test/shape/main-path.ts';
import { ROOT, readText } from '../test/shape/repository.ts';
import { SETTINGS_SCHEMA_PAGE } from '../test/shape/settings-schema.ts';

writeFileSync(join(ROOT, REQUIREMENTS_PAGE), requirementsPage(citations()));
writeFileSync(join(ROOT, ARCHITECTURE_PAGE), recounted(readText(ARCHITECTURE_PAGE)));
writeFileSync(join(ROOT, SETTINGS_SCHEMA_PAGE), settingsJsonSchema());
writeFileSync(join(ROOT, INDEX_PAGE), withDecisions(readText(INDEX_PAGE)));

const allowed = lowered(readAllowed(), countDialect(dialectOfRepository()));
writeFileSync(join(ROOT, ALLOW_FILE), `${JSON.stringify(allowed, null, 2)}\n`);

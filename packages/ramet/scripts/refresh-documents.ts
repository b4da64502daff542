/** Rewrites the documents that are computed: `npm run fix` runs it, the shape tests check that nothing is left to do. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { citations, REQUIREMENTS_PAGE, requirementsPage } from '../test/shape/citations.ts';
import { ROOT } from '../test/shape/repository.ts';

writeFileSync(join(ROOT, REQUIREMENTS_PAGE), requirementsPage(citations()));

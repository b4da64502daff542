/** Makes SQLite files that many processes open: the index of a repository, what a machine knows. */
import { closeSync, linkSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { systemCode } from '../../schema/errors.ts';
import { newSessionId } from '../../schema/ids.ts';
import { PRIVATE_FILE } from '../home.ts';
import { migrate } from './migrations.ts';
import { inTransaction } from './transaction.ts';

/**
 * Made aside and linked into place: whoever opens the file finds it whole. One that exists stays as it is. `fleeting`
 * saves the wait for the disk where the loss of all of it is no loss.
 */
export function createSharedFile(file: string, migrations: readonly string[], fleeting = false): void {
  const aside = `${file}.${newSessionId()}`;
  try {
    closeSync(openSync(aside, 'wx', PRIVATE_FILE));
    const db = new DatabaseSync(aside);
    if (fleeting) db.exec('PRAGMA synchronous = OFF');
    db.exec('PRAGMA journal_mode = WAL');
    inTransaction(db, () => migrate(db, migrations));
    db.close();
    linkSync(aside, file);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

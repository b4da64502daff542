/** `teams.sqlite` beside the index of a repository. */
import { SharedDatabase, type SharedRow } from '../../system/sqlite/shared-database.ts';
import { teamFile } from '../wake-line.ts';
import { TEAM_MIGRATIONS } from './team-schema.ts';

export type TeamDatabase = SharedDatabase;
export type TeamRow = SharedRow;

export function openTeamDatabase(project: string): SharedDatabase {
  return new SharedDatabase({
    file: teamFile(project),
    migrations: TEAM_MIGRATIONS,
    holds: 'the teams of this repository',
    remedy: 'put a copy back, or move it away to begin without teams (sessions stay)',
  });
}

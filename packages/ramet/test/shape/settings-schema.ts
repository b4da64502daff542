/** The JSON Schema of settings as a file, for editors. */
export const SETTINGS_SCHEMA_PAGE = 'docs/settings.schema.json';

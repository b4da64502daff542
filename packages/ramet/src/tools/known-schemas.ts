import type { ToolSchema } from '../schema/content.ts';

/**
 * The input of tools as JSON Schema, by the tool's name. Empty in the sources; the build fills in those of all built-in
 * tools (`scripts/bundle-plugins.ts`), because computing them takes 8 ms of every start.
 */
export const KNOWN_SCHEMAS: Readonly<Record<string, ToolSchema['input_schema']>> = {};

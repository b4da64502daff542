/** The first thing that is wrong with arguments on the surface. The server, whose schema may be anything, checks the rest. */
import { isObject } from '../../extensions/mcp/server-config.ts';

export function wrongArguments(
  schema: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): string | null {
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const missing = required.filter((field) => given[field] === undefined);
  if (missing.length > 0) return `${missing.join(', ')} is missing`;
  const properties = isObject(schema.properties) ? schema.properties : {};
  for (const [field, value] of Object.entries(given)) {
    const property = Object.hasOwn(properties, field) ? properties[field] : undefined;
    if (property === undefined && schema.additionalProperties === false)
      return `there is no argument ${field}`;
    const type = isObject(property) ? property.type : undefined;
    if (typeof type === 'string' && !hasType(value, type)) return `${field} must be of type ${type}`;
  }
  return null;
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'number':
      return typeof value === type;
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    default:
      return true;
  }
}

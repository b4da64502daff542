import { describeError } from '../schema/errors.ts';
import { badRequest } from './api-error.ts';

/** The JSON of a request's body, or the 400 that both APIs answer with. */
export function parseBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw badRequest(`The request body is not valid JSON: ${describeError(error)}`);
  }
}

/** What is wrong with the flags of `ramet -p`, each with what to do. */
import { UserMistake } from '../schema/errors.ts';
import { FIRST_BYTE_MS } from './piped-input.ts';
import type { PrintOptions } from './print-options.ts';

export function streamWithout(what: string): UserMistake {
  return new UserMistake('not_print', `--input-format stream-json: ${what}`);
}

/** Flags that are for one format only: elsewhere they would do nothing. */
export function idleFlag({
  verbose,
  replayUserMessages,
  inputFormat,
  outputFormat,
}: Pick<
  PrintOptions,
  'verbose' | 'replayUserMessages' | 'inputFormat' | 'outputFormat'
>): UserMistake | null {
  if (verbose && outputFormat !== 'stream-json')
    return new UserMistake(
      'not_print',
      '--verbose is for --output-format stream-json; ramet logs -f shows every step of a session',
    );
  if (replayUserMessages && inputFormat !== 'stream-json')
    return new UserMistake('not_print', '--replay-user-messages is for --input-format stream-json');
  return null;
}

export function schemaWithoutPrint(): UserMistake {
  return new UserMistake(
    'not_print',
    '--json-schema is for -p, which answers once: ramet -p --json-schema SCHEMA "what to do"',
  );
}

export function nothingToTakeOver(): UserMistake {
  return new UserMistake(
    'no_session',
    '--take-over is for a session that is resumed: give --resume SESSION or --continue with it',
  );
}

export function nothingToFork(): UserMistake {
  return new UserMistake(
    'no_session',
    '--fork-session: name the session, --resume SESSION, or give --continue',
  );
}

export function withoutPrint(argument: string, meant: string | null): UserMistake {
  return new UserMistake(
    'not_print',
    `there is no command "${argument}"${meant === null ? '; give' : `: did you mean ${meant}? Give`} a prompt with -p: ramet -p "what to do" (see ramet --help)`,
  );
}

/** `isSilent`: standard input is open, and nothing came. */
export function withoutPrompt(isSilent: boolean): UserMistake {
  const silent = isSilent ? `, and nothing came on standard input in ${FIRST_BYTE_MS / 1000} seconds` : '';
  return new UserMistake(
    'no_prompt',
    `there is no prompt${silent}: ramet -p "what to do", or write it to standard input`,
  );
}

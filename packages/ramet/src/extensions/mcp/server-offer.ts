/** What a server offers: its tools, resources and prompts, in an order of their own names, whatever order it lists them in. */

import type { Client } from './sdk-client.ts';
import { isObject } from './server-config.ts';
import type { LeftOutItem } from './server-failure.ts';
import { compare } from './tool-names.ts';

export interface ServerTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** The server says that it changes nothing. A hint: it grants nothing. */
  readonly saysReadOnly: boolean;
}

export interface ServerResource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  /** An address with `{parts}` to fill in. */
  readonly isTemplate: boolean;
}

export interface ServerPrompt {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly description: string;
  }[];
}

export interface ServerOffer {
  readonly tools: readonly ServerTool[];
  readonly resources: readonly ServerResource[];
  readonly prompts: readonly ServerPrompt[];
  readonly instructions: string;
  /** What it lists besides, and nobody can use. */
  readonly leftOut: readonly LeftOutItem[];
}

const LONGEST_DESCRIPTION = 20_000;

export async function readOffer(
  { client, sieve }: { client: Client; sieve: { readonly leftOut: readonly LeftOutItem[] } },
  signal: AbortSignal,
): Promise<ServerOffer> {
  const { tools, resources, prompts } = client.getServerCapabilities() ?? {};
  const options = { signal, timeout: 2 ** 31 - 1, cacheMode: 'refresh' as const };
  const [listed, found, templates, given] = await Promise.all([
    tools === undefined ? [] : client.listTools(undefined, options).then((answer) => answer.tools),
    // A server may say that it has resources and then fail to list them; its tools still work.
    resources === undefined
      ? []
      : orNone(client.listResources(undefined, options).then((answer) => answer.resources)),
    resources === undefined
      ? []
      : orNone(client.listResourceTemplates(undefined, options).then((answer) => answer.resourceTemplates)),
    prompts === undefined
      ? []
      : orNone(client.listPrompts(undefined, options).then((answer) => answer.prompts)),
  ]);
  return {
    tools: inOrder(listed.map(toolOf)),
    resources: [
      ...inOrder(found.map((one) => resourceOf(one, one.uri, false))),
      ...inOrder(templates.map((one) => resourceOf(one, one.uriTemplate, true))),
    ],
    prompts: inOrder(given.map(promptOf)),
    instructions: (client.getInstructions() ?? '').slice(0, 2_000),
    leftOut: sieve.leftOut.toSorted((one, other) => compare(one.name, other.name)),
  };
}

async function orNone<Item>(listing: Promise<Item[]>): Promise<Item[]> {
  try {
    return await listing;
  } catch {
    return [];
  }
}

type ListedTool = Awaited<ReturnType<Client['listTools']>>['tools'][number];
type ListedPrompt = Awaited<ReturnType<Client['listPrompts']>>['prompts'][number];

function toolOf({ name, title, description, inputSchema, annotations }: ListedTool): ServerTool {
  return {
    name,
    ...(title !== undefined && { title }),
    description: (description ?? '').slice(0, LONGEST_DESCRIPTION),
    inputSchema: isObject(inputSchema) ? inputSchema : { type: 'object' },
    saysReadOnly: annotations?.readOnlyHint === true,
  };
}

function resourceOf(
  { name, description }: { name: string; description?: string | undefined },
  uri: string,
  isTemplate: boolean,
): ServerResource {
  return { uri, name, description: description ?? '', isTemplate };
}

function promptOf({ name, description, arguments: fields = [] }: ListedPrompt): ServerPrompt {
  return {
    name,
    description: description ?? '',
    arguments: fields.map((one) => ({
      name: one.name,
      required: one.required === true,
      description: one.description ?? '',
    })),
  };
}

function inOrder<Item extends { readonly name: string; readonly uri?: string }>(
  items: readonly Item[],
): Item[] {
  return items.toSorted(
    (one, other) => compare(one.name, other.name) || compare(one.uri ?? '', other.uri ?? ''),
  );
}

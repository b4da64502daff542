/**
 * MCP servers as a source of a session's tools. Where none is set up, nothing is loaded and no byte changes: that costs a
 * few looks at the disk.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isBare } from '../../extensions/extension-places.ts';
import { POLICY_SERVERS } from '../../settings/setting-value.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Place } from '../place.ts';
import { settingsPlace } from '../session/setup/session-settings.ts';
import type { QuestionListener, SourceOrder, ToolSource } from '../session/tools/tool-source.ts';
import type { McpHouse } from './mcp-house.ts';

export async function mcpSource(order: SourceOrder): Promise<ToolSource> {
  let opening: Promise<McpHouse> | null = null;
  let house: McpHouse | null = null;
  let listener: QuestionListener | null = null;
  const asked: QuestionListener = {
    asked: async (question, signal) => listener?.asked(question, signal) ?? null,
    answered: async (question, answer, signal) => listener?.answered(question, answer, signal) ?? answer,
  };
  const open = async (): Promise<McpHouse> => {
    opening ??= import('./mcp-house.ts').then(({ openHouse }) => openHouse(order, asked));
    house = await opening;
    return house;
  };
  if (mayHaveServers(order)) await open();
  return {
    tools: currentTools(),
    notices: currentNotices(),
    typeNotices: (definitions) => house?.typeNotices(definitions) ?? [],
    servers: () => house?.servers() ?? [],
    async prepareTypes(definitions) {
      if (house === null && definitions.some(({ mcpServers }) => mcpServers !== undefined)) await open();
    },
    forType: (definition, tools, parent) => house?.forType(definition, tools, parent) ?? tools,
    forRecorded: (recorded, order) => house?.forRecorded(recorded, order) ?? order.tools,
    recordOf: (tools) => house?.recordOf(tools),
    about: (tools, reader) => house?.about(tools, reader) ?? null,
    command: async (asked, signal) => house?.command(asked, signal) ?? null,
    onQuestion(told) {
      listener = told;
    },
    close: async () => (await opening)?.close(),
  };

  function currentTools(): readonly Tool[] {
    return house?.tools ?? [];
  }

  function currentNotices(): readonly string[] {
    return house?.notices ?? [];
  }
}

function mayHaveServers({ settings, place }: { settings: ResolvedOptions; place: Place }): boolean {
  const { mcpServers = {}, mcpConfig = [], strictMcpServers, serverOrigins, env } = settings;
  if (Object.keys(mcpServers).length > 0 || mcpConfig.length > 0) return true;
  if (strictMcpServers === true) return false;
  if (Object.keys(settings.settings.mcpServers ?? {}).length > 0) return true;
  if ((settings.pluginServers ?? []).length > 0) return true;
  if (serverOrigins === undefined) return false;
  if (serverOrigins.some(({ unused }) => unused === POLICY_SERVERS)) return true;
  if (isBare(env)) return false;
  const { folders = [], userHome } = settingsPlace(place, env);
  const files = [
    ...folders.map((folder) => join(folder, '.mcp.json')),
    ...(userHome === null ? [] : [join(userHome, '.claude.json')]),
  ];
  return files.some((file) => existsSync(file));
}

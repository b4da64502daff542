import { describe, expect, test } from 'vitest';
import type { ServerLimits } from '../../settings/other-tools/other-tools.ts';
import { whyLeftOut } from './server-limits.ts';

const NONE: ServerLimits = { place: 'a.json', disabled: [], enabled: [], takesAll: false, denied: [] };
const PROJECT = { name: 'db', source: '/repo/.mcp.json', server: { command: 'node', args: ['db.js'] } };
const USERS = { name: 'web', source: '/home/.claude.json', server: { url: 'https://a.example/mcp' } };

describe('EXT-4: servers that the settings of another tool leave out', () => {
  test.for<[Partial<ServerLimits>[], string | null, string | null]>([
    [[], null, null],
    [[{ disabled: ['db', 'web'] }], 'disabledMcpjsonServers in a.json', null],
    [[{ enabled: ['db'] }], null, null],
    [[{ enabled: ['other'] }], 'not among enabledMcpjsonServers in a.json', null],
    [[{ enabled: ['other'] }, { enabled: ['db'] }], null, null],
    [[{ enabled: ['other'] }, { takesAll: true }], null, null],
    [[{ enabled: ['db'], disabled: ['db'] }], 'disabledMcpjsonServers in a.json', null],
    [[{ denied: [{ serverName: 'web' }, 5, null] }], null, 'deniedMcpServers in a.json'],
    [[{ denied: [{ serverCommand: ['node', 'db.js'] }] }], 'deniedMcpServers in a.json', null],
    [[{ denied: [{ serverCommand: ['node'] }] }], null, null],
    [[{ denied: [{ serverUrl: 'https://*.example/*' }] }], null, 'deniedMcpServers in a.json'],
    [[{ denied: [{ serverUrl: 'https://b.example/*' }] }], null, null],
  ])('%j', ([limits, ofProject, ofUser]) => {
    const all = limits.map((one) => ({ ...NONE, ...one }));
    expect([whyLeftOut(all, PROJECT), whyLeftOut(all, USERS)]).toEqual([ofProject, ofUser]);
  });
});

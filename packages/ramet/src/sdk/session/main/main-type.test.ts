import { describe, expect, test } from 'vitest';
import { call, lastTexts, startAgents, startFamily } from '../../../../test/fixtures/family.ts';
import type { RequestRecord } from '../../../emulator/index.ts';

const CRITIC = { description: 'finds faults', prompt: 'You find faults.' };

function systemOf(record: RequestRecord | undefined): string[] {
  const { system } = record?.request ?? {};
  return Array.isArray(system) ? system.map((block) => String(block.text)) : [];
}

function offered(record: RequestRecord | undefined): string[] {
  return (record?.request?.tools ?? []).map(({ name }) => name);
}

describe('LIB-1: a main agent of a type', () => {
  test('has the prompt, tools, model and limits of its type', async () => {
    const { run, requestsOf, session, recordedOf } = await startFamily({
      agent: 'critic',
      appendSystemPrompt: 'Say please.',
      maxTurns: 9,
      agentTypes: { critic: { ...CRITIC, tools: ['Read', 'Grep'], model: 'haiku', maxTurns: 3 } },
      cast: { 'Go.': [{ text: 'Done.' }] },
    });
    await run('Go.');
    const [first] = requestsOf('Go.');
    expect(systemOf(first)).toEqual(['You find faults.', 'Say please.']);
    expect(offered(first)).toEqual(['Read', 'Grep']);
    expect(first?.request?.model).toContain('haiku');
    expect(JSON.stringify(first?.request?.messages)).not.toContain('Another agent gave you');
    expect(session.agent.type).toBe('critic');
    expect(recordedOf(1)[0]).toMatchObject({ type: 'agent.started', agentType: 'critic', maxTurns: 3 });
  });

  test('is told the initial prompt of its type once, before the first prompt', async () => {
    const initialPrompt = 'Read CONTRIBUTING.md first.';
    const { run, requestsOf } = await startFamily({
      agent: 'critic',
      agentTypes: { critic: { ...CRITIC, initialPrompt } },
      cast: { 'Go.': [{ text: 'Done.' }], 'More.': [{ text: 'Done.' }] },
    });
    await run('Go.');
    await run('More.');
    const sent = JSON.stringify(requestsOf('More.').at(-1)?.request?.messages);
    expect(sent).toContain('Read CONTRIBUTING.md first.\\n\\nGo.');
    expect(sent.split('Read CONTRIBUTING').length).toBe(2);
  });

  test('what the caller says comes first; the mode of a type never widens that of the session', async () => {
    const { run, requestsOf, session } = await startFamily({
      agent: 'Critic',
      model: 'opus',
      permissionMode: 'default',
      agentTypes: { critic: { ...CRITIC, model: 'haiku', permissionMode: 'bypassPermissions' } },
      cast: { 'Go.': [call('Write', { file_path: 'a', content: 'x' }), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(requestsOf('Go.')[0]?.request?.model).toContain('opus');
    expect(session.agent.permissionMode).toBe('default');
    expect(lastTexts(requestsOf('Go.')[1])[0]).toContain('permission');
  });

  test('TYPE-2: one that only reads changes nothing, nor do its children, nor when it is resumed', async () => {
    const scene = await startFamily({
      agent: 'reader',
      agentTypes: { reader: { ...CRITIC, readOnly: true } },
      cast: {
        'Go.': [call('Bash', { command: 'touch made' }), startAgents(['child']), { text: 'Done.' }],
        child: [call('Write', { file_path: 'made', content: 'x' }), { text: 'Scope: child.' }],
        'Again.': [
          call('Write', { file_path: 'made', content: 'x' }),
          call('Bash', { command: 'touch made' }),
          { text: 'Done.' },
        ],
      },
    });
    await scene.run('Go.');
    expect(offered(scene.requestsOf('Go.')[0])).not.toContain('Write');
    expect(lastTexts(scene.requestsOf('Go.')[1])[0]).toMatch(/only reads|read-only/);
    expect(lastTexts(scene.requestsOf('child')[1])[0]).toContain('there is no tool "Write"');
    const again = await scene.reopen();
    await again.run('Again.');
    expect(again.session.agent.type).toBe('reader');
    expect(lastTexts(scene.requestsOf('Again.')[1])[0]).toContain('there is no tool "Write"');
    expect(lastTexts(scene.requestsOf('Again.')[2])[0]).toMatch(/only reads|read-only/);
  });

  test('a session whose type is gone is not resumed with more rights: that is refused', async () => {
    const scene = await startFamily({
      agent: 'reader',
      agentTypes: { reader: { ...CRITIC, readOnly: true } },
      cast: { 'Go.': [{ text: 'Done.' }] },
    });
    await scene.run('Go.');
    await expect(scene.reopen(undefined, { agentTypes: {} })).rejects.toThrow(
      'the main agent of this session is of the type "reader", which is not there now: bring it back',
    );
    await expect(scene.reopen(undefined, { agent: 'critic', agentTypes: {} })).rejects.toThrow(
      'agent is for a new session',
    );
  });

  test('has the skills of its type, and no instructions where it wants none', async () => {
    const { run, requestsOf } = await startFamily({
      agent: 'skilled',
      files: { 'CLAUDE.md': 'Always sing.\n' },
      home: {
        'skills/knit/SKILL.md': '---\nname: knit\ndescription: knits\n---\nKnit one, purl two.\n',
        'agents/skilled.md':
          '---\nname: skilled\ndescription: d\nskills: knit\nomitClaudeMd: true\n---\nYou knit.\n',
      },
      cast: { 'Go.': [{ text: 'Done.' }] },
    });
    await run('Go.');
    const said = JSON.stringify(requestsOf('Go.')[0]?.request?.messages);
    expect(said).toContain('Knit one, purl two.');
    expect(said).not.toContain('Always sing.');
  });

  test.each([
    [{ agent: 'critci' }, /there is no agent type "critci": did you mean critic\?/],
    [{ agent: 'zzz' }, /there is no agent type "zzz": the types are .*critic/],
    [{ agent: 'critic', systemPrompt: 'x' }, /give agent or systemPrompt/],
    [
      { agentTypes: { a: { ...CRITIC, disalowedTools: ['Bash'] } } },
      /agentTypes\.a has no field "disalowedTools": did you mean disallowedTools\?/,
    ],
    [{ agentTypes: { a: { ...CRITIC, zzz: 1 } } }, /agentTypes\.a has no field "zzz": a type has prompt, /],
  ])('refuses %j', async (options, reason) => {
    const types = { agentTypes: { critic: CRITIC }, cast: {} };
    await expect(startFamily({ ...types, ...options })).rejects.toThrow(reason);
  });
});

describe('LIB-1: builtInTools', () => {
  test('are the only built-in ones, in the usual order, for children too', async () => {
    const scene = await startFamily({
      builtInTools: ['bash', 'Read', 'Agent'],
      cast: {
        'Go.': [startAgents(['child'], { subagent_type: 'general-purpose' }), { text: 'Done.' }],
        child: [call('Write', { file_path: 'made', content: 'x' }), { text: 'Scope: child.' }],
        'Again.': [call('Write', { file_path: 'made', content: 'x' }), { text: 'Done.' }],
      },
    });
    await scene.run('Go.');
    expect(offered(scene.requestsOf('Go.')[0])).toEqual(['Read', 'Bash', 'Agent']);
    expect(offered(scene.requestsOf('child')[0])).toEqual(['Read', 'Bash', 'Agent']);
    expect(lastTexts(scene.requestsOf('child')[1])[0]).toContain('there is no tool "Write"');
    const again = await scene.reopen();
    await again.run('Again.');
    expect(again.session.tools).toEqual(['Read', 'Bash', 'Agent']);
    expect(lastTexts(scene.requestsOf('Again.')[1])[0]).toContain('there is no tool "Write"');
    await expect(again.reopen(undefined, { builtInTools: ['Read'] })).rejects.toThrow(
      'builtInTools is for a new session',
    );
  });

  test('may be none', async () => {
    const { run, requestsOf } = await startFamily({ builtInTools: [], cast: { 'Go.': [{ text: 'Done.' }] } });
    expect((await run('Go.')).result.status).toBe('done');
    expect(offered(requestsOf('Go.')[0])).toEqual([]);
  });

  test.each([
    [['Raed'], 'there is no built-in tool "Raed": did you mean Read?'],
    [
      ['Bash(ls)'],
      '"Bash(ls)" is a rule: give names of tools here, and rules as permissions (--allowedTools)',
    ],
  ])('%j is refused', async (builtInTools, reason) => {
    await expect(startFamily({ builtInTools, cast: {} })).rejects.toThrow(reason);
  });
});

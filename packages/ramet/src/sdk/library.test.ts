/** What a program can do besides running agents, through the library's entry and on a real repository. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { playedPlace, type Respond } from '../../test/fixtures/played-place.ts';
import { temporaryDirectory, writeFiles } from '../../test/fixtures/temporary.ts';
import * as library from './index.ts';

interface LibraryPlace {
  /** What every call takes. */
  readonly at: { cwd: string; env: NodeJS.ProcessEnv };
  git(...args: string[]): string;
  text(path: string): string;
}

async function newPlace(respond: Respond): Promise<LibraryPlace> {
  const { cwd, env } = await playedPlace(respond);
  return {
    at: { cwd, env },
    git: (...args) => execFileSync('git', args, { cwd, env, encoding: 'utf8', stdio: 'pipe' }).trim(),
    text: (path) => readFileSync(join(cwd, path), 'utf8'),
  };
}

const call = (name: string, input: Record<string, unknown>) => ({ tool_use: [{ name, input }] });
const edit = (old_string: string, new_string: string) =>
  call('Edit', { file_path: 'README.md', old_string, new_string });
const agent = (parts: Record<string, unknown>) =>
  call('Agent', { subagent_type: 'general-purpose', description: 'a part', prompt: 'Your part.', ...parts });

/** What a program may keep or send: nothing of it is lost in JSON. */
function inJson<Result>(result: Result): Result {
  expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  return result;
}

const SETTINGS = { sandbox: { readOnly: 'off', worktree: 'off' } } as const;

async function run(place: LibraryPlace, prompt: string): Promise<string> {
  await using session = await library.openSession({
    ...place.at,
    settings: SETTINGS,
    permissionMode: 'bypassPermissions',
  });
  const events = session.run(prompt);
  for (let next = await events.next(); ; next = await events.next()) {
    if (!next.done) continue;
    expect(next.value).toMatchObject({ status: 'done' });
    return session.id;
  }
}

describe('UI-1: the library can do what the command can', () => {
  test('status, cost, blame, diff and undo of a session', async () => {
    const answers = [call('Read', { file_path: 'README.md' }), edit('# Test\n', '# Test\nby the agent\n')];
    const place = await newPlace(({ turn }) => answers[turn] ?? { text: 'Done.' });
    const id = await run(place, 'Add a line.');

    const [newest] = inJson(await library.status(place.at));
    expect(newest?.session).toMatchObject({ session: id, live: false });
    expect(newest?.agents).toMatchObject([{ level: 0, agent: { id: `${id}.1`, status: 'done' } }]);

    const bill = inJson(await library.cost(undefined, place.at));
    expect(bill.session.session).toBe(id);
    expect(bill.ledger.total).toMatchObject({ requests: 3, responses: 3 });
    expect(Object.keys(bill.ledger.agents)).toEqual([`${id}.1`]);

    expect(inJson(await library.blame('README.md', place.at))).toMatchObject([
      { line: 1, author: expect.any(String), commit: expect.stringMatching(/^\w+$/) },
      { line: 2, text: 'by the agent', commit: null, agent: `${id}.1`, task: 'Add a line.' },
    ]);
    expect(await library.diff(`${id}.1`, place.at)).toContain('\n+by the agent\n');

    const planned = inJson(await library.undo(undefined, { ...place.at, dryRun: true }));
    expect(planned.plan.steps).toMatchObject([{ action: 'restore', obstacle: null }]);
    expect(place.text('README.md')).toContain('by the agent');
    const undone = inJson(await library.undo(id, place.at));
    expect(undone).toMatchObject({ refused: null, blocked: [], steps: [{ action: 'restore' }] });
    expect(place.text('README.md')).toBe('# Test\n');
    await library.undo(undefined, { ...place.at, redo: true });
    expect(place.text('README.md')).toContain('by the agent');
  });

  test('LIB-1: the record of sessions, and what may go of it', async () => {
    const place = await newPlace(() => ({ text: 'Here I am.' }));
    const id = await run(place, 'Say hello.');
    expect(inJson(await library.listSessions(place.at))).toMatchObject([
      { session: id, title: 'Say hello.', prompts: 1, status: 'done', agents: 1 },
    ]);
    expect(await library.renameSession(id, 'Greeting', place.at)).toEqual({ session: id, title: 'Greeting' });

    const { agents } = inJson(await library.transcript(undefined, { ...place.at, full: true }));
    expect(agents).toMatchObject([{ agent: { id: `${id}.1` }, inherited: [], replaced: [] }]);
    expect(agents[0]?.messages.at(-1)).toMatchObject({
      role: 'assistant',
      content: [{ text: 'Here I am.' }],
    });
    expect(await library.exportSession(id, place.at)).toContain('Here I am.');
    expect(JSON.parse(await library.exportSession(id, { ...place.at, format: 'json' }))).toMatchObject({
      session_id: id,
    });
    const events = inJson(await Array.fromAsync(library.readEvents(`${id}.1`, place.at)));
    expect(events.map(({ event }) => event.type)).toContain('response.completed');
    const cache = inJson(await library.explainCache(`${id}.1`, place.at));
    expect(cache).toMatchObject({ session: id, requests: 1, explained: [{ agent: `${id}.1`, turn: 1 }] });

    const compiled = join(place.at.env.RAMET_HOME ?? '', 'python-cache/x/a.pyc');
    writeFiles(dirname(compiled), { 'a.pyc': 'compiled' });
    const { items, removed } = inJson(
      await library.collectGarbage({ ...place.at, dryRun: true, olderThan: 0 }),
    );
    expect(items).toMatchObject([
      { kind: 'session', name: expect.stringContaining(id), keep: null },
      { kind: 'python cache', bytes: 8, keep: null },
    ]);
    expect(removed).toBe(0);
    const collected = inJson(await library.collectGarbage({ ...place.at, olderThan: 0 }));
    expect(collected).toMatchObject({ removed: 2, stayed: [] });
    expect(existsSync(compiled)).toBe(false);
    expect(await library.listSessions(place.at)).toEqual([]);
    expect(inJson(await library.runStatistics(place.at))).toMatchObject({ runs: 0 });
  });

  test('LIB-1: memory: what ramet memory does', async () => {
    const { at } = await newPlace(() => ({ text: 'Done.' }));
    expect(inJson(await library.showMemory(at))).toEqual({ files: [], changes: [] });
    const saved = inJson(await library.saveMemoryNote('Tests run with make check', at));
    expect(saved).toMatchObject({ change: 'p1', kept: 0 });
    await library.saveMemoryNote('Mine alone', { ...at, scope: 'user' });
    const { files } = inJson(await library.showMemory({ ...at, which: 'project' }));
    expect(files).toMatchObject([{ scope: 'project', path: saved.path }]);
    expect(files[0]?.text).toContain('Tests run with make check');
    expect(inJson(await library.explainMemory('make check', at))).toMatchObject([
      { path: saved.path, change: { id: 'p1', kind: 'note' } },
    ]);
    const edited = await library.editMemory('project', (text) => text.replace('make', 'npm run'), at);
    expect(edited).toMatchObject({ change: 'p2', path: saved.path });
    expect(inJson(await library.undoMemory({ ...at, change: 'p2' }))).toMatchObject({ undone: { id: 'p2' } });
    expect(readFileSync(saved.path, 'utf8')).toContain('make check');
    expect((await library.undoMemory(at)).undone.id).toBe('u1');
    await expect(library.explainMemory('nothing like it', at)).rejects.toThrow('no line of memory has');
    await expect(library.showMemory({ ...at, which: 'zzz' })).rejects.toThrow('there is no memory "zzz"');
  });

  test('LIB-1: teams: what ramet team does', async () => {
    const { at } = await newPlace(() => ({ text: 'Done.' }));
    expect(await library.listTeams(at)).toEqual([]);
    await expect(library.showTeam(at)).rejects.toThrow(/team/);
    const session = await library.openSession({ ...at, settings: SETTINGS, team: 'crew' });
    await session.team?.add({ name: 'ada' });
    const [team] = inJson(await library.listTeams(at));
    expect(team).toMatchObject({ name: 'crew', session: session.id });
    expect(team?.members.map(({ name }) => name)).toContain('ada');
    const sent = inJson(await library.sendToTeam('lead', 'hello', at));
    expect(sent).toEqual({ team: 'crew', to: ['lead'], isHosted: true });
    await expect(library.sendToTeam('bob', 'hello', at)).rejects.toThrow(/bob/);
    await expect(library.answerPlan('ada', { ...at, approve: true })).rejects.toThrow('no plan was answered');
    await session[Symbol.asyncDispose]();
    expect(inJson(await library.stopTeam({ ...at, member: 'ada' }))).toMatchObject({
      team: 'crew',
      ended: true,
    });
    expect(await library.reopenTeam({ ...at, team: 'crew' })).toBe(session.id);
    expect((await library.showTeam({ ...at, team: 'crew' })).host).toBeNull();
  });

  test('EXT-1: under a policy a program keeps its own hooks, and may bring no servers', async () => {
    const place = await newPlace(() => ({ text: 'Done.' }));
    const managed = temporaryDirectory();
    const policy = { hooks: 'managed', mcpServers: 'managed' };
    writeFiles(managed, { 'settings.json': JSON.stringify({ policy }) });
    const env = { ...place.at.env, RAMET_MANAGED_DIR: managed };
    const ran: string[] = [];
    const hook = ({ hook_event_name }: { hook_event_name: string }) => void ran.push(hook_event_name);
    await using session = await library.openSession({
      ...{ cwd: place.at.cwd, env, hooks: { Stop: [{ hooks: [hook] }] } },
    });
    await session.ask('go');
    expect(ran).toEqual(['Stop']);
    const bringing = library.openSession({ cwd: place.at.cwd, env, mcpServers: { mine: { command: 'x' } } });
    await expect(bringing).rejects.toThrow('allows only its own MCP servers: leave mcpServers out');
  });

  test('LIB-1: what is set up here, and what is wrong with it', async () => {
    const place = await newPlace(() => ({ text: 'Done.' }));
    writeFiles(place.at.cwd, {
      '.claude/settings.json': JSON.stringify({
        hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
      }),
      '.claude/agents/critic.md': '---\nname: critic\ndescription: finds faults\n---\nFind faults.\n',
      'tasks.md': '- [ ] First\n- [ ] Second\n',
    });
    const review = inJson(await library.reviewTrust(place.at));
    expect(review).toMatchObject({
      isTrusted: false,
      parts: [{ kind: 'hooks', state: 'new' }, { kind: 'agent' }],
    });
    expect(await library.trustFolder({ ...place.at, seen: 'other' })).toBeNull();
    await library.trustFolder({ ...place.at, seen: review.digest });
    expect(await library.reviewTrust(place.at)).toMatchObject({ isTrusted: true });

    const { types } = inJson(await library.listAgentTypes(place.at));
    expect(types).toContainEqual(
      expect.objectContaining({ name: 'critic', source: 'project', state: 'active' }),
    );
    expect(inJson(await library.viewAgentType('critic', place.at)).system).toContain('Find faults.');
    expect(inJson(await library.checkAgentTypes([], place.at))).toMatchObject({ definitions: 1 });

    const settings = inJson(await library.readSettings(place.at));
    expect(settings).toMatchObject({ isTrusted: true, isBroken: false, otherTools: { unused: [] } });
    const file = await library.addServer('notes', { command: 'no-such-program' }, place.at);
    expect(file).toContain('settings.local.json');
    const { servers } = inJson(await library.listServers(place.at));
    expect(servers).toMatchObject([{ name: 'notes', scope: 'local', type: 'stdio', inUse: true }]);
    expect(inJson(await library.tryServers(['notes'], place.at))).toMatchObject([
      { name: 'notes', ok: false },
    ]);
    expect(await library.removeServer('notes', place.at)).toEqual([file]);

    expect(inJson(await library.planTasks('tasks.md', place.at))).toMatchObject({ left: 2, history: null });
    const health = inJson(await library.checkHealth(place.at));
    expect(health).toContainEqual(expect.objectContaining({ name: 'git', state: 'ok' }));
    expect(await library.revokeTrust(place.at)).toMatchObject({ isTrusted: true });
    expect(await library.reviewTrust(place.at)).toMatchObject({ isTrusted: false });
    await expect(
      library.addServer('x', { command: 'y' }, { ...place.at, scop: 'user' } as object),
    ).rejects.toThrow('addServer: there is no option "scop"');
  });

  test('an undo is of the session that is named first, not of the newest', async () => {
    const write = (file_path: string) => call('Write', { file_path, content: 'made\n' });
    const place = await newPlace(({ task, turn }) =>
      turn === 0 ? write(task.includes('first') ? 'first.txt' : 'second.txt') : { text: 'Done.' },
    );
    const first = await run(place, 'Make the first.');
    await run(place, 'Make the second.');
    inJson(await library.undo(first, place.at));
    expect(existsSync(join(place.at.cwd, 'first.txt'))).toBe(false);
    expect(place.text('second.txt')).toBe('made\n');
  });

  test('an undo that would destroy work is refused, and says so as a value', async () => {
    const answers = [call('Write', { file_path: 'new.txt', content: 'new\n' })];
    const place = await newPlace(({ turn }) => answers[turn] ?? { text: 'Done.' });
    await run(place, 'Make a file.');
    execFileSync('sh', ['-c', 'echo mine >> new.txt'], { cwd: place.at.cwd });
    const outcome = inJson(await library.undo(undefined, place.at));
    expect(outcome).toMatchObject({ steps: [], blocked: [{ restoration: { path: expect.any(String) } }] });
    expect(outcome.refused).toContain('blocked by 1 of 1 files');
    expect(place.text('new.txt')).toBe('new\nmine\n');
  });

  test('the work of an agent in a worktree is listed, committed, previewed, merged and removed', async () => {
    const place = await newPlace(({ task, turn }) => {
      if (task.includes('Your part.'))
        return turn === 0
          ? call('Write', { file_path: 'made.txt', content: 'made\n'.repeat(40_000) })
          : { text: 'Scope: the part.\nDone.' };
      return turn === 0 ? agent({ isolation: 'worktree' }) : { text: 'Done.' };
    });
    const id = await run(place, 'Share it.');

    const { worktrees } = inJson(await library.listWorktrees(place.at));
    expect(worktrees).toMatchObject([{ agent: `${id}.2`, state: 'kept', branch: expect.any(String) }]);
    const [{ name = '', branch = '' } = {}] = worktrees.map((one) => ({ ...one, branch: one.branch ?? '' }));
    const shown = inJson(await library.showWorktree(`${id}.2`, place.at));
    expect(shown).toMatchObject({ name, branch });
    // It counts what git does not know, and the list does not.
    expect(shown.bytes).toBeGreaterThan((worktrees[0]?.bytes ?? 0) + 150_000);

    const committed = inJson(await library.commitWorktree(name, { ...place.at, message: 'Make it' }));
    expect(committed).toMatchObject({ files: 1, branch, leftOut: [] });
    expect(place.git('log', '-1', '--format=%B', branch)).toContain(`Ramet-Agent: ${id}.2`);

    const preview = inJson(await library.previewMerge([branch], { ...place.at, into: 'main' }));
    expect(preview).toMatchObject({ target: 'main', conflicts: [], order: [branch] });
    const kept = inJson(await library.mergeBranches([branch], { ...place.at, into: 'main' }));
    // It is checked out here: the result waits.
    expect(kept).toMatchObject({ kept: { commit: expect.any(String) }, entries: [{ state: 'integrated' }] });
    expect(inJson(await library.mergeQueue(place.at))).toMatchObject([{ branch, state: 'integrated' }]);
    const landed = inJson(await library.continueMerge({ ...place.at, into: 'main', updateCheckout: true }));
    expect(landed).toMatchObject({ kept: null, entries: [{ branch, state: 'landed' }] });
    expect(place.text('made.txt')).toMatch(/^made\n/);

    const removed = await Array.fromAsync(library.removeWorktrees([name], place.at));
    expect(removed).toMatchObject([{ name, removed: true }]);
    expect((await library.listWorktrees(place.at)).worktrees).toEqual([]);
    expect((await library.collectWorktrees({ ...place.at, dryRun: true })).notes).toEqual([]);
  });

  test('one agent is stopped, and its session continues', async () => {
    const place = await newPlace(({ task, turn }) => {
      if (task.includes('Your part.')) return call('Bash', { command: 'touch begun && sleep 600' });
      return turn === 0 ? agent({}) : { text: 'Done.' };
    });
    const running = run(place, 'Share it.');
    await expect.poll(() => existsSync(join(place.at.cwd, 'begun')), { timeout: 60_000 }).toBe(true);
    const outcome = inJson(await library.stop('.2', place.at));
    expect(outcome).toMatchObject({ ended: true, agents: [{ status: 'cancelled' }] });
    const id = await running;
    expect(outcome).toMatchObject({ session: id, agent: `${id}.2` });
    await expect(library.stop(id, place.at)).rejects.toThrow('does not run');
  });

  test('what cannot be done is one line with what to do', async () => {
    const place = await newPlace(() => ({ text: 'Done.' }));
    await expect(library.cost(undefined, place.at)).rejects.toThrow(
      'there is no session of this directory yet',
    );
    await expect(library.stop(undefined, place.at)).rejects.toThrow('no session of this directory runs');
    await expect(library.mergeBranches([], place.at)).rejects.toThrow('nothing waits to be merged');
    await expect(library.showWorktree('none', place.at)).rejects.toThrow(
      'there is no worktree "none" here: agents of this repository have none',
    );
    await expect(library.blame('none.txt', place.at)).rejects.toThrow(
      /^there is no file ".*none\.txt": give a path/,
    );
    for (const worktree of ['../yy', '/tmp/yy', '~/yy', 'a/../b', './yy'])
      await expect(library.openSession({ ...place.at, worktree })).rejects.toThrow(
        'is a path, and a worktree',
      );
    await expect(library.diff('bry', place.at)).rejects.toThrow(
      'there is no branch "bry", and there is no session "bry" of this directory: it has none yet',
    );
    await expect(library.diff('zzzz.2', place.at)).rejects.toThrow(/^there is no session "zzzz"/);
    expect(inJson(await library.status(place.at))).toEqual([]);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { fencedBlocks } from '../../src/model/recipe/fenced-blocks.ts';
import { test, type User } from '../fixtures/user.ts';

const FENCE = '```';

function block(label: string, content: string): string {
  return `${FENCE}${label}\n${content}\n${FENCE}\n`;
}

/** An entry of an agents block; its blocks are fenced with tildes. */
function agent(prompt: string, ...fields: string[]): string {
  const lines = ['- prompt: |', ...prompt.split('\n').map((line) => `    ${line}`)];
  return [...lines, ...fields.map((field) => `  ${field}`)].join('\n');
}

const sh = (command: string): string => `~~~sh\n${command}\n~~~`;

function carryOut(user: User, task: string, ...args: string[]) {
  user.env.ANTHROPIC_API_KEY = undefined;
  return user.ramet(['-p', '--permission-mode', 'bypassPermissions', ...args], { stdin: task });
}

const linesIn = (user: User, file: string): string[] =>
  readFileSync(join(user.repository, file), 'utf8').trimEnd().split('\n');

describe.concurrent('RECIPE-1: agents of a recipe', () => {
  test('AGENT-2: forks carry out their own blocks, side by side, and none of their parent', async ({
    user,
  }) => {
    // Each waits for the other: one after the other they would not end.
    const meet = (own: string, other: string): string =>
      agent(sh(`touch ${own}; until test -e ${other}; do sleep 0.02; done`), `description: make ${own}`);
    const task = [
      block('sh', 'echo x >> parent'),
      block('agents', `${meet('a', 'b')}\n${meet('b', 'a')}`),
      block('sh', 'cat a b; echo x >> parent'),
    ];
    const end = await carryOut(user, task.join('\n'));
    expect(end.code).toBe(0);
    expect(linesIn(user, 'parent')).toEqual(['x', 'x']);
    expect(end.stdout).toMatch(/^Done: 3 steps carried out\.\n/);
    expect(end.stdout).toMatch(
      /\n {3}- make a: Agent \S+\.2 \(fork\) done: 2 turns, .*\n {5}\| Done: 1 step/,
    );
    expect(end.stdout).toMatch(
      /\n {3}- make b: Agent \S+\.3 \(fork\) done: 2 turns, .*\n {5}\| Done: 1 step/,
    );
  });

  test('a child that fails fails the recipe, and its siblings end their work', async ({ user }) => {
    const agents = [agent(sh('exit 3')), agent(sh('sleep 0.1; touch sibling'))].join('\n');
    const end = await carryOut(user, block('agents', agents) + block('sh', 'touch after'));
    expect(end.code).toBe(1);
    expect(end.stdout).toMatch(/^Failed: step 1 of 2 \(agents: 2\): 1 of 2 agents failed: Agent \S+\.2 /);
    expect(end.stdout).toContain('exit code 3');
    expect(existsSync(join(user.repository, 'sibling'))).toBe(true);
    expect(existsSync(join(user.repository, 'after'))).toBe(false);
  });

  test('a child that takes longer than its budget ends, and fails the recipe', async ({ user }) => {
    const end = await carryOut(user, block('agents', agent(sh('sleep 600'), 'budget: { seconds: 1 }')));
    expect(end.code).toBe(1);
    expect(end.stdout).toMatch(/1 of 1 agent failed: Agent \S+\.2 .*timed_out/);
  });

  test('FORK-5: a fork that wants to fork is refused, and says so', async ({ user }) => {
    const inner = `~~~agents\n${agent('x')}\n~~~`;
    const end = await carryOut(user, block('agents', agent(inner)));
    expect(end.code).toBe(1);
    expect(end.stdout).toContain('No agent was started: you are a fork');
  });

  test('agents of a type start agents of their own', async ({ user }) => {
    const leaf = agent(sh('touch leaf'), 'type: general-purpose');
    const inner = agent(`~~~~agents\n${leaf}\n~~~~`, 'type: general-purpose');
    const end = await carryOut(user, `\`${block('agents', inner).trimEnd()}\`\n`);
    expect(end.code).toBe(0);
    expect(existsSync(join(user.repository, 'leaf'))).toBe(true);
    expect((await user.ramet(['cost'])).stdout).toMatch(/recipe .+ \$0\.00$/m);
  });

  test('AGENT-3: agents in the background are waited for and reported', async ({ user }) => {
    const agents = [
      agent(sh('until test -e go; do sleep 0.02; done; touch late'), 'background: true'),
      agent(sh('true'), 'background: true', 'description: quick'),
    ].join('\n');
    const end = await carryOut(user, block('agents', agents) + block('sh', 'touch go'));
    expect(end.code).toBe(0);
    expect(end.stdout).toMatch(/^Done: 2 steps carried out\.\n/);
    expect(end.stdout).toMatch(/\nIn the background:\n {3}- .*: Agent \S+\.2 done: .*\n/);
    expect(end.stdout).toMatch(/\n {3}- quick: Agent \S+\.3 done: /);
    expect(existsSync(join(user.repository, 'late'))).toBe(true);
  });

  test('AGENT-3: one in the background that fails makes the recipe fail', async ({ user }) => {
    const end = await carryOut(user, block('agents', agent(sh('exit 3'), 'background: true')));
    expect(end.code).toBe(1);
    expect(end.stdout).toMatch(/^Failed: 1 of 1 agent in the background: \S+\.2 /);
    expect(end.stdout).toContain('exit code 3');
  });

  test('the agents of docs/recipe.md work as they stand there', async ({ user }) => {
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/recipe.md'), 'utf8');
    const example = fencedBlocks(page).find(({ content }) => content.startsWith('```agents'));
    const end = await carryOut(user, example?.content ?? '');
    expect(end.code).toBe(0);
    expect(linesIn(user, 'FILES')).toEqual(['README.md']);
    expect(linesIn(user, 'AUTHORS')).toHaveLength(1);
  });
});

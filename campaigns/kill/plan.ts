/**
 * What the agents of a round are to do: a tree of them, each with steps of calls whose effects can be counted. Every
 * file belongs to one agent, and every line in an effects file to one call, so that an effect that is lost or doubled
 * shows, and shows whose it is.
 */
import type { Chance } from './random.ts';

export interface PlannedCall {
  name: string;
  input: Record<string, unknown>;
  /** A call that brings about the same however often it is made. */
  again: { name: string; input: Record<string, unknown> };
}

export interface AgentPlan {
  /** `root`, `a`, `a1`, ...: unique in the plan, and in the agent's prompt. */
  task: string;
  kind: 'main' | 'fork' | 'general-purpose';
  background: boolean;
  /** It says something to the main agent. */
  talks: boolean;
  /** Its file must be there before it counts as done. */
  proved: boolean;
  children: AgentPlan[];
  /** The calls of each message, in order. */
  steps: PlannedCall[][];
}

export interface RoundPlan {
  name: string;
  root: AgentPlan;
  /** Further variables of the command's environment. */
  env: Record<string, string>;
  /** The user's settings; null for none. */
  settings: Record<string, unknown> | null;
  /** Files of the repository when the round begins. */
  files: Record<string, string>;
}

/** Every shape at least once in as many plans: they differ by number, the details by chance. */
export const SHAPES = ['alone', 'foreground', 'background', 'mixed', 'nested', 'crowded'] as const;
export type PlanShape = (typeof SHAPES)[number];

/** Where the children of a plan run (EXEC-2). */
export type PlanExecutor = 'in-process' | 'process';

export function planOf(shape: PlanShape, chance: Chance, executor: PlanExecutor = 'in-process'): RoundPlan {
  const children = childrenOf(shape, chance);
  const root: AgentPlan = {
    task: 'root',
    kind: 'main',
    background: false,
    talks: false,
    proved: false,
    children,
    steps: [],
  };
  root.steps = rootSteps(root, shape, chance);
  const crowded = shape === 'crowded';
  return {
    name: shape,
    root,
    env: crowded ? { RAMET_CONTEXT_WINDOW: '20000' } : {},
    settings: executor === 'process' ? { agents: { executor } } : null,
    files: { 'README.md': '# Work\n', 'effects/.gitkeep': '' },
  };
}

/** The agent and all below it. */
export function everyAgent(plan: AgentPlan): AgentPlan[] {
  return [plan, ...plan.children.flatMap(everyAgent)];
}

function childrenOf(shape: PlanShape, chance: Chance): AgentPlan[] {
  switch (shape) {
    case 'alone':
      return [];
    case 'foreground':
      return [leaf('a', 'fork', false, chance), leaf('b', 'general-purpose', false, chance)];
    case 'background':
      return [leaf('a', 'general-purpose', true, chance), leaf('b', 'fork', true, chance)];
    case 'mixed':
      return [
        leaf('a', 'fork', true, chance),
        leaf('b', 'fork', false, chance),
        leaf('c', 'general-purpose', false, chance),
        leaf('d', 'general-purpose', true, chance),
      ];
    case 'nested':
      return [
        nested(
          'a',
          false,
          [leaf('a1', 'general-purpose', false, chance), leaf('a2', 'fork', true, chance)],
          chance,
        ),
        nested('b', true, [leaf('b1', 'fork', false, chance)], chance),
        leaf('c', 'fork', false, chance),
      ];
    case 'crowded':
      return [leaf('a', 'general-purpose', true, chance), leaf('b', 'fork', false, chance)];
  }
}

function leaf(task: string, kind: AgentPlan['kind'], background: boolean, chance: Chance): AgentPlan {
  const [talks, proved] = [chance.holds(0.5), chance.holds(0.5)];
  const plan: AgentPlan = { task, kind, background, talks, proved, children: [], steps: [] };
  plan.steps = workSteps(task, talks, chance);
  return plan;
}

function nested(task: string, background: boolean, children: AgentPlan[], chance: Chance): AgentPlan {
  const plan: AgentPlan = {
    task,
    kind: 'general-purpose',
    background,
    talks: false,
    proved: false,
    children,
    steps: [],
  };
  plan.steps = [
    [appendTo(task, 'before', chance), ...children.map(startOf)],
    [appendTo(task, 'after', chance)],
  ];
  return plan;
}

function rootSteps(root: AgentPlan, shape: PlanShape, chance: Chance): PlannedCall[][] {
  const background = root.children.filter((child) => child.background).map(startOf);
  const foreground = root.children.filter((child) => !child.background).map(startOf);
  const own = workSteps('root', false, chance);
  const crowd = shape === 'crowded' ? Array.from({ length: 9 }, (_, index) => [fill(index)]) : [];
  return [background, ...own.slice(0, 2), foreground, ...crowd, ...own.slice(2)].filter(
    (step) => step.length > 0,
  );
}

function workSteps(task: string, talks: boolean, chance: Chance): PlannedCall[][] {
  const file = `${task}.txt`;
  const several = Array.from({ length: 1 + chance.below(3) }, (_, index) =>
    appendTo(task, `many${index}`, chance),
  );
  return [
    [same('Write', { file_path: file, content: 'one\n' }, `printf 'one\\n' > ${file}`)],
    several,
    ...(talks ? [[news(task)]] : []),
    [same('Read', { file_path: file }, `cat ${file}`)],
    [
      same('Edit', { file_path: file, old_string: 'one', new_string: 'two' }, `sed -i s/one/two/ ${file}`),
      appendTo(task, 'last', chance),
    ],
  ];
}

function same(name: string, input: Record<string, unknown>, command: string): PlannedCall {
  return { name, input, again: { name: 'Bash', input: { command } } };
}

/** One line, before or after a wait, so that a kill finds the command on either side of its effect. */
function appendTo(task: string, label: string, chance: Chance): PlannedCall {
  const line = `${task}-${label}`;
  const file = `effects/${task}.log`;
  const wait = `sleep 0.0${1 + chance.below(6)}`;
  const write = `echo ${line} >> ${file}`;
  const command = chance.holds(0.5) ? `${write}; ${wait}` : `${wait}; ${write}`;
  return same('Bash', { command }, `grep -qx ${line} ${file} 2>/dev/null || ${write}`);
}

function fill(index: number): PlannedCall {
  const command = `seq 1 1500; echo filled ${index}`;
  return same('Bash', { command }, command);
}

/** A message cannot be looked up: one that may have been sent is sent again, and says that it is. */
function news(task: string): PlannedCall {
  const say = (message: string): { name: string; input: Record<string, unknown> } => ({
    name: 'SendMessage',
    input: { to: 'main', message },
  });
  return { ...say(`news from ${task}.`), again: say(`news from ${task}, again.`) };
}

function startOf(child: AgentPlan): PlannedCall {
  const input = {
    prompt: `[task ${child.task}] Do your part.`,
    description: `part ${child.task}`,
    name: `agent-${child.task}`,
    ...(child.kind === 'general-purpose' && { subagent_type: 'general-purpose' }),
    ...(child.background && { run_in_background: true }),
    ...(child.proved && { expect: { files: [`${child.task}.txt`] } }),
  };
  // Who is told that it may have started, and not which, may start it: an agent that had begun is named.
  return { name: 'Agent', input, again: { name: 'Agent', input } };
}

/** What every agent does last: it reads what its commands have left. */
export function lookOf(task: string): PlannedCall {
  const left = `$(sort effects/${task}.log | tr '\\n' ' ')$(cat ${task}.txt 2>/dev/null)`;
  const command = `echo "effects: ${left}"`;
  return same('Bash', { command }, command);
}

/**
 * The outcomes of the agents that a recipe started: read from the results of its Agent calls and, for those in the
 * background, from the notifications that came since. What it cannot read is not taken for success.
 */
import type { CallResult, StepOutcome } from './recipe-progress.ts';
import type { RecipeCall } from './recipe-steps.ts';

/** How one agent stands, for the report. */
export interface AgentOutcome {
  /** `lint the parser`, as its call says. */
  description: string;
  /** In the engine's words: `Agent s.2 (fork) done: 3 turns, ...`. */
  verdict: string;
  failed: boolean;
  /** What it said, without empty lines. */
  report: string[];
}

export interface BackgroundAgent extends AgentOutcome {
  id: string;
  /** No notification about it has come. */
  isOut: boolean;
}

/** The words of the Agent tool for a child that nobody waits for; its first line is never the child's to write. */
const STARTED =
  /^(?:It was sent to the background\. )?(?:Started agent|Agent) (\S+)(?: ".*")? (?:runs )?in the background\b/;
/** Stands last in a notification, and only there a child may have written something. */
const REPORT = /<result>\n?([\s\S]*?)\n?<\/result>/;

export function agentOutcome({ input }: RecipeCall, { text, isError }: CallResult): AgentOutcome {
  const [verdict = '', ...report] = text.split('\n').filter((line) => line.trim() !== '');
  return { description: String(input.description), verdict, failed: isError, report };
}

/** Those that the steps so far have started, in order, with how the notifications say they ended. */
export function backgroundAgents(
  ended: readonly StepOutcome[],
  notifications: readonly string[],
): BackgroundAgent[] {
  // An agent that was continued ends again: its last end counts.
  const told = new Map(notifications.map((text) => [fieldOf(text, 'task-id'), text]));
  return ended
    .flatMap(({ step, results }) => step.calls.map((call, index) => [call, results[index]] as const))
    .flatMap(([{ name, input }, result]) => {
      const [, id] = name === 'Agent' && !result?.isError ? (STARTED.exec(result?.text ?? '') ?? []) : [];
      return id === undefined ? [] : [backgroundAgent(id, String(input.description), told.get(id))];
    });
}

function backgroundAgent(id: string, description: string, notification: string | undefined): BackgroundAgent {
  if (notification === undefined) {
    return {
      id,
      description,
      isOut: true,
      failed: false,
      verdict: `Agent ${id} is not done yet`,
      report: [],
    };
  }
  const status = fieldOf(notification, 'status') ?? 'ended, and nobody says how';
  const figures = ['usage', 'cost', 'duration'].flatMap((name) => fieldOf(notification, name) ?? []);
  const said = REPORT.exec(notification)?.[1] ?? '';
  return {
    id,
    description,
    isOut: false,
    failed: status !== 'done',
    verdict: `Agent ${id} ${status}${figures.length === 0 ? '' : `: ${figures.join(', ')}.`}`,
    report: said.split('\n').filter((line) => line.trim() !== ''),
  };
}

function fieldOf(notification: string, name: string): string | undefined {
  const head = notification.slice(0, REPORT.exec(notification)?.index);
  return new RegExp(`<${name}>\\s*([^<]*?)\\s*</${name}>`).exec(head)?.[1];
}

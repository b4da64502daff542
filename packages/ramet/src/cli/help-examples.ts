/** Examples at the end of every help text, and what help tells besides commands. Loaded only for help. */
import type { Command } from 'commander';

/** By the words of the command; the empty one is `ramet` itself. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  '': [
    'ramet                                    # a conversation in this repository',
    'ramet "fix the failing test"             # the same, with its first prompt',
    'ramet -p "list the modules" --output-format json',
    'git diff | ramet -p "review this"',
    'ramet -p "list the modules" --json-schema \'{"type": "array"}\'',
    'ramet -p "find out why logins fail, and fix it" --coordinator',
    'ramet --continue',
    'ramet help parallel                      # forks, operator, coordinator or team?',
  ],
  resume: ['ramet resume', 'ramet resume k3v9x2ab --max-budget-usd 2'],
  stop: ['ramet stop', 'ramet stop k3v9x2ab.3', 'ramet stop k3v9x2ab --now'],
  ps: ['ramet ps', 'ramet ps -n 5', "ramet ps --json | jq '.[].status'"],
  watch: [
    'ramet watch',
    'ramet watch k3v9x2ab',
    'ramet watch --json | jq -c \'select(.type == "agent.ended")\'',
  ],
  show: ['ramet show', 'ramet show .2', 'ramet show k3v9x2ab --full'],
  logs: ['ramet logs', 'ramet logs .2 --follow'],
  cost: ['ramet cost', 'ramet cost --all', 'ramet cost --team', 'ramet cost k3v9x2ab --json'],
  sessions: ['ramet sessions', 'ramet sessions rename k3v9 "Parser rewrite"', 'ramet sessions rm k3v9'],
  'sessions ls': ['ramet sessions ls -n 50', 'ramet sessions ls --json'],
  'sessions rename': ['ramet sessions rename k3v9 "Parser rewrite"'],
  'sessions rm': ['ramet sessions rm k3v9 p2q7', 'ramet sessions rm --force k3v9'],
  'sessions export': [
    'ramet sessions export > session.md',
    'ramet sessions export k3v9 --format json -o k3v9.json',
  ],
  agents: ['ramet agents', 'ramet agents show Explore', 'ramet agents validate'],
  'agents validate': ['ramet agents validate', 'ramet agents validate agents/reviewer.md'],
  'agents show': ['ramet agents show Explore'],
  cache: ['ramet cache explain'],
  'cache explain': ['ramet cache explain', 'ramet cache explain .2/1'],
  plan: ['ramet plan tasks.md'],
  stats: ['ramet stats'],
  operate: ['ramet operate tasks.md', 'ramet operate --resume', 'ramet operate status'],
  'operate status': ['ramet operate status', 'ramet operate status --json'],
  'operate add': ['ramet operate add "Name the authors in README.md"', 'ramet operate add more-tasks.md'],
  'operate ask': ['ramet operate ask "why does T004 wait?"'],
  'operate pause': ['ramet operate pause'],
  'operate resume': ['ramet operate resume'],
  'operate skip': ['ramet operate skip T004'],
  'operate retry': ['ramet operate retry T004'],
  'operate start': ['ramet operate start T004'],
  'operate approve': ['ramet operate approve T004'],
  'operate answer': ['ramet operate answer 1 once'],
  'memory sync': [
    'ramet memory sync --server https://memory.example.org',
    'ramet memory sync notes --token-file ~/.memory-token --json',
  ],
  'memory serve': ['ramet memory serve', 'ramet memory serve --port 8080 --data /srv/memory'],
  'memory token': ['ramet memory token new core --note "build machine"', 'ramet memory token ls'],
  'memory token new': ['ramet memory token new core > token', 'ramet memory token new core --json'],
  'memory token ls': ['ramet memory token ls', 'ramet memory token ls --json'],
  'memory token revoke': ['ramet memory token revoke k3v9x2ab7q'],
  undo: ['ramet undo --dry-run', 'ramet undo', 'ramet undo --redo'],
  merge: ['ramet merge ramet/parser --check "npm test"', 'ramet merge --preview', 'ramet merge --status'],
  diff: ['ramet diff', 'ramet diff .2', 'ramet diff ramet/parser --base main'],
  blame: ['ramet blame src/parser.ts'],
  worktree: ['ramet worktree ls', 'ramet worktree diff parser'],
  'worktree show': ['ramet worktree show parser'],
  'worktree gc': ['ramet worktree gc --dry-run', 'ramet worktree gc'],
  'worktree rm': ['ramet worktree rm parser', 'ramet worktree rm --force parser'],
  'worktree open': ['cd "$(ramet worktree open parser)"', 'ramet worktree open parser --shell'],
  'worktree diff': ['ramet worktree diff parser', 'ramet worktree diff parser --stat'],
  'worktree commit': ['ramet worktree commit parser -m "Rewrite the parser"'],
  team: ['ramet team ls', 'ramet team show parser-work', 'ramet team send lead "the deadline is today"'],
  'team create': [
    'ramet team create parser-work --member ada --member bob:planning-teammate',
    'ramet team create parser-work "split the parser from the printer"',
  ],
  'team attach': ['ramet team attach', 'ramet team attach parser-work'],
  'team ls': ['ramet team ls', 'ramet team ls --json'],
  'team show': ['ramet team show parser-work', 'ramet team show --watch'],
  'team tasks': ['ramet team tasks', 'ramet team tasks parser-work --json'],
  'team send': [
    'ramet team send ada "use the old format"',
    'ramet team send "*" "main has moved" --team parser-work',
  ],
  'team approve': ['ramet team approve ada', 'ramet team approve ada --reason "keep the old names"'],
  'team reject': ['ramet team reject ada --reason "no new dependency"'],
  'team stop': ['ramet team stop parser-work', 'ramet team stop --member ada'],
  'team resume': ['ramet team resume parser-work', 'ramet team resume parser-work --model sonnet'],
  memory: [
    'ramet memory show',
    'ramet memory edit user --add "Answer in German."',
    'ramet memory why "npm test"',
    'ramet memory undo',
    'ramet memory sync',
  ],
  'memory show': ['ramet memory show', 'ramet memory show user', 'ramet memory show --changes'],
  'memory edit': ['ramet memory edit', 'ramet memory edit --add "Tests run with npm test."'],
  'memory why': ['ramet memory why "npm test"', 'ramet memory why MEMORY.md:3'],
  'memory dream': ['ramet memory dream', 'ramet memory dream --now --model haiku'],
  'memory undo': ['ramet memory undo', 'ramet memory undo p12'],
  mcp: [
    'ramet mcp ls',
    'ramet mcp add files -- npx -y @modelcontextprotocol/server-filesystem .',
    'ramet mcp test',
  ],
  'mcp ls': ['ramet mcp ls', 'ramet mcp ls --json'],
  'mcp add': [
    'ramet mcp add files -- npx -y @modelcontextprotocol/server-filesystem .',
    `ramet mcp add issues https://example.com/mcp --scope user --header 'Authorization: Bearer \${TOKEN}'`,
    'ramet mcp add db --scope project --env DB_URL=postgres://localhost/app -- ./bin/db-server',
  ],
  'mcp rm': ['ramet mcp rm files', 'ramet mcp rm db --scope project'],
  'mcp test': ['ramet mcp test', 'ramet mcp test files --json'],
  'mcp login': ['ramet mcp login issues'],
  'mcp serve': ['ramet mcp serve', 'ramet mcp serve --permission-mode acceptEdits'],
  gc: ['ramet gc --dry-run', 'ramet gc --older-than 7'],
  emulate: ['ramet emulate --scenario answers.yaml --port 8080'],
  demo: ['ramet demo', 'ramet demo operate --keep'],
  trust: ['ramet trust', 'ramet trust --show', 'ramet trust --revoke'],
  settings: ['ramet settings', 'ramet settings --schema > ramet-settings.schema.json'],
  doctor: ['ramet doctor', 'ramet doctor --repair k3v9x2ab'],
  completion: ['source <(ramet completion bash)'],
};

/** Those of the command itself, else of the one that it belongs to. */
export function addExamples(program: Command): void {
  const visit = (command: Command, words: readonly string[]): void => {
    const examples = EXAMPLES[words.join(' ')] ?? ownExamples(words);
    if (examples.length > 0)
      command.addHelpText('after', `\nExamples:\n${examples.map((one) => `  ${one}\n`).join('')}`);
    for (const below of command.commands) visit(below, [...words, below.name()]);
  };
  visit(program, []);
}

function ownExamples(words: readonly string[]): readonly string[] {
  const [first = ''] = words;
  const command = `ramet ${words.join(' ')}`;
  return (EXAMPLES[first] ?? []).filter((example) => example.startsWith(command));
}

/** `ramet help parallel`: which way of dividing work to choose. The figures are those of docs/which.md. */
export const PARALLEL: string = `Which way to divide work? Ask from the top; the first yes decides.

  Is it one thing, or does each step need the one before?   one agent
  Do the parts need what this conversation already knows?   forks         ask for them; or session.fork
  Are they independent, each told in a few lines?           typed agents  ask for them; ramet agents lists the types
  Is it a list of tasks, each with a check, to be merged?   operator      ramet operate tasks.md
  Must it be understood first, and is a wrong change dear?  coordinator   ramet --coordinator
  Do the parts have to talk to each other for a while?      a team        ramet team create NAME "goal"

What it cost: one job of eight small tasks, models played, the cache accounted for.

                WORKERS  REQUESTS  COST  BAD AT
  one agent           1         9   1.0  time: one step after the other
  forks               8        18   1.9  a long conversation that the parts do not need: each carries it
  typed agents        8        18   1.9  what takes long to explain; they know only their prompt
  operator            8        16   1.5  tasks without a check, and tasks that wait for each other
  coordinator        10        31   3.5  small changes: it looks, writes and proves in turn
  team of 4           4        34   4.0  independent parts: claims and messages are requests too

Three to five members pay for most work; a sixth is made with a warning. ramet cost --team shows what messages added.
`;

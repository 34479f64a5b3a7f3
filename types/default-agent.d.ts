// The built-in demo agent. What it answers: docs/default-agent.md.

/**
 * Where the demo agent's script is, as an absolute path. Run it with Node itself:
 * `{ command: process.execPath, args: [defaultAgentPath()] }`.
 */
export function defaultAgentPath(): string;

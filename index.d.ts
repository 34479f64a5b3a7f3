// The public contract of the package root. The declarations live in types/, the protocol's own types in protocol.d.ts
// (generated). Names: docs/errors.md, docs/differences.md and the comments beside each member.

export * from './protocol.js';
export * from './types/host.js';
export * from './types/errors.js';
export * from './types/client.js';
export * from './types/state.js';
export * from './types/elicitation.js';
export * from './types/unstable.js';
export * from './types/connection.js';
export * from './types/fusion.js';
export * from './types/ask.js';
export * from './types/probe.js';
export * from './types/plugin.js';
export * from './types/default-agent.js';

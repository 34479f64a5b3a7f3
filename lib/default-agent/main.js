#!/usr/bin/env node
'use strict';

// The built-in demo agent: an ACP v1 agent on standard input and output. `docs/default-agent.md` says what it answers.

const { createAgent } = require('./agent');
const { Peer } = require('./peer');

const peer = new Peer(process.stdin, process.stdout);
const agent = createAgent(peer, { requireAuth: process.argv.includes('--require-auth') });

peer.serve(agent, () => {
  // The client is gone: every turn ends, and with nothing left to do so does the process.
  agent.shutdown();
});

'use strict';

// An agent that takes sessions only after somebody signed in: `node login-agent.js <state file> [login]`. With `login` it
// is the login itself, which writes down how it was run. The methods that it advertises are in `LOGIN_METHODS`.

const fs = require('node:fs');
const readline = require('node:readline');

const [state, mode] = process.argv.slice(2);

if (mode === 'login') {
  const { PATH, ...env } = process.env;
  fs.writeFileSync(state, JSON.stringify({ args: process.argv.slice(3), env, cwd: process.cwd() }));
  process.exit(Number(env.LOGIN_EXIT ?? 0));
}

/** @param {object} message */
const say = (message) => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    fs.appendFileSync(`${state}.log`, `${JSON.stringify(params.clientCapabilities)}\n`);
    say({ id, result: { protocolVersion: 1, authMethods: JSON.parse(process.env.LOGIN_METHODS ?? '[]') } });
  } else if (method === 'authenticate') {
    fs.appendFileSync(`${state}.log`, `authenticate ${params.methodId}\n`);
    fs.writeFileSync(state, '{}');
    say({ id, result: {} });
  } else if (method === 'session/new') {
    if (fs.existsSync(state)) say({ id, result: { sessionId: 's1' } });
    else say({ id, error: { code: -32000, message: 'Authentication required' } });
  } else if (id !== undefined) say({ id, error: { code: -32601, message: 'Method not found' } });
});

'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { TOOL } = require('../lib/mcp-server.js');
const { fail, notApplicable, ok } = require('../lib/verdict.js');

/** @type {import('./index.js').Check} */
module.exports = {
  id: 'mcp',
  title: 'An MCP server passed with `session/new` is started, and its tool offered to the model and called.',
  async run(test) {
    if (test.row.usesModel === false) return notApplicable('the agent has no tools');
    const file = path.join(test.scratch.cwd, 'interop-mcp.txt');
    const marks = () => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '');
    const server = path.join(__dirname, '..', 'lib', 'mcp-server.js');
    const mcpServers = [{ name: 'interop', command: process.execPath, args: [server, file], env: [] }];
    const { session } = await test.open('allow', {}, { mcpServers });
    await test.until(() => marks().includes('listed'), 'its tools are asked for', test.waits.connect).catch(() => {});
    // The first prompt may be sent to the model before the server is connected.
    for (let turn = 0; turn < 2 && !marks().includes('called'); turn++) {
      await test.within(session.prompt(test.say('mcp')), 'the turn');
    }
    const offered = test.model.requests.some(({ tools }) => tools.some((name) => name.includes(TOOL)));
    test.facts = { marks: marks().split('\n').filter(Boolean), offered, asked: test.permissions.length };
    if (marks().includes('called')) return ok('its tool was called');
    if (offered) return ok('its tool was offered');
    const named = test.model.requests.some(({ namesTool }) => namesTool);
    if (named) return ok('its tool was named to the model, for one that looks for tools');
    const toolless = test.model.requests.every(({ tools }) => tools.length === 0);
    if (marks() !== '' && toolless) return notApplicable('it was started; the agent offers the model no tools at all');
    if (marks() === '') return fail('the server was never started');
    const reached = marks().includes('listed') ? 'asked for its tools' : 'started';
    return fail(`the server was ${reached}, the model offered none`);
  },
};

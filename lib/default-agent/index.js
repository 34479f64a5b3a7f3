'use strict';

const path = require('node:path');

/**
 * Where the built-in demo agent's script is. Run it with Node itself:
 * `{ command: process.execPath, args: [defaultAgentPath()] }`.
 *
 * @returns {string} An absolute path.
 */
function defaultAgentPath() {
  return path.join(__dirname, 'main.js');
}

module.exports = { defaultAgentPath };

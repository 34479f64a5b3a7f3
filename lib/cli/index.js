'use strict';

const { version } = require('../../package.json');
const { ask, failureText } = require('./ask');
const { exitCodes, UsageError } = require('./exit-codes');
const { login } = require('./login');
const { Output } = require('./output');
const { probe } = require('./probe');
const { replay } = require('./replay');
const { harmless } = require('./terminal');
const { trace } = require('./trace');

const help = `Usage: acp <command> [options]

  acp ask "prompt"    asks an agent once and streams its answer
  acp probe           says whether an agent is ready
  acp login           signs in to an agent
  acp trace           records a conversation with an agent
  acp replay <file>   plays a recording against this package and compares
  acp agent           is the built-in demo agent, on standard input and output

  acp <command> --help tells more. acp --version tells the version.`;

/** @type {Record<string, import('./types').Command>} */
const commands = {
  ask,
  probe,
  login,
  replay,
  trace,
  async agent() {
    require('../default-agent/main.js');
    return exitCodes.ok;
  },
};

/**
 * Runs the command line.
 *
 * @param {import('./types').World} world
 * @returns {Promise<number>} The exit code.
 */
async function main(world) {
  const output = new Output(world);
  return output.end(await run(world));
}

/** @param {import('./types').World} world */
async function run(world) {
  const [name, ...args] = world.argv;
  try {
    if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
      world[name === undefined ? 'stderr' : 'stdout'].write(`${help}\n`);
      return name === undefined ? exitCodes.usage : exitCodes.ok;
    }
    if (name === '--version' || name === '-V') {
      world.stdout.write(`${version}\n`);
      return exitCodes.ok;
    }
    if (!Object.hasOwn(commands, name)) throw new UsageError(`There is no command ${JSON.stringify(name)}.`);
    return await commands[name](world, args);
  } catch (error) {
    if (error instanceof UsageError) {
      const more = name !== undefined && Object.hasOwn(commands, name) ? `acp ${name} --help` : 'acp --help';
      world.stderr.write(`acp: ${harmless(error.message)}\nTry: ${more}\n`);
      return exitCodes.usage;
    }
    world.stderr.write(`${harmless(failureText(error))}\n`);
    return exitCodes.failed;
  }
}

module.exports = { main };

'use strict';

const { fail, notApplicable, ok } = require('../lib/verdict.js');

/**
 * @param {'shell' | 'write'} tool
 * @param {'allow' | 'deny'} decision
 * @returns {import('./index.js').Check}
 */
function permissionCheck(tool, decision) {
  const what = tool === 'shell' ? 'shell command' : 'file write';
  const denied = decision === 'deny';
  return {
    id: `${decision}-${tool}`,
    title: `A ${what} that the agent asks for and the host ${denied ? 'denies is not' : 'allows is'} executed.`,
    async run(test) {
      if (test.row.usesModel === false) return notApplicable('the agent has no tools');
      const { session } = await test.open(decision);
      const { stopReason } = await test.within(session.prompt(test.say(tool)), 'the turn');
      const called = test.model.requests.find((request) => request.call);
      const done = test.exists(tool);
      test.facts = { stopReason, asked: test.permissions.length, tool: called?.call };
      if (!called) return notApplicable('offers the model no such tool');
      if (test.permissions.length === 0)
        return notApplicable(done ? 'executes without asking' : 'neither asks nor executes');
      if (done === denied) return fail(denied ? 'executed although denied' : 'not executed although allowed');
      const times = test.permissions.length === 1 ? '' : `asked ${test.permissions.length} times`;
      return ok([times, stopReason === 'end_turn' ? '' : `ends with ${stopReason}`].filter(Boolean).join(', '));
    },
  };
}

module.exports = [
  permissionCheck('shell', 'deny'),
  permissionCheck('shell', 'allow'),
  permissionCheck('write', 'deny'),
  permissionCheck('write', 'allow'),
];

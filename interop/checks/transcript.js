'use strict';

const { answerText } = require('../lib/driver.js');
const { fail, ok } = require('../lib/verdict.js');
const { placesOf } = require('../lib/install.js');
const { cleaner, keep, MAX_BYTES, personal, Recorder } = require('../lib/transcript.js');

/** @type {import('./index.js').Check} */
module.exports = {
  id: 'transcript',
  title:
    'A whole conversation (a streamed turn, a tool call, a cancelled turn, the end) is recorded, and nothing ' +
    'personal is in it.',
  async run(test) {
    const recorder = new Recorder();
    test.onFrame = (frame) => recorder.see(frame);
    const { client, session } = await test.open('allow');
    await test.within(session.prompt(test.say('stream')), 'the streamed turn');
    for (const tool of test.row.usesModel === false ? [] : ['shell', 'write']) {
      if (test.permissions.length === 0) await test.within(session.prompt(test.say(tool)), `the turn with ${tool}`);
    }
    const stopReason = await cancelled(test, session);
    await test.within(session.close(), 'the close of the session');
    await test.within(client.close(), 'close');
    const { name = test.row.id, version = packageVersion(test.row) } = client.agentInfo ?? {};
    const clean = cleaner(test.scratch, { dir: placesOf(test.row).dir, port: test.model.port });
    const transcript = recorder.write({ agent: name, version }, clean);
    test.facts = { frames: transcript.split('\n').length - 2, broken: recorder.broken, stopReason };
    const details = personal(transcript);
    if (details.length > 0) return fail(`tells of the machine: ${details.slice(0, 5).join(', ')}`);
    if (transcript.length > MAX_BYTES) return fail(`${transcript.length} bytes, more than ${MAX_BYTES}`);
    if (recorder.broken > 0) return fail(`${recorder.broken} messages are not whole JSON`);
    keep(test.row.id, transcript);
    return ok(`${test.facts.frames} messages`);
  },
};

/** For an agent that does not introduce itself. @param {import('../lib/table.js').AgentRow} row */
function packageVersion({ install }) {
  const [first = ''] = install.npm ?? install.pip ?? [];
  return first.replace(/^.*(@|==)/, '');
}

/**
 * @param {import('../lib/case.js').Case} test
 * @param {any} session
 */
async function cancelled(test, session) {
  const turn = session.prompt(test.say('slow'));
  let chunks = 0;
  const drained = (async () => {
    for await (const event of turn) if (answerText(event) !== undefined) chunks++;
  })();
  drained.catch(() => {});
  const result = Promise.resolve(turn);
  result.catch(() => {});
  const streams = () => test.asked('slow').some((request) => Date.now() - request.startedAt > 2_000);
  await test.until(() => chunks > 2 || streams(), 'the stream starts');
  await test.within(turn.cancel(), 'cancel');
  return (await test.within(result, 'the cancelled turn')).stopReason;
}

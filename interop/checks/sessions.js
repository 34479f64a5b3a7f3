'use strict';

const { HELLO } = require('../model/steer.js');
const { inOrder, notOffered, refused } = require('../lib/offers.js');
const { fail, ok } = require('../lib/verdict.js');

/** Most sessions looked at in a list. */
const MOST = 500;

const parts = [
  { id: 'list', title: 'The session is in the list of its directory.' },
  { id: 'close', title: 'The session is closed at the agent, and takes no more prompts here.' },
  { id: 'load', title: 'A second process loads the session: what was said is replayed, and the next prompt answered.' },
  { id: 'fork', title: 'The session is forked into one with an id of its own, which answers a prompt.' },
  { id: 'resume', title: 'A third process resumes the session without a replay, and the next prompt is answered.' },
  { id: 'delete', title: 'The session is deleted, and no longer in the list.' },
];

/** @type {import('./index.js').Check} */
module.exports = {
  id: 'sessions',
  title: 'Sessions are listed, closed, loaded, forked, resumed and deleted.',
  parts,
  async run(test) {
    const { client, session } = await test.open();
    await answers(test, session);
    const { id } = session;
    const { cwd } = test.scratch;
    const { loadSession, sessionCapabilities: offers = {} } = client.agentCapabilities;
    /** @type {any} */
    let second = client;
    return inOrder({
      list: async () => {
        if (!offers.list) return refused(test, () => listed(client, {}));
        const started = performance.now();
        let all;
        do {
          if ((await test.within(listed(client, { cwd }), 'session/list')).includes(id)) return ok();
          all = await test.within(listed(client, {}), 'session/list');
          if (all.includes(id)) return ok('only when no directory is given');
          await test.pause(Math.min(500, test.waits.list));
        } while (performance.now() - started < test.waits.list);
        return fail(`not among the ${all.length} listed`);
      },
      close: async () => {
        const before = test.sent.length;
        await test.within(session.close(), 'session/close');
        const told = test.sent.slice(before).includes('session/close');
        const usable = await answers(test, session).catch(() => false);
        if (usable) return fail('it took a prompt afterwards');
        if (offers.close) return told ? ok() : fail('the agent was not told');
        return told ? fail('not advertised, yet sent') : notOffered();
      },
      load: async () => {
        if (!loadSession) return refused(test, () => client.loadSession(id, { cwd }));
        await test.pause(test.waits.settle);
        await test.within(client.close(), 'close');
        second = await test.launch();
        const before = test.updates;
        const loaded = await test.within(second.loadSession(id, { cwd }), 'session/load');
        const replayed = test.updates - before;
        if (loaded.id !== id) return fail('it has another id');
        await answers(test, loaded);
        return ok(replayed > 0 ? `${replayed} updates replayed` : 'nothing replayed');
      },
      fork: async () => {
        if (!offers.fork) return refused(test, () => second.forkSession(id, { cwd }));
        const forked = await test.within(second.forkSession(id, { cwd }), 'session/fork');
        if (!forked.id || forked.id === id) return fail('it has no id of its own');
        await answers(test, forked);
        return ok();
      },
      resume: async () => {
        if (!offers.resume) return refused(test, () => second.resumeSession(id, { cwd }));
        await test.pause(test.waits.settle);
        await test.within(second.close(), 'close');
        second = await test.launch();
        const before = test.messages;
        const resumed = await test.within(second.resumeSession(id, { cwd }), 'session/resume');
        const replayed = test.messages - before;
        await answers(test, resumed);
        return ok(replayed > 0 ? `${replayed} messages replayed` : '');
      },
      delete: async () => {
        if (!offers.delete) return refused(test, () => second.deleteSession(id));
        await test.within(second.deleteSession(id), 'session/delete');
        if (!offers.list) return ok();
        const left = await test.within(listed(second, {}), 'session/list');
        return left.includes(id) ? fail('still in the list') : ok();
      },
    });
  },
};

/**
 * @param {any} client
 * @param {object} options
 * @returns {Promise<string[]>}
 */
async function listed(client, options) {
  const ids = [];
  for await (const { sessionId } of client.listSessions(options)) {
    ids.push(sessionId);
    if (ids.length >= MOST) break;
  }
  return ids;
}

/**
 * @param {import('../lib/case.js').Case} test
 * @param {any} session
 */
async function answers(test, session) {
  const { text, stopReason } = await test.within(session.prompt(test.say('hello')), 'the turn');
  const wanted = test.row.usesModel === false ? test.say('hello') : HELLO;
  if (!text.includes(wanted)) throw new Error(`the answer was ${JSON.stringify(text.slice(0, 120))}, ${stopReason}`);
  return true;
}

'use strict';

// A host of the typed API that does anything, in any order.

const { setTimeout: sleep } = require('node:timers/promises');
const { AcpClient, killAllProcesses } = require('../..');
const plan = require('./plan.js');
const { AGENT, LONGEST, checkFailure, handler, pieces } = require('./host.js');

/**
 * @typedef {import('./random').Random} Random
 * @typedef {import('./ledger').Ledger} Ledger
 * @typedef {import('../../types/client').AcpSession} AcpSession
 */

/** One episode: an agent, its sessions, and their end. */
class TypedHost {
  /**
   * @param {Random} random
   * @param {Ledger} ledger
   * @param {{ mark: string, killAll?: boolean }} world `killAll`: nobody else has agents that would suffer.
   */
  constructor(random, ledger, world) {
    this.random = random;
    this.ledger = ledger;
    this.world = world;
    this.turns = 0;
    /** @type {AcpClient | undefined} */
    this.client = undefined;
  }

  async run() {
    const { random, ledger } = this;
    const behaviour = plan.behaviour(random.fork());
    ledger.note(`agent ${JSON.stringify(behaviour)}`);
    const signal = this.signal(0.1);
    const options = this.launchOptions(behaviour, signal);
    const client = await ledger.watch('launch', () => AcpClient.launch(options), { signal });
    if (client === undefined) return;
    this.client = client;
    void ledger.watch('closed', () => client.closed);
    const sessions = Array.from({ length: random.int(1, 3) }, () => this.session(client, random.fork()));
    const trouble = this.trouble(client, random.fork());
    // Sometimes the end comes while everything runs.
    if (random.chance(0.4)) await sleep(random.int(0, 250));
    else await Promise.race([Promise.all([...sessions, trouble]), sleep(LONGEST, undefined, { ref: false })]);
    await this.end(client);
    await Promise.all([...sessions, trouble]);
    this.afterwards(client);
  }

  /**
   * @param {object} behaviour
   * @param {AbortSignal | undefined} signal
   * @returns {import('../../types/client').LaunchOptions}
   */
  launchOptions(behaviour, signal) {
    const { random } = this;
    const [name, value] = this.world.mark.split('=');
    const answers = (/** @type {unknown[]} */ ...some) => handler(random.fork(), some);
    /** @type {any} */
    const options = {
      command: process.execPath, args: [AGENT, JSON.stringify(behaviour)], cwd: process.cwd(),
      env: { PATH: process.env.PATH, [name]: value },
      initializeTimeoutMs: random.pick([300, 2000]), requestTimeoutMs: random.pick([100, 500, 5000]),
      cancelGraceMs: random.pick([0, 50, 500]), state: random.chance(0.7), signal,
    };
    if (random.chance(0.7)) options.onPermission = answers('allow', 'deny', { optionId: 'yes' }, 7);
    if (random.chance(0.5)) options.fs = { read: true, write: true, approveWrite: answers(true, false) };
    if (random.chance(0.5)) options.terminal = random.chance(0.5) ? true : { approve: answers(true, false) };
    if (random.chance(0.5)) options.onElicitation = answers({ action: 'accept', content: { a: 'x' } }, { action: 'cancel' }, 7);
    if (random.chance(0.5)) options.onExtRequest = answers({ a: 1 }, undefined, 10n);
    if (random.chance(0.3)) options.onExtNotification = answers(undefined);
    if (random.chance(0.1)) options.onWire = () => {};
    return options;
  }

  /**
   * Perhaps a signal, which fires soon.
   *
   * @param {number} probability
   * @param {Random} [random]
   */
  signal(probability, random = this.random) {
    if (!random.chance(probability)) return undefined;
    const controller = new AbortController();
    const ms = random.pick([0, 0, 1, 5, 30, 100]);
    const abort = () => {
      this.ledger.note('signal fires');
      controller.abort(new Error('chaos'));
    };
    if (random.chance(0.1)) abort();
    else if (ms === 0) queueMicrotask(abort);
    else setTimeout(abort, ms).unref();
    return controller.signal;
  }

  /** @param {AcpClient} client @param {Random} random */
  async session(client, random) {
    const { ledger } = this;
    const signal = this.signal(0.1, random);
    const options = { signal, meta: plan.meta(random), queue: random.chance(0.4), coalesce: random.chance(0.3) };
    const session = await ledger.watch('open', () => random.weighted([
      [7, () => client.newSession(options)],
      [2, () => client.loadSession('old', options)],
      [1, () => client.resumeSession('old', options)],
      [1, () => client.forkSession('old', options)],
    ])(), { signal });
    if (session === undefined) return;
    /** @type {Array<Promise<unknown>>} */
    const doing = [];
    // It ends with the session, or the client.
    if (random.chance(0.3)) void this.watchUpdates(session, random.fork());
    for (let i = random.int(1, 5); i > 0; i--) {
      const done = this.act(client, session, random);
      if (random.chance(0.6)) await done;
      else doing.push(done);
    }
    await Promise.all(doing);
    if (random.chance(0.5)) await ledger.watch('session.close', () => session.close());
    if (random.chance(0.1)) await ledger.watch('session.close again', () => session.close());
  }

  /** @param {AcpClient} client @param {AcpSession} session @param {Random} random @returns {Promise<unknown>} */
  act(client, session, random) {
    const { ledger } = this;
    const signal = this.signal(0.1, random);
    const meta = plan.meta(random);
    return random.weighted([
      [10, () => this.prompt(session, random)],
      [1, () => ledger.watch('cancel', () => session.cancel())],
      [1, () => ledger.watch('setMode', () => session.setMode(random.pick(['a', 'b', 'none']), { signal, meta }), { signal })],
      [1, () => ledger.watch('setModel', () => session.setModel(random.pick(['y', 'none']), { signal, meta }), { signal })],
      [1, () => ledger.watch('request', () => client.request('_chaos/call', { a: 1 }, { signal, meta }), { signal })],
      [1, () => ledger.watch('list', async () => {
        for await (const _ of client.listSessions({ signal, meta })) if (random.chance(0.5)) break;
      }, { signal })],
      [1, () => ledger.watch('notify', async () => client.notify('_chaos/note', { a: 1 }))],
      [1, () => ledger.watch('close early', () => session.close())],
      [1, () => ledger.watch('state', async () => void [session.state, client.stderr(), client.diagnostics()])],
      [1, () => ledger.watch('delete', () => client.deleteSession(session.id, { signal, meta }), { signal })],
    ])();
  }

  /** @param {AcpSession} session @param {Random} random */
  async prompt(session, random) {
    const { ledger } = this;
    const script = plan.script(random, (this.turns += 1));
    const text = plan.textOf(script);
    const signal = this.signal(0.15, random);
    const limits = random.chance(0.2) ? { timeoutMs: random.pick([1, 50, 300]) } : {};
    if (random.chance(0.15)) Object.assign(limits, { idleTimeoutMs: random.pick([20, 200]) });
    ledger.note(`${script.tag} in ${session.id}: ${JSON.stringify({ ...script, ...limits })}`);
    const input = JSON.stringify(script);
    const turn = random.chance(0.1)
      ? session.interruptWith(input, { signal, ...limits })
      : session.prompt(input, { signal, ...limits, ...(random.chance(0.2) && { queue: true }) });
    const heard = this.consume(turn, script.tag, random, signal);
    if (random.chance(0.15)) {
      setTimeout(() => void ledger.watch('turn.cancel', () => turn.cancel()), random.int(0, 100));
    }
    const result = await ledger.watch(script.tag, () => turn, { signal, failed: (error) => checkFailure(ledger, error, script) });
    const events = await heard;
    if (result === undefined) return;
    if (result.textTruncated) ledger.violation(`${script.tag}: truncated`);
    const own = pieces(result.text, script.tag);
    if (!text.startsWith(own)) ledger.violation(`${script.tag}: text out of order or doubled: ${own.slice(0, 200)}`);
    const whole = result.stopReason === 'end_turn' && !result.forced;
    if (whole && own !== text) ledger.violation(`${script.tag}: ${own.length} of ${text.length} units of text`);
    if (events !== undefined && events !== result.text) {
      ledger.violation(`${script.tag}: the events say ${events.length} units, the text ${result.text.length}`);
    }
  }

  /**
   * Takes the events of a turn: all, some, slowly, or not at all. Resolves with their text where all were taken.
   *
   * @param {import('../../types/client').PromptTurn} turn
   * @param {string} tag
   * @param {Random} random
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<string | undefined>}
   */
  consume(turn, tag, random, signal) {
    const { ledger } = this;
    const all = async (/** @type {AsyncIterable<any>} */ events, /** @type {number} */ pause) => {
      let text = '';
      let n = 0;
      for await (const event of events) {
        if (event.type === 'agent_message_chunk' && event.content.type === 'text') text += event.content.text;
        if (pause > 0 && (n += 1) % pause === 0) await sleep(1);
      }
      return text;
    };
    return random.weighted([
      [5, async () => undefined],
      [4, () => ledger.watch(`${tag} events`, () => all(turn, 0), { signal })],
      [2, () => ledger.watch(`${tag} slow events`, () => all(turn, random.int(20, 200)), { signal })],
      [1, () => ledger.watch(`${tag} stream`, () => all(/** @type {any} */ (turn.toReadableStream()), 0), { signal })],
      [2, () => ledger.watch(`${tag} some events`, async () => {
        let left = random.int(0, 30);
        for await (const _ of turn) if ((left -= 1) < 0) break;
        return undefined;
      }, { signal })],
      // Let go without a word: what it holds back is freed by whatever ends the turn.
      [1, async () => {
        const iterator = turn[Symbol.asyncIterator]();
        await ledger.watch(`${tag} one event`, () => iterator.next(), { signal });
        setTimeout(() => void ledger.watch('cancel for the one who left', () => turn.cancel()), 300);
        return undefined;
      }],
      [1, async () => void (await Promise.all([
        ledger.watch(`${tag} events twice`, () => all(turn, 0), { signal }),
        ledger.watch(`${tag} events twice more`, () => all(turn, 0), { signal }),
      ]))],
    ])();
  }

  /** @param {AcpSession} session @param {Random} random */
  watchUpdates(session, random) {
    const breaks = random.chance(0.4) ? random.int(0, 40) : Infinity;
    let n = 0;
    return this.ledger.watch('updates', async () => {
      for await (const _ of session.updates()) {
        if ((n += 1) > breaks) break;
        if (n % 100 === 0) await sleep(1);
      }
    });
  }

  /** What comes from outside. @param {AcpClient} client @param {Random} random */
  async trouble(client, random) {
    const { ledger } = this;
    const what = random.weighted([[14, 'none'], [2, 'kill'], [2, 'outside'], [1, 'close'], [this.world.killAll ? 1 : 0, 'all']]);
    if (what === 'none') return;
    await sleep(random.int(0, 200));
    ledger.note(`trouble: ${what}`);
    if (what === 'kill') client.kill();
    else if (what === 'all') killAllProcesses();
    else if (what === 'close') await ledger.watch('trouble close', () => client.close({ graceMs: random.pick([0, 100]) }));
    else {
      try {
        process.kill(client.pid, random.pick(['SIGKILL', 'SIGTERM', 'SIGSEGV', 'SIGSTOP']));
      } catch {
        // It was gone.
      }
    }
  }

  /** @param {AcpClient} client */
  async end(client) {
    const { random, ledger } = this;
    if (random.chance(0.1)) client.kill();
    const close = () => ledger.watch('close', () => client.close({ graceMs: random.pick([0, 50, 300]) }));
    const exits = await Promise.all(random.chance(0.2) ? [close(), close()] : [close()]);
    for (const exit of exits) if (exit?.survivors !== undefined) ledger.violation(`survivors: ${exit.survivors}`);
    if (random.chance(0.1)) client.kill();
  }

  /** Whatever is asked of a client that is over fails, and says so. @param {AcpClient} client */
  afterwards(client) {
    const { random, ledger } = this;
    if (random.chance(0.3)) void ledger.watch('open afterwards', () => client.newSession());
    if (random.chance(0.3)) void ledger.watch('request afterwards', () => client.request('_chaos/call'));
    if (random.chance(0.3)) void ledger.watch('close afterwards', () => client.close());
  }
}

module.exports = { TypedHost };

'use strict';

// A host of the Fusion-shaped API that does anything, in any order.

const { setTimeout: sleep } = require('node:timers/promises');
const { AcpRuntimeAdapter, askAcpOnce, connect, killAllProcesses, probeAcpReadiness } = require('../..');
const plan = require('./plan.js');
const { AGENT, LONGEST, checkFailure, handler, pieces } = require('./host.js');

/**
 * @typedef {import('./random').Random} Random
 * @typedef {import('./ledger').Ledger} Ledger
 */

/** One episode. */
class FusionHost {
  /**
   * @param {Random} random
   * @param {Ledger} ledger
   * @param {{ mark: string, killAll?: boolean }} world
   */
  constructor(random, ledger, world) {
    this.random = random;
    this.ledger = ledger;
    this.world = world;
    this.turns = 0;
    this.behaviour = plan.behaviour(random.fork());
    ledger.note(`agent ${JSON.stringify(this.behaviour)}`);
    const [name] = world.mark.split('=');
    this.settings = {
      acpBinaryPath: process.execPath, acpArgs: [AGENT, JSON.stringify(this.behaviour)], acpEnvAllowList: ['PATH', name],
      acpInitializeTimeoutMs: random.pick([300, 2000]), acpSessionTimeoutMs: random.pick([200, 2000]),
      acpPromptTimeoutMs: random.pick([50, 1000, 1000]), acpIdleTimeoutMs: random.pick([30, 600, 600]),
      acpAllowUnrestricted: random.chance(0.3), acpAllowFsRead: random.chance(0.5), acpAllowFsWrite: random.chance(0.5),
      acpResolveNeverReject: random.chance(0.1),
    };
  }

  run() {
    return this.random.weighted([
      [6, () => this.adapter()],
      [2, () => this.ask()],
      [1, () => this.probe()],
      [2, () => this.connection()],
    ])();
  }

  script() {
    const script = plan.script(this.random, (this.turns += 1));
    this.ledger.note(`${script.tag}: ${JSON.stringify(script)}`);
    return script;
  }

  async adapter() {
    const { random, ledger } = this;
    const adapter = new AcpRuntimeAdapter(this.settings);
    let text = '';
    const oops = (/** @type {number} */ p) => {
      if (random.chance(p)) throw new Error('a callback threw');
    };
    const created = await ledger.watch('createSession', () => adapter.createSession({
      cwd: process.cwd(), systemPrompt: random.chance(0.5) ? 'Be brief.' : '', tools: random.pick(['coding', 'readonly', undefined]),
      onText: (delta) => (text += delta, oops(0.1)), onThinking: () => oops(0.1), onToolStart: () => oops(0.3), onToolEnd: () => oops(0.3),
      actionGateContext: random.chance(0.6) ? this.gate() : undefined,
      sessionMeta: plan.meta(random),
      beforeSpawnSession: random.chance(0.2) ? () => sleep(random.int(0, 20)) : undefined,
    }));
    if (created === undefined) return;
    const { session } = created;
    if (random.chance(0.3)) session.subscribe(() => oops(0.3));
    const dispose = () => ledger.watch('dispose', () => adapter.dispose(session));
    const trouble = random.weighted([
      [10, () => {}],
      [2, () => void session.dispose()],
      [2, () => session.connection?.child.kill()],
      [2, () => ledger.watch('abort', () => session.abort())],
      [2, dispose],
      [this.world.killAll ? 1 : 0, () => killAllProcesses()],
    ]);
    const troubled = sleep(random.int(0, 200)).then(trouble);
    for (let i = random.int(1, 4); i > 0; i--) {
      const done = this.prompt(adapter, session, () => text);
      if (random.chance(0.8)) await done;
    }
    if (random.chance(0.7)) await troubled;
    await Promise.all(random.chance(0.2) ? [dispose(), dispose()] : [dispose()]);
    await troubled;
    if (random.chance(0.3)) await ledger.watch('prompt afterwards', () => adapter.promptWithFallback(session, 'x'));
  }

  /** @param {AcpRuntimeAdapter} adapter @param {any} session @param {() => string} heard */
  async prompt(adapter, session, heard) {
    const { ledger } = this;
    const script = this.script();
    const text = plan.textOf(script);
    const result = await ledger.watch(script.tag, () => adapter.promptWithFallback(session, JSON.stringify(script)), {
      failed: (error) => checkFailure(ledger, error, script),
    });
    const own = pieces(heard(), script.tag);
    if (!text.startsWith(own)) ledger.violation(`${script.tag}: text out of order or doubled: ${own.slice(0, 200)}`);
    if (result?.stopReason === 'end_turn' && own !== text) ledger.violation(`${script.tag}: ${own.length} of ${text.length} units of text`);
  }

  /** A gate whose closures may answer, throw, or never answer. */
  gate() {
    const { random } = this;
    const word = () => random.pick(['allow', 'block', 'require-approval', 'nonsense']);
    return /** @type {any} */ ({
      permissionPolicy: { rules: { file_write_delete: word(), command_execution: word() } },
      createApprovalRequest: handler(random.fork(), [{ id: 'a1' }, undefined]),
      findApprovalByDedupeKey: handler(random.fork(), [{ id: 'a1', status: 'approved' }, { id: 'a1', status: 'denied' }, null]),
      pauseForApproval: handler(random.fork(), [undefined]),
    });
  }

  async ask() {
    const { random, ledger } = this;
    const adapter = new AcpRuntimeAdapter(this.settings);
    const script = this.script();
    const answer = await ledger.watch('askAcpOnce', () => askAcpOnce(adapter, {
      prompt: JSON.stringify(script), cwd: process.cwd(), timeoutMs: random.pick([undefined, 30, 500]), recoverJson: random.chance(0.3),
      model: random.chance(0.2) ? 'y' : undefined,
    }));
    const text = plan.textOf(script);
    if (answer?.text !== undefined) {
      const own = pieces(answer.text, script.tag);
      if (!text.startsWith(own) || (answer.ok && answer.stopReason === 'end_turn' && own !== text)) {
        ledger.violation(`ask: ${own.length} of ${text.length} units of text`);
      }
    }
    if (answer?.ok === false && answer.error !== undefined) {
      await ledger.watch('the error of the ask', () => Promise.reject(answer.error));
    }
  }

  async probe() {
    const { random, ledger } = this;
    const status = await ledger.watch('probe', () => probeAcpReadiness({
      binaryPath: random.chance(0.1) ? '/nowhere/at/all' : process.execPath, args: this.settings.acpArgs, cwd: process.cwd(),
      env: this.environment(), timeoutMs: random.pick([50, 500, 3000]),
    }));
    if (status?.ok !== (status?.reason === 'ok')) ledger.violation(`probe: ${JSON.stringify(status)}`);
  }

  environment() {
    const [name, value] = this.world.mark.split('=');
    return { PATH: process.env.PATH, [name]: value };
  }

  async connection() {
    const { random, ledger } = this;
    const connection = await ledger.watch('connect', () => connect({
      binaryPath: random.chance(0.1) ? '/nowhere/at/all' : process.execPath, args: this.settings.acpArgs, cwd: process.cwd(),
      env: this.environment(), advertiseFs: { read: true, write: true }, initializeTimeoutMs: random.pick([300, 3000]),
    }));
    if (connection === undefined) return;
    const { conn, child } = connection;
    const opened = await ledger.watch('newSession', () => Promise.race([
      conn.newSession({ cwd: process.cwd(), mcpServers: [], _meta: plan.meta(random) }), gone(connection),
    ]));
    if (opened?.sessionId !== undefined) {
      const { sessionId } = opened;
      const script = this.script();
      const prompt = /** @type {const} */ ([{ type: 'text', text: JSON.stringify(script) }]);
      const turn = ledger.watch('conn.prompt', () => conn.prompt({ sessionId, prompt: [...prompt] }));
      if (random.chance(0.3)) await ledger.watch('conn.cancel', () => conn.cancel({ sessionId }));
      await Promise.race([turn, sleep(random.pick([10, LONGEST]), undefined, { ref: false })]);
    }
    if (random.chance(0.5)) connection.dispose();
    else child.kill();
    connection.dispose();
  }
}

/** Resolves after a while, for a call without a limit of its own. @param {import('../../types/connection').AcpConnection} connection */
async function gone(connection) {
  await sleep(LONGEST, undefined, { ref: false });
  connection.dispose();
  return undefined;
}

module.exports = { FusionHost };

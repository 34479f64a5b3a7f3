'use strict';

/**
 * What an agent is told to do, by chance: mostly sense, often not. `agent.js` does it.
 *
 * @typedef {import('./random').Random} Random
 *
 * @typedef {object} Script What a turn is to be.
 * @property {string} tag Begins every piece of its text, which are numbered.
 * @property {any[]} script
 * @property {object} answer
 * @property {boolean} deaf Whether a cancel is ignored.
 * @property {{ code: number, words?: string }} [leaves] It ends with the agent leaving, by a code that only this turn has.
 */

const NOISE = [
  { text: 'warming up\n' },
  { text: '\n\n' },
  { text: '{"jsonrpc":"2.0","method":\n' },
  { text: '{"jsonrpc":"2.0","id":{"a":1},"result":{}}\n' },
  { text: '[]\n' },
  { text: '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n' },
  { text: '{"jsonrpc":"2.0","method":"session/update","params":{"nonsense":true}}\n' },
  { base64: Buffer.from([0xff, 0xfe, 0x00, 0x0a]).toString('base64') },
];

/** @param {Random} random */
const noise = (random) => ({ do: 'raw', ...random.pick(NOISE) });

/** @param {Random} random */
const descendant = (random) => ({
  do: 'spawn', detached: random.chance(0.5), hold: random.chance(0.6), deaf: random.chance(0.3),
});

/** Ways to leave, or to become useless. @param {Random} random */
function fatal(random) {
  return random.weighted([
    [3, { do: 'exit', code: random.pick([0, 1, 3, 70]) }],
    [3, { do: 'kill', signal: random.pick(['SIGKILL', 'SIGTERM', 'SIGABRT']) }],
    [1, { do: 'close', fd: 1 }],
    [1, { do: 'close', fd: 0 }],
    [1, { do: 'close', fd: 2 }],
  ]);
}

/** @param {Random} random */
function update(random) {
  return {
    do: 'update',
    sessionId: random.chance(0.2) ? 'nobody' : undefined,
    update: random.pick([
      { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } },
      { sessionUpdate: 'tool_call', toolCallId: 't1', title: 'Look', kind: 'read', status: 'pending' },
      { sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'completed' },
      { sessionUpdate: 'plan', entries: [{ content: 'a', priority: 'low', status: 'pending' }] },
      { sessionUpdate: 'current_mode_update', currentModeId: 'b' },
      { sessionUpdate: 'usage_update', used: 5, size: 100 },
      { sessionUpdate: 'subagent_update', sessionId: 'child', state: 'running' },
      { sessionUpdate: 'made_up', value: 1 },
      { sessionUpdate: 7 },
    ]),
  };
}

/** @param {Random} random */
function question(random) {
  const options = [
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ];
  const [method, params] = random.pick([
    ['session/request_permission', { toolCall: { toolCallId: 't1', title: 'Do it', kind: 'edit' }, options }],
    ['session/request_permission', { toolCall: {}, options: [] }],
    ['fs/read_text_file', { path: __filename }],
    ['fs/read_text_file', { path: '/etc/passwd' }],
    ['fs/write_text_file', { path: '/nowhere/at/all', content: 'x' }],
    ['elicitation/create', {
      mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: { a: { type: 'string' } } },
    }],
    ['_chaos/ask', { a: 1 }],
    ['made/up', {}],
  ]);
  return { do: 'ask', method, params, wait: random.chance(0.7) };
}

/** @param {Random} random */
function terminal(random) {
  const command = random.pick(['echo a', 'sleep 30', 'sleep 30 & echo b', 'yes | head -c 100000', 'exit 3', 'trap "" TERM; sleep 30']);
  const end = random.pick([['wait_for_exit', 'release'], ['kill', 'wait_for_exit', 'output', 'release'], ['release'], ['output'], []]);
  // One that runs is not waited for.
  return { do: 'terminal', command, end: command.includes('sleep') ? end.filter((m) => m !== 'wait_for_exit') : end };
}

/** @param {Random} random @returns {any} */
function step(random) {
  return random.weighted([
    [10, () => ({ do: 'say', n: random.int(1, 20), split: random.chance(0.2) ? random.int(1, 60) : undefined })],
    [2, () => ({ do: 'flood', n: random.pick([200, 1500, 5000]) })],
    [4, () => update(random)],
    [3, () => noise(random)],
    [1, () => ({ do: 'long', n: random.pick([10_000, 300_000]) })],
    [3, () => ({ do: 'sleep', ms: random.int(0, 60) })],
    [4, () => question(random)],
    [2, () => terminal(random)],
    [1, () => descendant(random)],
    [1, () => ({ do: 'notify', method: random.pick(['_chaos/note', 'made/up', '$/progress']), params: { a: 1 } })],
    [1, () => ({ do: 'stderr', text: random.chance(0.1) ? 'noise '.repeat(30_000) : 'a word on stderr\n' })],
  ])();
}

/** @param {Random} random */
function answer(random) {
  return random.weighted([
    [24, {}],
    [3, { ms: random.int(1, 150) }],
    [1, { as: 'never' }],
    [2, { as: 'error', code: random.pick([-32603, -32000, -32800]) }],
    [1, { as: 'twice' }],
    [1, { as: 'other' }],
    [1, { as: 'nonsense', result: random.pick([7, null, [], 'x', {}]) }],
    [1, { as: 'both' }],
    [1, { as: 'late' }],
    [1, { as: 'exit', code: random.pick([0, 9]) }],
  ]);
}

/** A turn. @param {Random} random @param {number} n Its number in the episode. @returns {Script} */
function script(random, n) {
  const tag = `p${n}`;
  const steps = Array.from({ length: random.int(0, 6) }, () => step(random));
  const whole = { tag, script: steps, answer: answer(random), deaf: random.chance(0.15) };
  if (!random.chance(0.15)) return whole;
  const words = random.chance(0.5) ? `last words of ${tag}` : undefined;
  if (words !== undefined) steps.push({ do: 'stderr', text: `${words}\n` });
  if (random.chance(0.2)) steps.push({ do: 'long', n: 100, end: '' });
  if (random.chance(0.5)) {
    steps.push(fatal(random));
    return whole;
  }
  const code = 20 + n;
  steps.push({ do: 'exit', code });
  return { ...whole, leaves: { code, words } };
}

/** The text that a turn says before it ends: whole, unless something ends it early. @param {Script} script */
function textOf({ tag, script }) {
  let n = 0;
  for (const { do: what, ...step } of script) {
    if (what === 'exit' || what === 'kill' || (what === 'close' && step.fd === 1)) break;
    if (what === 'say' || what === 'flood') n += step.n;
  }
  return Array.from({ length: n }, (_, i) => `${tag}:${i} `).join('');
}

/** What an agent is from its start. @param {Random} random */
function behaviour(random) {
  const well = random.chance(0.75);
  const some = (/** @type {number} */ p) => random.chance(p);
  const sessionCapabilities = Object.fromEntries(
    ['close', 'list', 'resume', 'fork', 'delete'].filter(() => some(0.5)).map((name) => [name, {}]),
  );
  return {
    capabilities: { loadSession: some(0.7), sessionCapabilities },
    deaf: some(0.15),
    stays: some(0.15),
    start: some(0.1) ? [descendant(random)] : [],
    before: some(0.15) ? [noise(random)] : [],
    initialize: well ? {} : random.pick([
      { ms: random.int(1, 150) }, { as: 'never' }, { as: 'error' }, { as: 'error', code: -32000 }, { as: 'twice' }, { as: 'other' },
      { as: 'nonsense', result: random.pick([7, null, { protocolVersion: 9 }]) }, { as: 'exit', code: 4 },
    ]),
    after: some(0.1) ? [random.chance(0.5) ? noise(random) : fatal(random)] : [],
  };
}

/** `_meta` of a request that is to be answered by chance. @param {Random} random */
function meta(random) {
  return { chaos: { answer: answer(random), history: random.pick([0, 3, 2000]), early: random.chance(0.2) } };
}

module.exports = { answer, behaviour, meta, script, textOf };

'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const {
  DENY, classifyToolKind, dispositionFor, effectiveDisposition, resolvePermission, runApprovalForCategory, selectOption,
} = require('../..');

const OPTIONS = [
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'once', name: 'Once', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
  { optionId: 'never', name: 'Never', kind: 'reject_always' },
];
const selected = (optionId) => ({ outcome: { outcome: 'selected', optionId } });
const cancelled = { outcome: { outcome: 'cancelled' } };
const policy = (rules) => ({ permissionPolicy: { rules } });

describe('classification', () => {
  it('knows the kinds of the protocol and denies the rest', () => {
    const kinds = {
      execute: 'command_execution', edit: 'file_write_delete', delete: 'file_write_delete', move: 'file_write_delete',
      fetch: 'network_api', read: 'exempt', search: 'exempt', think: 'exempt', switch_mode: 'exempt', other: DENY,
      mystery: DENY,
    };
    for (const [kind, category] of Object.entries(kinds)) assert.equal(classifyToolKind(kind), category);
    for (const kind of [null, undefined, 7]) assert.equal(classifyToolKind(kind), DENY);
  });
});

describe('selectOption', () => {
  it('never chooses an option that lasts', () => {
    assert.deepEqual(selectOption('allow', OPTIONS), { decision: 'allow', optionId: 'once' });
    assert.deepEqual(selectOption('deny', OPTIONS), { decision: 'deny', optionId: 'no' });
    assert.deepEqual(selectOption('allow', [OPTIONS[0]]), { decision: 'deny' });
    assert.deepEqual(selectOption('deny', [OPTIONS[3]]), { decision: 'deny' });
  });

  it('turns an allow without allow_once into a denial', () => {
    assert.deepEqual(selectOption('allow', [OPTIONS[2]]), { decision: 'deny', optionId: 'no' });
  });

  it('denies when several options would allow, and when one id means two things', () => {
    const twice = [{ optionId: 'a', kind: 'allow_once' }, { optionId: 'b', kind: 'allow_once' }, OPTIONS[2]];
    assert.deepEqual(selectOption('allow', twice), { decision: 'deny', optionId: 'no' });
    const same = [{ optionId: 'x', kind: 'allow_once' }, { optionId: 'x', kind: 'allow_always' }];
    assert.deepEqual(selectOption('allow', same), { decision: 'deny' });
  });

  it('tolerates what is no list of options', () => {
    for (const options of [null, undefined, 'x', {}, [null, 3, { optionId: 5 }]]) {
      assert.deepEqual(selectOption('allow', options), { decision: 'deny' });
    }
  });
});

describe('dispositions', () => {
  it('asks where there is no rule, and exempts what is exempt', () => {
    assert.equal(dispositionFor('exempt', {}), 'allow');
    assert.equal(dispositionFor('network_api', {}), 'require-approval');
    assert.equal(dispositionFor('network_api', policy({ network_api: 'block' })), 'block');
    assert.equal(dispositionFor('network_api', policy({ network_api: 'nonsense' })), 'require-approval');
  });

  it('does not take a blanket allow for an answer, unless unrestricted', () => {
    const gate = policy({ command_execution: 'allow' });
    assert.equal(effectiveDisposition('command_execution', gate), 'require-approval');
    assert.equal(effectiveDisposition('command_execution', gate, { allowUnrestricted: true }), 'allow');
    assert.equal(effectiveDisposition('command_execution', gate, { allowUnrestricted: 'yes' }), 'require-approval');
    assert.equal(effectiveDisposition('exempt', gate), 'allow');
  });

  it('reads only the policy’s own rules', () => {
    const inherited = policy(Object.create({ network_api: 'allow' }));
    assert.equal(effectiveDisposition('network_api', inherited, { allowUnrestricted: true }), 'require-approval');
  });
});

/** A gate that records what it was asked, in order. */
function recorder({ status = 'approved', earlier = null, ...without } = {}) {
  const calls = [];
  let found = earlier;
  const gate = {
    ...policy({}),
    createApprovalRequest: (decision, args) => {
      calls.push(['create', decision, args]);
      found = { id: 'a1', status };
      return { id: 'a1' };
    },
    findApprovalByDedupeKey: async (key) => {
      calls.push(['find', key]);
      return found;
    },
    pauseForApproval: async (info) => {
      calls.push(['pause', info]);
    },
    markApprovalCompleted: async (id) => {
      calls.push(['complete', id]);
    },
    ...without,
  };
  return { gate, calls, names: () => calls.map(([name]) => name) };
}

const request = { category: 'command_execution', toolName: 'Run', dedupeKey: 'k', args: { command: 'ls' } };

describe('runApprovalForCategory', () => {
  it('creates, pauses, looks again, marks, and allows only what is approved', async () => {
    const { gate, calls, names } = recorder();
    assert.equal(await runApprovalForCategory(gate, request), 'allow');
    assert.deepEqual(names(), ['find', 'create', 'pause', 'find', 'complete']);
    const decision = {
      disposition: 'require-approval', category: 'command_execution', toolName: 'Run', approvalDedupeKey: 'k',
    };
    assert.deepEqual(calls[1].slice(1), [decision, { command: 'ls' }]);
    assert.deepEqual(calls[2][1], { approvalRequestId: 'a1', decision });
    assert.equal(calls[4][1], 'a1');
  });

  it('marks a denied one, too', async () => {
    for (const status of ['denied', 'pending', 'completed']) {
      const { gate, names } = recorder({ status });
      assert.equal(await runApprovalForCategory(gate, request), 'deny');
      assert.equal(names().at(-1), 'complete');
    }
  });

  it('uses an earlier approval once, marking it first', async () => {
    const { gate, calls, names } = recorder({ earlier: { id: 'old', status: 'approved' } });
    assert.equal(await runApprovalForCategory(gate, request), 'allow');
    assert.deepEqual(names(), ['find', 'complete']);
    assert.equal(calls[1][1], 'old');
  });

  it('does not reuse an approval that it cannot mark', async () => {
    const { gate, names } = recorder({ earlier: { id: 'old', status: 'approved' }, markApprovalCompleted: undefined });
    await runApprovalForCategory(gate, request);
    assert.deepEqual(names(), ['find', 'create', 'pause', 'find']);
  });

  it('lets an earlier denial stand without using it up', async () => {
    const { gate, names } = recorder({ earlier: { id: 'old', status: 'denied' } });
    assert.equal(await runApprovalForCategory(gate, request), 'deny');
    assert.deepEqual(names(), ['find']);
  });

  it('leaves no request behind that nobody could wait for', async () => {
    for (const absent of ['pauseForApproval', 'findApprovalByDedupeKey']) {
      const { gate, names } = recorder({ [absent]: undefined });
      assert.equal(await runApprovalForCategory(gate, request), 'deny');
      assert.ok(!names().includes('create'));
    }
    assert.equal(await runApprovalForCategory({}, request), 'deny');
  });

  it('falls back to the dedupe key where the request has no id', async () => {
    const { gate, calls } = recorder();
    gate.createApprovalRequest = () => ({ id: 7 });
    await runApprovalForCategory(gate, request);
    assert.equal(calls.find(([name]) => name === 'pause')[1].approvalRequestId, 'k');
  });

  it('denies whatever goes wrong', async () => {
    for (const name of ['createApprovalRequest', 'findApprovalByDedupeKey', 'pauseForApproval', 'markApprovalCompleted']) {
      const { gate } = recorder();
      gate[name] = () => {
        throw new Error('no');
      };
      assert.equal(await runApprovalForCategory(gate, request), 'deny', name);
    }
  });
});

describe('resolvePermission', () => {
  const toolCall = { toolCallId: 't1', title: 'ls -l', kind: 'execute', rawInput: { command: 'ls' } };

  it('denies everything without a gate or a policy, reading included', async () => {
    assert.deepEqual(await resolvePermission({ ...toolCall, kind: 'read' }, OPTIONS, undefined), selected('no'));
    assert.deepEqual(await resolvePermission({ ...toolCall, kind: 'read' }, OPTIONS, {}), selected('no'));
    assert.deepEqual(await resolvePermission(toolCall, [], undefined), cancelled);
  });

  it('lets reading pass under a policy, and nothing that is not understood', async () => {
    const { gate } = recorder();
    assert.deepEqual(await resolvePermission({ ...toolCall, kind: 'read' }, OPTIONS, gate), selected('once'));
    assert.deepEqual(await resolvePermission({ ...toolCall, kind: 'other' }, OPTIONS, gate), selected('no'));
    assert.deepEqual(await resolvePermission(null, OPTIONS, gate), selected('no'));
  });

  it('asks under a key of call, category and title', async () => {
    const { gate, calls } = recorder();
    assert.deepEqual(await resolvePermission(toolCall, OPTIONS, gate), selected('once'));
    assert.equal(calls[0][1], 't1|command_execution|ls -l');
  });

  it('reaches the pause within two awaits', async () => {
    const { gate, names } = recorder();
    let release;
    gate.pauseForApproval = (info) => {
      names();
      gate.paused = info;
      return new Promise((resolve) => {
        release = resolve;
      });
    };
    const answer = resolvePermission(toolCall, OPTIONS, gate);
    await Promise.resolve();
    await Promise.resolve();
    assert.equal(gate.paused?.approvalRequestId, 'a1');
    release();
    assert.deepEqual(await answer, selected('once'));
  });

  it('blocks what the policy blocks without asking', async () => {
    const { gate, names } = recorder();
    gate.permissionPolicy.rules.command_execution = 'block';
    assert.deepEqual(await resolvePermission(toolCall, OPTIONS, gate), selected('no'));
    assert.deepEqual(names(), []);
  });
});

describe('questions of one key', () => {
  /** A gate whose approvals a person gives; of one key there is one record, as hosts have it. */
  function desk() {
    /** @type {Map<string, any>} */
    const records = new Map();
    /** @type {Array<(status: string) => void>} */
    const waiting = [];
    let asked = 0;
    const gate = {
      ...policy({ command_execution: 'require-approval' }),
      findApprovalByDedupeKey: async (/** @type {string} */ key) => records.has(key) ? { ...records.get(key) } : undefined,
      async createApprovalRequest(/** @type {any} */ { approvalDedupeKey: key }) {
        asked++;
        if (records.get(key)?.status !== 'pending') records.set(key, { id: `r${asked}`, key, status: 'pending' });
        return records.get(key);
      },
      pauseForApproval: (/** @type {any} */ { decision }) =>
        new Promise((/** @type {(value?: any) => void} */ resolve) => {
          waiting.push((status) => {
            records.get(decision.approvalDedupeKey).status = status;
            resolve();
          });
        }),
      async markApprovalCompleted(/** @type {string} */ id) {
        for (const record of records.values()) if (record.id === id) record.status = 'completed';
      },
    };
    return { gate, answer: (/** @type {string} */ status) => waiting.shift()?.(status), asked: () => asked, waiting: () => waiting.length };
  }
  const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const question = (/** @type {string} */ command) => ({ toolCallId: 't', kind: 'execute', title: 'run', rawInput: { command } });

  it('are asked one after the other, so that one approval allows one call', async () => {
    const { gate, answer, asked, waiting } = desk();
    const answers = ['ls', 'rm -rf /', 'curl'].map((command) => resolvePermission(question(command), OPTIONS, gate));
    await turn();
    assert.deepEqual([asked(), waiting()], [1, 1], 'the second waits for the first');
    answer('approved');
    assert.deepEqual(await answers[0], selected('once'));
    await turn();
    assert.deepEqual([asked(), waiting()], [2, 1]);
    answer('denied');
    assert.deepEqual(await answers[1], selected('no'));
    await turn();
    answer('denied');
    assert.deepEqual(await answers[2], selected('no'));
  });

  it('that nobody waits for any more hold up none, and use no approval up', async () => {
    const { gate, answer, asked, waiting } = desk();
    const first = new AbortController();
    const waits = new AbortController();
    const withdrawn = resolvePermission(question('ls'), OPTIONS, gate, { signal: first.signal });
    const never = resolvePermission(question('ls'), OPTIONS, gate, { signal: waits.signal });
    const next = resolvePermission(question('ls'), OPTIONS, gate, { signal: new AbortController().signal });
    await turn();
    assert.deepEqual([asked(), waiting()], [1, 1]);
    waits.abort();
    assert.deepEqual(await never, selected('no'));
    first.abort();
    assert.deepEqual(await withdrawn, selected('no'));
    await turn();
    assert.deepEqual([asked(), waiting()], [2, 2], 'the next is asked although the host never answered the first');
    answer('approved');
    await turn();
    answer('approved');
    assert.deepEqual(await next, selected('once'));
    assert.deepEqual(await resolvePermission(question('ls'), OPTIONS, gate, { signal: AbortSignal.abort() }), selected('no'));
  });

  it('of other keys, and of other gates, do not wait', async () => {
    const one = desk();
    const other = desk();
    const open = [
      resolvePermission(question('a'), OPTIONS, one.gate),
      resolvePermission({ ...question('b'), toolCallId: 'u' }, OPTIONS, one.gate),
      resolvePermission(question('c'), OPTIONS, other.gate),
    ];
    await turn();
    assert.deepEqual([one.waiting(), other.waiting()], [2, 1]);
    for (const { answer } of [one, one, other]) answer('approved');
    assert.deepEqual(await Promise.all(open), [selected('once'), selected('once'), selected('once')]);
  });

  it('go on after a gate that throws', async () => {
    const gate = { ...policy({}), createApprovalRequest: () => { throw new Error('no desk'); }, pauseForApproval() {}, async findApprovalByDedupeKey() {} };
    const answers = [1, 2, 3].map(() => resolvePermission(question('a'), OPTIONS, /** @type {any} */ (gate)));
    assert.deepEqual(await Promise.all(answers), [selected('no'), selected('no'), selected('no')]);
  });
});

'use strict';

// A command that is allowed when its agent has been killed does not start.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');
const { activeProcessCount, killAllProcesses } = require('../..');
const { scripted } = require('../support/scripted.js');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'late-commands-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** @type {Array<[string, (client: import('../../types/client').AcpClient) => unknown]>} */
const ENDS = [['killAllProcesses()', () => killAllProcesses()], ['client.kill()', (client) => client.kill()]];

for (const [name, kill] of ENDS) {
  test(`an approval after ${name} starts nothing`, { skip: process.platform === 'win32' && 'the command is a shell script' }, async () => {
    for (let round = 0; round < 10; round++) {
      const late = path.join(folder, 'late');
      /** @type {() => void} */
      let asked = () => {};
      /** @type {(value: boolean) => void} */
      let approve = () => {};
      const question = new Promise((resolve) => { asked = () => resolve(undefined); });
      const client = await scripted(
        [
          { do: 'initialize' }, { do: 'session_new' }, { do: 'prompt_begin' },
          {
            do: 'request', as: 'late', method: 'terminal/create',
            params: { sessionId: 's1', command: '/bin/sh', args: ['-c', `echo x > ${late}; sleep 300`] },
          },
          { do: 'sleep', ms: 100_000 },
        ],
        {
          terminal: {
            approve: () => {
              asked();
              return new Promise((resolve) => { approve = resolve; });
            },
          },
        },
      );
      const session = await client.newSession({ cwd: folder });
      const turn = assert.rejects(session.prompt('x'), { code: 'client_closed' });
      await question;
      kill(client);
      approve(true);
      await turn;
      await client.close();
      while (activeProcessCount() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.ok(!fs.existsSync(late), 'the command has run');
    }
  });
}

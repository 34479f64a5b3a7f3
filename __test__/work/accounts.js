'use strict';

// What the kernel says of this process and its agents. Linux only.

const fs = require('node:fs');
const { AcpRuntimeAdapter } = require('../..');
const { flood } = require('../support/fake-agent');

const skip = process.platform !== 'linux' && 'the accounts of processes are in /proc, which only Linux has';

/** Bytes that a process has written so far. @param {number} pid */
const written = (pid) => Number(/^wchar: (\d+)$/m.exec(fs.readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);

/** Open descriptors and threads of this process. */
const held = () => ({
  descriptors: fs.readdirSync('/proc/self/fd').length,
  threads: fs.readdirSync('/proc/self/task').length,
});

/** The direct children of this process that belong to a program. @param {string} program */
function children(program) {
  return fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)).map(Number).filter((pid) => {
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return parent === process.pid && fs.readlinkSync(`/proc/${pid}/exe`) === program;
    } catch {
      return false; // it ended meanwhile
    }
  });
}

/** Looks in a row without a change after which a process counts as still, 20 ms apart: a busy machine may let it wait. */
const STILL = 30;

/**
 * Stops this thread, as a host does that computes, until processes have written nothing more for a while. Says how much
 * each has written. Those that say the same are still only when all of them have written the same.
 *
 * @param {number[]} pids
 */
function blockUntilStill(pids) {
  const until = Date.now() + 30_000;
  const look = () => pids.map(written);
  for (let last = look(), still = 0; still < STILL; ) {
    if (Date.now() > until) throw new Error(`still writing: ${last}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    const now = look();
    still = now.join() === last.join() && new Set(now).size === 1 ? still + 1 : 0;
    last = now;
  }
  return look();
}

/**
 * A session with an agent that answers each prompt with that many texts.
 *
 * @param {number} count
 * @param {(text: string) => void} onText
 */
async function flooded(count, onText) {
  const { command, args } = flood({ kind: 'text', count });
  const adapter = new AcpRuntimeAdapter({ acpBinaryPath: command, acpArgs: args });
  const { session } = await adapter.createSession({ cwd: process.cwd(), systemPrompt: '', onText });
  return {
    program: fs.realpathSync(command),
    prompt: () => adapter.promptWithFallback(session, 'go'),
    close: () => adapter.dispose(session),
  };
}

module.exports = { skip, written, held, children, blockUntilStill, flooded };

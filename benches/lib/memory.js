'use strict';

// Resident memory and descriptors of this process, from the kernel's own accounts. Linux only where it says so.

const { readFileSync, readdirSync, readlinkSync, writeFileSync } = require('node:fs');

/** True where the accounts that P7 and P11 need exist. */
const hasAccounts = process.platform === 'linux';

/** Resident memory now, in bytes. */
function resident() {
  return process.memoryUsage.rss();
}

/** Starts a new peak. Where the kernel cannot, the peak stays that of the whole process. */
function resetPeak() {
  if (hasAccounts) writeFileSync('/proc/self/clear_refs', '5');
}

/** The most resident memory since `resetPeak`, in bytes. */
function peak() {
  if (!hasAccounts) return process.resourceUsage().maxRSS * 1024;
  const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  if (!line) throw new Error('the kernel reports no peak of resident memory');
  return Number(line[1]) * 1024;
}

/** Open descriptors of this process that are pipes, sockets or files. */
function descriptors() {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) !== '/proc/self/fd';
    } catch {
      return false; // the descriptor of the listing itself
    }
  }).length;
}

/** Threads of this process. */
function threads() {
  return readdirSync('/proc/self/task').length;
}

/** Bytes that all descendants of this process have written so far, or nothing where the kernel does not tell. */
function writtenByChildren() {
  if (!hasAccounts) return undefined;
  let bytes = 0;
  for (const pid of descendants(process.pid)) {
    const line = /^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'));
    if (line) bytes += Number(line[1]);
  }
  return bytes;
}

/**
 * @param {number} root
 * @returns {number[]}
 */
function descendants(root) {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
    } catch {
      // it ended meanwhile
    }
  }
  const found = [];
  const open = [root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    for (const child of children.get(pid) ?? []) {
      found.push(child);
      open.push(child);
    }
  }
  return found;
}

module.exports = { hasAccounts, resident, resetPeak, peak, descriptors, threads, writtenByChildren };

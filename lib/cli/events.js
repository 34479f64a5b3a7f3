'use strict';

/** @typedef {import('./terminal').Terminal} Terminal */

const PLAN_MARKS = new Map([['completed', '✓'], ['in_progress', '▸'], ['pending', '·']]);

/**
 * Shows one event of a turn.
 *
 * @param {Terminal} terminal
 * @param {any} event
 * @param {boolean} streamed Whether the answer is written as it comes.
 * @returns {boolean} False when the reader of the answer is slow.
 */
function showEvent(terminal, event, streamed) {
  switch (event.type) {
    case 'agent_message_chunk':
      if (!streamed) break;
      if (event.content?.type === 'text') return terminal.answer(event.content.text);
      terminal.remark(`[${event.content?.type}]`);
      break;
    case 'agent_thought_chunk':
      if (event.content?.type === 'text') terminal.thought(event.content.text);
      break;
    case 'tool_call':
      terminal.remark(`[tool] ${event.title}`);
      break;
    case 'tool_call_update':
      // Only how it ended is news; that it began was said.
      if (event.status === 'completed' || event.status === 'failed') terminal.remark(`[tool] ${event.status}`);
      break;
    case 'plan':
      for (const { status, content } of event.entries ?? []) terminal.remark(`[plan] ${PLAN_MARKS.get(status) ?? ' '} ${content}`);
      break;
    case 'notice':
      terminal.remark(`[${event.severity}] ${event.title}`);
      break;
    default:
  }
  terminal.wait('working');
  return true;
}

module.exports = { showEvent };

'use strict';

/**
 * Hands one decoded update to the handler that it belongs to: what a client without callbacks of its own has to do.
 *
 * @param {any} update
 * @param {string} tag
 * @param {import('./index').Handlers} handlers
 */
function dispatch(update, tag, handlers) {
  switch (tag) {
    case 'agent_message_chunk':
      if (update.content.type === 'text') handlers.onText(update.content.text);
      break;
    case 'agent_thought_chunk':
      if (update.content.type === 'text') handlers.onThinking(update.content.text);
      break;
    case 'tool_call':
      handlers.onToolStart(update.title, update.rawInput);
      break;
    case 'tool_call_update':
      if (update.status === 'completed' || update.status === 'failed') {
        handlers.onToolEnd(update.toolCallId, update.status === 'failed', update.rawOutput);
      } else {
        handlers.onOther();
      }
      break;
  }
}

module.exports = { dispatch };

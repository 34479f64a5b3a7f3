'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { resolveRuntimeSettings } = require('../../lib/fusion/presets.js');
const { placeSystemPrompt } = require('../../lib/fusion/system-prompt.js');

const advertised = (mode) => ({ sessionCapabilities: { systemPrompt: mode === undefined ? {} : { mode } } });
const place = (settings, capabilities) => placeSystemPrompt('Be brief.', resolveRuntimeSettings(settings), capabilities);
const content = [{ type: 'text', text: 'Be brief.' }];

describe('the system prompt', () => {
  it('takes the protocol’s field where the agent has it', () => {
    assert.deepEqual(place({}, advertised({ override: {} })), { systemPrompt: { mode: 'override', content } });
    assert.deepEqual(place({}, advertised()), { systemPrompt: { mode: 'append', content } });
    assert.deepEqual(place({ acpPreset: 'grok' }, advertised()), { systemPrompt: { mode: 'append', content } });
  });

  it('goes where the preset’s agent reads it, else into the first prompt', () => {
    assert.deepEqual(place({ acpPreset: 'grok' }, {}), { meta: { systemPromptOverride: 'Be brief.' } });
    assert.deepEqual(place({}, {}), { text: 'Be brief.' });
    assert.deepEqual(place({ acpSystemPromptVia: 'field' }, {}), { text: 'Be brief.' });
  });

  it('goes where the setting says', () => {
    assert.deepEqual(place({ acpSystemPromptVia: 'text' }, advertised()), { text: 'Be brief.' });
    assert.deepEqual(place({ acpSystemPromptVia: 'meta', acpSystemPromptMeta: 'sys' }, {}), { meta: { sys: 'Be brief.' } });
    assert.deepEqual(place({ acpSystemPromptVia: 'none' }, advertised()), {});
  });

  it('is not sent when it is empty', () => {
    for (const empty of ['', '  \n', undefined]) assert.deepEqual(placeSystemPrompt(empty, resolveRuntimeSettings({}), {}), {});
  });
});

'use strict';

/** The runtime as JavaScript calls it: promises in, callbacks out. Protocol rules live below, in Rust. */

const { killAll, activeCount, Kind } = require('./hub.js');
const { launch, ask, probe, encodePrompt } = require('./client.js');
const { elicitationProblems } = require('./elicitation.js');
const { launchOptions, turnOptions, closeOptions } = require('./options.js');

module.exports = { launch, ask, probe, encodePrompt, killAll, activeCount, Kind, elicitationProblems, launchOptions, turnOptions, closeOptions };

'use strict';

const { probeAcpReadiness } = require('./lib/fusion/probe.js');

module.exports = { probeAcpReadiness };

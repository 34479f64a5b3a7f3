'use strict';

const errors = require('./lib/errors.js');
const { AcpClient } = require('./lib/client/client.js');
const { AcpSession } = require('./lib/client/session.js');
const { defaultAgentPath } = require('./lib/default-agent/index.js');
const fusion = require('./lib/fusion/index.js');

const { fromNative, HOST_CODES, PROTOCOL_VERSION, ...classes } = errors;

module.exports = { ...classes, AcpClient, AcpSession, defaultAgentPath, ...fusion };

'use strict';

const { plugin } = require('./lib/fusion/plugin.js');

// Loaders look for `default`; those that do not, find the plugin itself.
module.exports = Object.defineProperty(plugin, 'default', { value: plugin, enumerable: false });

// CommonJS without interoperability helpers: `require` gives the plugin itself, and its `default`.
import plugin = require('fusion-acp-runtime/plugin');
import type { FusionPlugin } from 'fusion-acp-runtime';

export const loaded: FusionPlugin = plugin;
export const same: FusionPlugin = plugin.default;

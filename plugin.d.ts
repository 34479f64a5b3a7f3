import type { FusionPlugin } from './types/plugin.js';

/** The plugin object; also its own `default`, for loaders that look for one. */
declare const plugin: FusionPlugin & { readonly default: FusionPlugin };
export = plugin;

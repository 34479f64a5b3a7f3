import type { FusionPlugin } from './types/plugin.js';

declare const plugin: FusionPlugin;
export default plugin;

export * from './types/probe.js';

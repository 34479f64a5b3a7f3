export * from './probe.js';

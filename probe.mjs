import probe from './probe.js';

export const { probeAcpReadiness } = probe;

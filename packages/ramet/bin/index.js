import './needs-node.js';

export * from '../dist/sdk/index.js';

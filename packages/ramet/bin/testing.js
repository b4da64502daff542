import './needs-node.js';

export * from '../dist/testing/index.js';

import './needs-node.js';

export * from '../dist/emulator/index.js';

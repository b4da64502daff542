require('./needs-node.cjs')();

module.exports = require('../dist/emulator/index.js');

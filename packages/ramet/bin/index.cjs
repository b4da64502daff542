require('./needs-node.cjs')();

module.exports = require('../dist/sdk/index.js');

require('./needs-node.cjs')();

module.exports = require('../dist/testing/index.js');

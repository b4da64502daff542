/**
 * Called before each entry of the library loads. An older Node lacks what the rest takes for granted, and would fail on
 * that instead; so nothing here is newer than what such a Node can read.
 */
const NEEDED = 24;

module.exports = function refuseOldNode() {
  const { node } = process.versions;
  if (Number(node.split('.')[0]) >= NEEDED) return;
  const error = new Error(`ramet needs Node ${NEEDED} or newer, this is ${node}: install Node ${NEEDED}`);
  // One line says it all: where it is thrown helps nobody.
  error.stack = `Error: ${error.message}`;
  throw error;
};

import refuseOldNode from './needs-node.cjs';

// A module that fails does so for everybody who imports it.
refuseOldNode();

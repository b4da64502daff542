/** Names the bytes of one content block, tool schema or file in the block store. */
export type Digest = string;

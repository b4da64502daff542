/** Bundles the command and the library entries into `dist/`. `npm install` runs it through `prepare`. */
export {};

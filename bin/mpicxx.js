#!/usr/bin/env node
// `mpicxx` by Banyan, for those who ask for it: npx -p banyan mpicxx
process.argv.splice(2, 0, "c++");
await import("./banyan.js");

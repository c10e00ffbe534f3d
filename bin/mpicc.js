#!/usr/bin/env node
// `mpicc` by Banyan, for those who ask for it: npx -p banyan mpicc
process.argv.splice(2, 0, "cc");
await import("./banyan.js");

#!/usr/bin/env node
// `mpirun` and `mpiexec` by Banyan, for those who ask for it: npx -p banyan mpirun
process.argv.splice(2, 0, "run");
await import("./banyan.js");

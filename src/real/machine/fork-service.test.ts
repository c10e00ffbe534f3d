import { deepEqual } from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { forkService } from "./fork-service.ts";

test("X9 a service is a process that reads no certificates, and has the rest of the environment", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "fork-service-"));
  const before = process.env["NODE_EXTRA_CA_CERTS"];
  t.after(() => {
    rmSync(folder, { recursive: true });
    if (before === undefined) delete process.env["NODE_EXTRA_CA_CERTS"];
    else process.env["NODE_EXTRA_CA_CERTS"] = before;
  });
  process.env["NODE_EXTRA_CA_CERTS"] = join(folder, "certificates.crt");
  const file = join(folder, "service.cjs");
  writeFileSync(
    file,
    "const { NODE_EXTRA_CA_CERTS = null, PATH } = process.env; process.send({ NODE_EXTRA_CA_CERTS, PATH, words: process.argv.slice(2) }); process.disconnect();",
  );
  const child = forkService(file, ["a", "b"]);
  const [[said]] = await Promise.all([once(child, "message"), once(child, "exit")]);
  deepEqual(said, { NODE_EXTRA_CA_CERTS: null, PATH: process.env["PATH"], words: ["a", "b"] });
});

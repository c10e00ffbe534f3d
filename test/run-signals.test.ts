/** Whoever ends `banyan run`, and however: everything it started ends as well. Row M8. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { messages, program, Run, until } from "./harness.ts";
import { quietNow } from "./patience.ts";

const spin = program("spin.ts", `console.log("spinning"); for (;;);`);
const asleep = program("asleep.ts", `console.log("spinning"); setInterval(() => {}, 1000);`);

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  test(`M8: ${signal} ends the job in order, with code ${code}`, async () => {
    const run = new Run(["run", "-n", "4", "--nodes", "2", signal === "SIGINT" ? spin : asleep]);
    await run.printed("spinning", 4);
    run.child.kill(signal);
    const ended = await run.ended;
    assert.equal(ended.code, code);
    assert.match(
      messages(ended.stderr)[0]!,
      new RegExp(`^banyan: interrupted after \\d+\\.\\d\\d s by ${signal}; once more ends it at once$`),
    );
    run.assertNothingLeft();
  });
}

test("M8: a second Ctrl-C ends everything at once, stopped nodes included", async () => {
  const run = new Run(["run", "-n", "4", "--nodes", "2", spin]);
  await run.printed("spinning", 4);
  process.kill(run.nodePid(0), "SIGSTOP");
  run.child.kill("SIGINT");
  await until(() => run.stderr.includes("interrupted"), "the first one is heard");
  const againMs = quietNow();
  run.child.kill("SIGINT");
  const { code } = await run.ended;
  assert.equal(code, 130);
  assert(quietNow() - againMs < 1000, "at once");
  run.assertNothingLeft();
});

test("M8: Ctrl-C works while nobody reads the output", async () => {
  const path = program("flood-for-ever.ts", `for (;;) console.log("x".repeat(1000));`);
  const run = new Run(["run", "-n", "2", path], { stdin: "", readStdout: false });
  await new Promise((resolve) => run.child.stdout!.once("readable", resolve));
  run.child.kill("SIGINT");
  await new Promise((resolve) => run.child.once("exit", resolve));
  assert.equal(run.child.exitCode, 130);
  run.child.stdout!.destroy();
  run.assertNothingLeft();
});

test("M8: a dispatcher that is killed leaves no node, no helper and no folder behind", async () => {
  const temporary = dirname(program("temporary/placeholder", ""));
  const run = new Run(["run", "-n", "4", "--nodes", "2", spin], { env: { TMPDIR: temporary } });
  await run.printed("spinning", 4);
  assert.equal(readdirSync(temporary).length, 2, "the placeholder and the job's folder");
  const nodes = run.processes().filter(({ name }) => name.startsWith("banyan-node"));
  assert.deepEqual(nodes.map(({ name }) => name).sort(), ["banyan-node 0", "banyan-node 1"]);
  run.child.kill("SIGKILL");
  await run.ended;
  await until(() => run.processes().length === 0, "everything is gone", 2000);
  assert.deepEqual(readdirSync(temporary), ["placeholder"]);
});

test("M8: started by npx, it ends when npx is gone", async () => {
  // A shell in npx's place: it starts the command and is killed, which nobody tells the command.
  const run = new Run([spin], {
    stdin: "",
    env: { npm_command: "exec" },
    command: ["sh", "-c", `"${process.execPath}" bin/banyan.js run -n 2 "$0"; true`],
  });
  await run.printed("spinning", 2);
  run.child.kill("SIGKILL");
  await until(() => run.processes().length === 0, "everything is gone", 5000);
});

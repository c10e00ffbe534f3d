/**
 * Control links of real jobs that are cut, held, damaged and lied on, and real SIGKILLs of either side at every step of starting: the
 * job ends with a line or goes on, and nothing is left of it. `programs/meddler.mjs` stands between node and dispatcher.
 */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, messages, program, Run, until } from "./harness.ts";
import { longUnless, tries } from "./long.ts";
import { loadedMs, timeLimit } from "./patience.ts";

const limit = timeLimit(180_000);
const timeoutMs = 60_000;
const meddler = join(process.cwd(), "test/programs/meddler.mjs");

/** Rank 0 goes round with everybody until there was time for whatever is to happen. */
const talk = program(
  "talk.ts",
  `
  import { mpi } from "banyan";
  const { world } = mpi;
  const rounds = Number(process.argv[2]);
  const sum = new Int32Array(1);
  for (let round = 0; round < rounds; round++) {
    sum[0] = world.allreduce(Int32Array.of(1), "sum")[0]!;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  console.log("rank " + world.rank + " counts " + sum[0]);
`,
);

interface Meddled {
  readonly plan: string;
  readonly protocol?: string;
  readonly rounds?: number;
  readonly more?: readonly string[];
  readonly temporary?: string;
}

function start({ plan, protocol = "none", rounds = 300, more = [], temporary }: Meddled): Run {
  const command = `${process.execPath} ${meddler} ${plan}`;
  const words = ["run", "-n", "4", "--nodes", "2", "--protocol", protocol, "--node-command", command, ...more];
  const env = temporary === undefined ? {} : { TMPDIR: temporary };
  return new Run([...words, talk, `${rounds}`], { stdin: "", timeoutMs, env });
}

const counts = [0, 1, 2, 3].map((rank) => `rank ${rank} counts 4`);

async function allCount(run: Run): Promise<string> {
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.deepEqual(stdout.split("\n").filter(Boolean).sort(), counts, stderr);
  run.assertNothingLeft();
  return stderr;
}

test("X7: the secret of a job is in no argument and no environment, and a node's input is empty", limit, async () => {
  const stderr = await allCount(start({ plan: "2:look:0", rounds: 1 }));
  assert.match(stderr, /^before the handshake: secret hidden, input \/dev\/null$/m);
});

/** What a node says in the handshake, and until its ranks run. */
const handshakeBytes = 88;
const runningBytes = 450;
/** A silent node that is seen at work is waited for twenty times as long: a little patience is a shorter test. */
const littlePatience = ["--patience", `${Math.min(500, loadedMs(200))}`];
const losses: Record<string, { readonly plan: string; readonly why: string; readonly more?: readonly string[] }> = {
  "a link that is cut while the node lives": { plan: `2:cut:${runningBytes}`, why: "killed by SIGKILL" },
  "a link over which nothing comes any more": {
    plan: `2:hold:${runningBytes}`,
    why: "no sign of life for .* s",
    more: littlePatience,
  },
  "a damaged frame": {
    plan: `2:flip:${handshakeBytes + 3}`,
    why: 'its link to the dispatcher was cut: it sent a message "[a-z-]+" of \\d+ bytes, and 4194304 are allowed',
  },
};
const [firstLoss] = Object.keys(losses);
for (const [what, { plan, why, more = [] }] of Object.entries(losses)) {
  test(`V1: ${what} is the end of that node, and a line names it and the reason`, limit, async () => {
    const run = start({ plan, rounds: 100_000, more });
    const { code, stderr } = await run.ended;
    assert.notEqual(code, 0, stderr);
    assert.match(
      messages(stderr).join("\n"),
      new RegExp(`^banyan: node 1 \\(ranks 2 to 3\\) failed after [^:]*: ${why}$`),
    );
    run.assertNothingLeft();
  });

  const one = { ...limit, ...longUnless(what === firstLoss) };
  test(`L5: ${what} is survived as any loss of a node`, one, async () => {
    const stderr = await allCount(start({ plan, protocol: "logging", rounds: more.length > 0 ? 4000 : 1000, more }));
    assert.match(
      stderr,
      new RegExp(`banyan: node 1 \\(ranks 2 to 3\\) failed after [^:]*: ${why}; it is started again`),
    );
  });
}

const steps: Record<string, string> = {
  "has called and said nothing": "2:hold:0",
  "has said half a hello": "2:hold:40",
  "has said hello and heard no answer": "2:mute:40",
  "is welcome and not set up": "2:mute:88",
  "has half of its setup": "2:mute:300",
  "is set up and was not heard": "2:hold:88",
};
for (const [step, plan] of Object.entries(steps)) {
  const dispatcherLimit = { ...limit, ...longUnless(plan === "2:hold:0" || plan === "2:mute:88") };
  test(
    `V1: the dispatcher is killed when a node ${step}: nothing is left, not even a folder`,
    dispatcherLimit,
    async () => {
      const temporary = folderOf(`killed-${plan.replaceAll(":", "-")}`);
      mkdirSync(temporary);
      const run = start({ plan, temporary });
      await until(() => run.stderr.includes("meddled"), "the node has come to that step");
      run.child.kill("SIGKILL");
      await run.ended;
      await until(() => run.processes().length === 0, "no process of the job is left");
      assert.deepEqual(
        readdirSync(temporary).filter((name) => name.startsWith("banyan-")),
        [],
      );
    },
  );

  const nodeLimit = { ...limit, ...longUnless(plan === "2:mute:40") };
  test(`L5: a node is killed when it ${step}: another takes its place`, nodeLimit, async () => {
    const run = start({ plan, protocol: "logging" });
    await until(() => run.stderr.includes("meddled"), "the node has come to that step");
    // The command is the first of its process group.
    process.kill(-Number(/meddled in process (\d+)/.exec(run.stderr)![1]), "SIGKILL");
    const stderr = await allCount(run);
    assert.match(
      stderr,
      /banyan: node 1 \(ranks 2 to 3\) failed after [^:]*: (killed by SIGKILL|no sign of life .*); it is started again/,
    );
  });
}

for (const direction of ["from", "to"]) {
  for (let seed = 1; seed <= tries(3, 40); seed++) {
    test(
      `X7: messages ${direction} a node that are changed on their way harm nobody but the job; seed ${seed}`,
      limit,
      async () => {
        const more = ["--timeout", "20s"];
        const run = start({ plan: `2:${direction}:${seed}`, more, rounds: 20 });
        const { code, signal, stderr } = await run.ended;
        assert.equal(signal, null, stderr);
        // Lies that are well formed may be believed: then the job ends as if they were true, or by its time.
        assert.notEqual(code, null);
        assert.doesNotMatch(
          stderr,
          /Banyan is wrong|TypeError|RangeError|AssertionError|\n {4}at .*(cli|launch|agent)\.cjs/,
        );
        run.assertNothingLeft();
      },
    );
  }
}

/**
 * Nodes that join from elsewhere: they see none of the job's files, and nobody can open a connection to them, as on other machines behind a
 * firewall. Row V9.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type JobEvent, launch } from "banyan";
import { folderOf, newFolder, program } from "./harness.ts";
import { long } from "./long.ts";
import { elsewhere, inside, namespacesRefusal, runInside, scenarioWanted } from "./namespaces.ts";
import { patientMs, timeLimit } from "./patience.ts";

interface Told {
  readonly code: number;
  readonly lines: readonly string[];
  readonly said: readonly string[];
  /** What became of a connection to a node. */
  readonly inwards: string;
  readonly failed?: string;
}

/** Sees nothing of the dispatcher's files, and is told what it needs over the link: program, and the state that it has saved. */
const rounds = (): string => `
  import { mpi } from "banyan";
  import { existsSync, readdirSync } from "node:fs";
  const files = readdirSync(${JSON.stringify(process.env["TMPDIR"])}).filter((name) => name !== "own");
  console.log(existsSync(process.argv[1]!) || files.length > 0 ? "sees" : "sees nothing");
  const state = mpi.restored<{ round: number; sum: number }>() ?? { round: 0, sum: 0 };
  console.error("begins at " + state.round);
  for (; state.round < 60; state.round++) {
    if (state.round % 20 === 10) mpi.checkpoint(state);
    state.sum += mpi.world.allreduce(Int32Array.of(mpi.world.rank + state.round), "sum")[0]!;
  }
  console.log("sum " + state.sum);
`;

/** Nothing comes back from a machine that is closed; an open one would refuse at once. */
function callInwards(host: string): Promise<string> {
  return new Promise((answer) => {
    const socket = connect({ host, port: 4711 });
    const over = (what: string): void => {
      clearTimeout(silence);
      socket.destroy();
      answer(what);
    };
    const silence = setTimeout(() => over("silence"), 500);
    socket.on("connect", () => over("connected"));
    socket.on("error", ({ code }: NodeJS.ErrnoException) => over(code ?? "error"));
  });
}

/** The secret reaches the node's machine by other ways than the job's. */
function startNode(command: readonly string[], place: string, secretFile: string): void {
  const launcher = resolve("bin/banyan.js");
  const script = `umask 077; printf %s "$SECRET" > "$TMPDIR/secret"; exec "${process.execPath}" "${launcher}" node --join ${place} --secret-file "$TMPDIR/secret"`;
  const [file, ...words] = [...command, "sh", "-c", script];
  const env = { ...process.env, SECRET: readFileSync(secretFile, "utf8") };
  spawn(file!, words, { env, stdio: ["ignore", "ignore", "inherit"] });
}

async function joining(): Promise<Told> {
  const { host, nodeCommand } = elsewhere({ areClosed: true });
  const secretFile = join(newFolder("secrets"), "secret");
  const job = launch(program("rounds.ts", rounds()), {
    ranks: 4,
    nodes: 2,
    protocol: "channel-memory",
    host,
    join: { only: true, secretFile },
    faults: "kill node 1 at checkpoint 2 of set 2 after",
    jobFolder: folderOf("job"),
    timeoutMs: patientMs(100_000),
  });
  const [lines, said]: [string[], string[]] = [[], []];
  let inwards: Promise<string> | undefined;
  const heard = (event: JobEvent): void => {
    if (event.kind === "line") lines.push(`${event.rank} ${event.text}`);
    if (event.kind !== "note" && event.kind !== "node-lost" && event.kind !== "failed") return;
    said.push(event.message);
    const [, place] = /^waits for 2 nodes to join: banyan node --join (\S+) /.exec(event.message) ?? [];
    if (place !== undefined) for (let node = 0; node < 2; node++) startNode(nodeCommand, place, secretFile);
    const [, address] = / at (\S+) has joined: 2 of 2 /.exec(event.message) ?? [];
    if (address !== undefined) inwards = callInwards(address);
  };
  for await (const event of job) heard(event);
  return { code: (await job.done).code, lines, said, inwards: (await inwards) ?? "nobody joined" };
}

function defineTests(): void {
  const refusal = namespacesRefusal({ areClosed: true });
  const options = { ...timeLimit(120_000), ...long, ...(refusal === null ? {} : { skip: refusal }) };
  test(
    "V9: nodes behind a firewall join, run, are lost and come back, by outgoing connections alone",
    options,
    async () => {
      const { code, lines, said, inwards, failed } = await inside<Told>(
        fileURLToPath(import.meta.url),
        "joining",
        100_000,
      );
      assert.equal(failed, undefined);
      assert.equal(code, 0, said.join("; "));
      assert.equal(inwards, "silence");
      const seen = new Set(lines.filter((line) => line.includes("sees")));
      assert.deepEqual(
        [...seen].sort(),
        [0, 1, 2, 3].map((rank) => `${rank} sees nothing`),
      );
      const sums = lines.filter((line) => line.includes("sum"));
      assert.equal(sums.length, 4, lines.join("; "));
      assert.equal(new Set(sums.map((line) => line.slice(2))).size, 1);
      assert(
        lines.some((line) => /^[23] begins at [135]0$/.test(line)),
        lines.join("; "),
      );
      assert(
        said.some((line) => line.includes("was given up and comes back: it is refused")),
        said.join("; "),
      );
    },
  );
}

if (scenarioWanted === undefined) defineTests();
else await runInside(joining);

/**
 * Files of a program whose rank is played by several replicas, of which one performs: the performer dies before, in the middle of or after
 * any call of the system, its successor too, and the files are those of a program that nothing happened to.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { longUnless } from "../../../test/long.ts";
import { PerformedChoices, type WaitFor } from "../../core/ft/performed-choices.ts";
import { OperationLog } from "../../core/ft/replication/performing/operation-log.ts";
import { filesOf } from "../../real/c-rank/node-files.ts";
import type { Files, OpenHow } from "../../wasi/ports.ts";
import { ReplayedFiles } from "./replayed-files.ts";
import { Crash, program } from "./testing/file-program.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-performed-")));
const nodeFiles = filesOf([{ name: ".", path: root }]);
after(() => rmSync(root, { recursive: true, force: true }));

const isLook = new Set(["resolve", "stat", "statOpen", "list", "readLink", "read", "close", "isReplayed"]);

/** Crashes at the step of that number: before a call, after half of a write, after a call. */
function crashing(steps: { left: number }): Files {
  return new Proxy(nodeFiles, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== "function" || isLook.has(String(name))) return member;
      return (...args: unknown[]) => {
        // A successor opens what its program has open, which changes nothing.
        if (name === "open" && !(args[1] as OpenHow).create) return Reflect.apply(member, target, args);
        if (steps.left-- === 0) throw new Crash("before");
        if (name === "write") {
          const [file, bytes, position] = args as Parameters<Files["write"]>;
          nodeFiles.write(file, bytes.subarray(0, bytes.length >> 1), position);
          if (steps.left-- === 0) throw new Crash("half");
        }
        const result = (member as (...args: unknown[]) => unknown)(...args);
        if (steps.left-- === 0) throw new Crash("after");
        return result;
      };
    },
  });
}

/** Carries the words of those that live. */
class Replicas {
  readonly logs: readonly OperationLog[];
  readonly #alive: boolean[];

  constructor(count: number) {
    const living = (1 << count) - 1;
    this.logs = Array.from({ length: count }, (_, replica) => new OperationLog({ replica, replicas: count, living }));
    this.#alive = this.logs.map(() => true);
  }

  wait: WaitFor = (isOver) => {
    while (!isOver()) assert(this.#carry(), "a program waits, and no word is on its way");
  };

  /** Words that it has said and that have not left are lost. */
  crash(replica: number): void {
    this.logs[replica]!.outbox.length = 0;
    this.#alive[replica] = false;
    for (const [other, log] of this.logs.entries()) if (this.#alive[other]) log.died(replica);
  }

  #carry(): boolean {
    let moved = false;
    for (const [from, { outbox }] of this.logs.entries()) {
      if (!this.#alive[from]) continue;
      for (const { to, word } of outbox.splice(0)) {
        if (this.#alive[to]) this.logs[to]!.take(from, word);
        moved = true;
      }
    }
    return moved;
  }
}

/** The replicas run one after the other, each until it crashes; the last one to its end. */
function play(name: string, crashes: readonly number[]): { tree: string[]; crashed: number } {
  const folder = join(root, name);
  mkdirSync(folder);
  const replicas = new Replicas(crashes.length + 1);
  let crashed = 0;
  for (const [replica, log] of replicas.logs.entries()) {
    const choices = new PerformedChoices(log, replicas.wait);
    const steps = { left: crashes[replica] ?? -1 };
    const files = crashing(steps);
    const beganMs = Date.now() - 1000;
    try {
      program(new ReplayedFiles({ files, choices, mayLeave: () => choices.mayChange(), beganMs }), folder);
      break;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      crashed++;
      replicas.crash(replica);
    }
  }
  const tree = readdirSync(folder)
    .sort()
    .map((file) => `${file}: ${readFileSync(join(folder, file), "utf8")}`);
  rmSync(folder, { recursive: true });
  return { tree, crashed };
}

const { tree: wanted } = play("plain", []);

test("X2 two replicas: the performer dies in any call, and the other one leaves the files of a program that nothing happened to", () => {
  for (let at = 0; ; at++) {
    const { tree, crashed } = play(`two-${at}`, [at]);
    assert.deepEqual(tree, wanted, `crash at step ${at}`);
    if (crashed === 0) {
      assert(at > 40, `${at} steps`);
      return;
    }
  }
});

for (const stride of [1, 7]) {
  test(
    `X2 three replicas: the performer and its successor die in any call, every ${stride}`,
    longUnless(stride === 7),
    () => {
      for (let one = 0; ; one += stride) {
        let crashes = 0;
        for (let other = 0; ; other += stride) {
          const { tree, crashed } = play(`three-${one}-${other}`, [one, other]);
          assert.deepEqual(tree, wanted, `crashes at steps ${one} and ${other}`);
          crashes = Math.max(crashes, crashed);
          if (crashed < 2) break;
        }
        if (crashes === 0) return;
      }
    },
  );
}

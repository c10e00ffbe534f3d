/** X3: an event logger that the system does not end, as where a disk does not answer. Real ones are killed in test/logging-logger.test.ts. */
import { deepEqual, equal } from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import { LoggerProcess } from "./logger-process.ts";
import type { FromLogger, LoggerSetup, ToLogger } from "./messages.ts";

/** A process of which only the test decides what it says, and whether it dies. */
class StubbornProcess extends EventEmitter {
  readonly heard: ToLogger[] = [];
  readonly kills: string[] = [];
  /** No process has this number, so no work of it is ever seen. */
  readonly pid = 2 ** 30;
  readonly exitCode = null;
  readonly signalCode = null;
  connected = true;
  isReferenced = true;

  send(message: ToLogger): boolean {
    this.heard.push(message);
    return true;
  }

  kill(signal: string): boolean {
    this.kills.push(signal);
    return true;
  }

  disconnect(): void {
    this.connected = false;
  }

  unref(): void {
    this.isReferenced = false;
  }

  say(message: FromLogger): void {
    this.emit("message", message);
  }

  get setup(): LoggerSetup | undefined {
    return this.heard.find((message) => message.kind === "setup");
  }
}

const patience = { patienceMs: 100, starvedPatienceMs: 200, startPatienceMs: 100, starvedStartPatienceMs: 200 };

function started() {
  const processes: StubbornProcess[] = [];
  const told: string[] = [];
  const logger = new LoggerProcess(
    {
      job: { id: "job", secret: new Uint8Array(32) },
      host: "127.0.0.1",
      patience,
      file: "/nowhere/event-log",
      endMsMax: 0,
      fork() {
        const child = new StubbornProcess();
        processes.push(child);
        return child as unknown as ChildProcess;
      },
    },
    {
      ready: ({ port }) => told.push(`ready at ${port}`),
      lost: (silentMs) => told.push(`lost after ${silentMs} ms`),
      troubled: (could, why) => told.push(`${could}: ${why}`),
      unable: (why) => told.push(`unable: ${why}`),
    },
  );
  const pass = (ms: number): void => {
    for (let at = 0; at < ms; at += 10) logger.tick(10);
  };
  return { logger, processes, told, pass };
}

describe("X3 an event logger that is killed and does not end", () => {
  it("is replaced, and its successor is told by the nodes, not by its file", async () => {
    const { logger, processes, told, pass } = started();
    const [first] = processes as [StubbornProcess];
    first.say({ kind: "ready", port: 1 });
    const end = logger.endOf(0);
    pass(120);
    deepEqual(first.kills, ["SIGKILL"]);
    equal(processes.length, 1, "until it has ended it may still write to its file");
    pass(120);
    const second = processes.find((process) => process !== first && process.setup !== undefined)!;
    equal(second.setup?.inherits, "nodes", "it may have acknowledged more than another could read");
    equal(first.connected, false, "should it go on, it finds nobody");
    equal(first.isReferenced, false, "it does not keep the dispatcher");
    first.say({ kind: "ready", port: 2 });
    deepEqual(told.slice(0, 1), ["ready at 1"]);
    equal(told.filter((text) => text.startsWith("lost after")).length, 1);
    second.say({ kind: "ready", port: 3 });
    second.say({ kind: "end-is", position: 7 });
    equal(await end, 7, "a question that was not answered is asked again");
    equal(logger.losses, 1);
    first.emit("exit");
    equal(logger.losses, 1, "that it ends at last is no loss");
    await logger.end();
  });

  it("does not keep a job that is over", async () => {
    const { logger, processes } = started();
    processes[0]!.say({ kind: "ready", port: 1 });
    await logger.end();
    deepEqual(processes[0]!.kills, ["SIGKILL"]);
    equal(processes[0]!.isReferenced, false);
  });

  it("one that ends when it is killed leaves its file to the next", () => {
    const { processes, pass } = started();
    const [first] = processes as [StubbornProcess];
    first.say({ kind: "ready", port: 1 });
    pass(120);
    first.emit("exit");
    equal(processes.at(-1)!.setup?.inherits, "file");
  });
});

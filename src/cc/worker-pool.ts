/**
 * The threads of the compile server. A job goes to an idle thread that has its tool loaded, else to a new thread, else to any
 * idle one; otherwise it waits. A job that is cancelled ends its thread, and so does a tool that crashes: the next one starts
 * with fresh memory.
 */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { ClangModules } from "./clang-modules.ts";
import type { Reply, ToolJob } from "./requests.ts";
import type { Tool, ToolWorkerData, WarmUp } from "./worker.ts";

interface Task {
  readonly job: ToolJob;
  readonly finish: (reply: Reply) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly tools: Set<Tool>;
  task: Task | undefined;
}

/** Templates nest deeply, and so do clang's calls. */
export const toolStackMb = 64;

interface WorkerPoolOptions {
  readonly modules: Promise<ClangModules>;
  readonly cacheFolder: string;
  readonly threadsMax: number;
}

export class WorkerPool {
  readonly #modules: Promise<ClangModules>;
  readonly #cacheFolder: string;
  readonly #threadsMax: number;
  readonly #threads = new Set<Thread>();
  readonly #waiting: Task[] = [];
  /** Threads that are starting; each will take a task. */
  #starting = 0;

  constructor({ modules, cacheFolder, threadsMax }: WorkerPoolOptions) {
    this.#modules = modules;
    this.#cacheFolder = cacheFolder;
    this.#threadsMax = threadsMax;
  }

  /** The number of unfinished jobs. */
  get busy(): number {
    return this.#waiting.length + [...this.#threads].filter(({ task }) => task !== undefined).length;
  }

  /** Never fails: failures are replies. The signal cancels the job; then no reply comes. */
  perform(job: ToolJob, signal: AbortSignal): Promise<Reply> {
    return new Promise((resolve) => {
      const task: Task = { job, finish: resolve };
      if (signal.aborted) return;
      signal.addEventListener("abort", () => this.#takeBack(task), { once: true });
      this.#waiting.push(task);
      this.#assign();
    });
  }

  /** Loads a tool while no job waits. */
  warmUp(tool: Tool): void {
    const ready = [...this.#threads].some(({ tools }) => tools.has(tool));
    if (ready || this.#threads.size + this.#starting >= this.#threadsMax) return;
    void this.#start().then((thread) => {
      tell(thread, { kind: "warm-up", tool });
      thread.tools.add(tool);
      this.#assign();
    });
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const task = this.#waiting[0]!;
      const tool = toolOf(task.job);
      const idle = [...this.#threads].filter((thread) => thread.task === undefined);
      const fitting = idle.find(({ tools }) => tools.has(tool));
      const hasRoom = this.#threads.size + this.#starting < this.#threadsMax;
      const thread = fitting ?? (hasRoom ? undefined : idle[0]);
      if (thread === undefined) {
        if (hasRoom && this.#starting < this.#waiting.length) void this.#start().then(() => this.#assign());
        return;
      }
      this.#waiting.shift();
      thread.task = task;
      thread.tools.add(tool);
      tell(thread, task.job);
    }
  }

  async #start(): Promise<Thread> {
    this.#starting++;
    const workerData: ToolWorkerData = { modules: await this.#modules, cacheFolder: this.#cacheFolder };
    const worker = new Worker(join(__dirname, "cc-worker.cjs"), {
      workerData,
      resourceLimits: { stackSizeMb: toolStackMb },
      env: {},
    });
    const thread: Thread = { worker, tools: new Set(), task: undefined };
    worker.on("message", (reply: Reply) => {
      const { task } = thread;
      thread.task = undefined;
      task?.finish(reply);
      this.#assign();
    });
    worker.on("error", (error) => this.#end(thread, error.message));
    worker.on("exit", () => this.#end(thread, "its thread ended"));
    this.#starting--;
    this.#threads.add(thread);
    return thread;
  }

  #end(thread: Thread, message: string): void {
    if (!this.#threads.delete(thread)) return;
    void thread.worker.terminate();
    const { task } = thread;
    if (task !== undefined) task.finish({ kind: "broken", message: brokenText(task.job, message) });
    this.#assign();
  }

  #takeBack(task: Task): void {
    const at = this.#waiting.indexOf(task);
    if (at >= 0) this.#waiting.splice(at, 1);
    const thread = [...this.#threads].find((one) => one.task === task);
    if (thread !== undefined) this.#end(thread, "it was taken back");
  }
}

function toolOf(job: ToolJob): Tool {
  return job.kind === "instrument" ? "binaryen" : "clang";
}

function tell({ worker }: Thread, message: ToolJob | WarmUp): void {
  worker.postMessage(message);
}

function brokenText(job: ToolJob, message: string): string {
  const what = {
    compile: `compile ${job.kind === "compile" ? job.input : ""}`,
    link: "link",
    ask: "ask clang",
    instrument: "instrument the program for capture",
  }[job.kind];
  return `Cannot ${what}: ${message}`;
}

/**
 * A process that offers itself as a node, started and watched on behalf of a user (`banyan node`). The node is a process of its own, the
 * first of its process group: when it has lost its link it kills itself with all that its ranks have started, and another one offers itself
 * in its stead. That one says first by which number the job knew the one before, is refused under it, and joins as a new node.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { encodeInvitation } from "../../control-link/invitation.ts";
import { readSecretFile } from "../../control-link/secret-file.ts";
import type { FromVolunteer } from "../../messages/volunteer-messages.ts";
import type { JobSecret } from "../../transport/handshake/handshake.ts";

interface VolunteeringOptions {
  readonly host: string;
  readonly port: number;
  /** Of the job. */
  readonly secretFile: string;
  /** Only what goes wrong is said. */
  readonly isQuiet: boolean;
  /** One line for people. */
  say(message: string): void;
}

/** A node that comes back calls no sooner. */
const againMs = 200;
/** A node that wants to go and is not let go by then is killed. */
const leavingMsMax = 15_000;

export class Volunteering {
  /** The exit code: 0 when the job is over, or when the user has ended it. */
  readonly done: Promise<number>;
  readonly #options: VolunteeringOptions;
  readonly #job: JobSecret;
  #child: ChildProcess | null = null;
  /** The number of the present node, or of the last. */
  #number = 0;
  /** How it ends, as far as it is known. */
  #end: Extract<FromVolunteer, { kind: "failed" | "dismissed" | "over" }> | null = null;
  #isLeaving = false;

  /** Throws an `Error` for people where the secret file is of no use. */
  constructor(options: VolunteeringOptions) {
    this.#options = options;
    const job = readSecretFile(options.secretFile);
    if (typeof job === "string") throw new Error(`Cannot use the secret file ${options.secretFile}: ${job}`);
    this.#job = job;
    this.done = this.#offer();
  }

  /** The node shall go: in order the first time, then at once. */
  leave(): void {
    this.#signal(this.#isLeaving ? "SIGKILL" : "SIGTERM");
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    setTimeout(() => this.#signal("SIGKILL"), leavingMsMax).unref();
  }

  /** The node stands still, as this process is about to. */
  suspend(): void {
    this.#signal("SIGSTOP");
  }

  goOn(): void {
    this.#signal("SIGCONT");
  }

  async #offer(): Promise<number> {
    for (;;) {
      await this.#run();
      if (this.#isLeaving) return 0;
      const end = this.#end;
      if (end?.kind === "over") {
        if (!this.#options.isQuiet) this.#options.say("the job is over");
        return 0;
      }
      if (end?.kind === "dismissed") return this.#failed(`the job cannot use this node: ${end.why}`);
      if (end?.kind === "failed") return this.#failed(this.#whyNot(end));
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }

  #failed(message: string): number {
    this.#options.say(message);
    return 1;
  }

  #whyNot({ why, isGone }: Extract<FromVolunteer, { kind: "failed" }>): string {
    const { host, port } = this.#options;
    if (isGone && this.#number > 0) return `the job at ${host}:${port} is gone`;
    return `Cannot join the job at ${host}:${port}: ${why}`;
  }

  /** Fulfilled when the process is gone, and all that it has said was heard. */
  #run(): Promise<void> {
    const { host, port } = this.#options;
    const { id: jobId, secret } = this.#job;
    const words = ["--disable-warning=ExperimentalWarning", join(__dirname, "agent.cjs")];
    const child = spawn(process.execPath, words, { detached: true, stdio: ["pipe", "inherit", "inherit", "ipc"] });
    this.#child = child;
    this.#end = null;
    const had = this.#number;
    // One that is gone before it has read shows as its end.
    child.stdin?.on("error", () => {});
    child.stdin?.end(encodeInvitation({ host, port, jobId, secret, number: 0, had }));
    child.on("message", (message) => this.#heard(message as FromVolunteer));
    return new Promise((resolve) => {
      child.on("error", ({ message }) => {
        this.#end = { kind: "failed", why: `a process cannot be started: ${message}`, isGone: false };
        resolve();
      });
      child.on("close", () => resolve());
    });
  }

  #heard(message: FromVolunteer): void {
    const { host, port, isQuiet } = this.#options;
    const say = (text: string): void => {
      if (!isQuiet) this.#options.say(text);
    };
    switch (message.kind) {
      case "joined":
        this.#number = message.number;
        say(`joined the job at ${host}:${port}, and waits for work`);
        break;
      case "not-back":
        say("the job has given this node up and does not take it back; it joins as a new one");
        break;
      case "node": {
        const { node, ranks } = message;
        say(`is node ${node} of the job, with ${ranks.length === 1 ? "rank" : "ranks"} ${ranks.join(", ")}`);
        break;
      }
      default:
        this.#end = message;
    }
  }

  #signal(signal: NodeJS.Signals): void {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      // Programs that its ranks have started are for the node to end, unless all shall stop at once.
      process.kill(signal === "SIGTERM" ? child.pid : -child.pid, signal);
    } catch {
      child.kill(signal);
    }
  }
}

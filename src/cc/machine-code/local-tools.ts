/** The tools in this very process, one job after the other. */
import type { Clang } from "../clang.ts";
import type { Tools } from "../client.ts";
import type { Instrumenter } from "../instrument.ts";
import type { Reply, ToolRequest } from "../requests.ts";

export class LocalTools implements Tools {
  readonly #clang: Promise<Clang>;
  readonly #instrumenter: Promise<Instrumenter>;

  constructor(clang: Promise<Clang>, instrumenter: Promise<Instrumenter>) {
    this.#clang = clang;
    this.#instrumenter = instrumenter;
  }

  async run(request: ToolRequest): Promise<Reply> {
    const clang = await this.#clang;
    if (request.kind === "compile") return clang.compile(request);
    if (request.kind === "ask") return clang.ask(request);
    const linked = clang.link(request);
    const { finish } = request;
    if (linked.kind !== "done" || linked.code !== 0 || finish === undefined) return linked;
    return (await this.#instrumenter).instrument({ kind: "instrument", module: linked.output, finish });
  }
}

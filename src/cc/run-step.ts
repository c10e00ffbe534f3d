/** One request to the tools, or the kept result of the same request. Only successful results are kept. */
import { CannotCompile } from "./client.ts";
import type { ToolRequest } from "./requests.ts";
import type { Made, Workshop } from "./workshop.ts";

/**
 * This clang is built with assertions, and one in its vectorizer fails for loops such as m = fmax(m, fabs(a[i] - b[i])). Such a
 * file is compiled without the vectorizer.
 */
const vectorizerBroke = /LoopVectorize\.cpp/;

export async function runStep({ cache, tools, signal }: Workshop, key: string, request: ToolRequest): Promise<Made> {
  const kept = cache.get(key);
  if (kept !== undefined) return { kind: "made", ...kept, kept: true };
  let reply = await tools.run(request, signal);
  if (reply.kind === "broken" && vectorizerBroke.test(reply.message) && request.kind === "compile") {
    reply = await tools.run({ ...request, flags: [...request.flags, "-fno-vectorize"] }, signal);
  }
  if (reply.kind === "broken") throw new CannotCompile(reply.message);
  const { code, output, stderr, dependencies } = reply;
  if (code !== 0) return { kind: "failed", code, stderr };
  cache.put(key, { output, stderr, dependencies });
  return { kind: "made", output, stderr, dependencies, kept: false };
}

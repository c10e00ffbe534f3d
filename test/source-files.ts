/** The sources as a reader sees them: every TypeScript file under src/, and its lines without comments and strings. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface SourceFile {
  /** From src/ on, with slashes: `core/p2p/engine.ts`. */
  readonly path: string;
  readonly text: string;
}

/** Tests, and what only tests use (folders `testing/`), may do what they like. */
export const isTest = (path: string): boolean => /(^|\/)testing\/|\.test\.ts$/.test(path);

export function sourceFiles(): SourceFile[] {
  return readdirSync("src", { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts") && !isTest(path))
    .sort()
    .map((path) => ({ path, text: readFileSync(join("src", path), "utf8") }));
}

/** The code alone: comments, strings and regular text of templates become spaces, lines stay where they are. */
export function codeOf(text: string): string {
  const skipped = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`/g;
  return text.replace(skipped, (found) => {
    // What a template computes is code; the rest of it is text.
    const kept = found.startsWith("`")
      ? found.replace(/\$\{([^}]*)\}|[^\n]/g, (part, code?: string) => code ?? (part.length > 1 ? "" : " "))
      : "";
    return found.startsWith("`") ? kept : found.replace(/[^\n]/g, " ");
  });
}

export const lineOf = (text: string, index: number): number => text.slice(0, index).split("\n").length;

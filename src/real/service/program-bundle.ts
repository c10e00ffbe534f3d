/**
 * The user's program as one file that every rank can import: TypeScript erased, the user's own modules put together once
 * instead of loaded by every rank (16 ranks: 0.4 s instead of 2.4). It lies in the job's folder, away from the user's,
 * so everything that depends on where a file lies is made absolute here:
 *
 * - packages stay outside the bundle, and are imported by the file that the importing module would have got;
 * - `banyan` is this installation, wherever the program lies;
 * - `import.meta.url`, `dirname` and `filename` are those of the module that says so;
 * - the inline source map leads back to the user's files, so errors name them.
 */
import { readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { BuildFailure, Message, Plugin } from "esbuild";

/** Ready, or why not, in one line. */
export type BundleOutcome = { readonly kind: "ready" } | { readonly kind: "unusable"; readonly why: string };

export interface BundleOptions {
  /** Absolute path of the user's program. */
  readonly program: string;
  /** The file to write. */
  readonly outfile: string;
}

/** Code that Node cannot load as it is, wherever it comes from, goes into the bundle. */
const erasable = /\.(ts|mts|cts|tsx|jsx)$/;
const resolving = Symbol("resolving");

let buildsRunning = 0;

export async function bundleProgram({ program, outfile }: BundleOptions): Promise<BundleOutcome> {
  // Loaded here because it takes as long as all the rest of the command.
  const esbuild = require("esbuild") as typeof import("esbuild");
  buildsRunning++;
  try {
    await esbuild.build({
      entryPoints: [program],
      outfile,
      bundle: true,
      platform: "node",
      target: `node${process.versions.node}`,
      format: "esm",
      // Without this esbuild also takes files that are meant for bundlers only.
      conditions: [],
      sourcemap: "inline",
      sourcesContent: false,
      logLevel: "silent",
      banner: { js: requireOf(program) },
      define: {
        "import.meta.url": "__banyanModule.url",
        "import.meta.dirname": "__banyanModule.dirname",
        "import.meta.filename": "__banyanModule.filename",
      },
      plugins: [packagesOutside, modulePlaces],
    });
    return { kind: "ready" };
  } catch (error) {
    return { kind: "unusable", why: describeFailure(error) };
  } finally {
    buildsRunning--;
    // The helper process of esbuild would otherwise stay as long as this one.
    if (buildsRunning === 0) void esbuild.stop();
  }
}

/** For the program's CommonJS modules, which esbuild wraps: what they require is looked up from the program's folder. */
function requireOf(program: string): string {
  const url = JSON.stringify(pathToFileURL(program).href);
  return `import { createRequire as __banyanRequire } from "node:module"; const require = __banyanRequire(${url});`;
}

const packagesOutside: Plugin = {
  name: "packages-outside",
  setup(build) {
    build.onResolve(
      { filter: /^[^./]/ },
      async ({ path, pluginData, kind, resolveDir, importer, with: attributes }) => {
        if (pluginData === resolving || kind === "entry-point" || isBuiltin(path)) return undefined;
        if (path === "banyan") return { path: pathToFileURL(join(__dirname, "banyan.mjs")).href, external: true };
        if (/^(data|https?|file):/.test(path)) return { path, external: true };
        const found = await build.resolve(path, {
          kind,
          resolveDir,
          importer,
          with: attributes,
          pluginData: resolving,
        });
        // A package that may be missing is imported dynamically and missed at run time, as in Node.
        if (found.errors.length > 0)
          return kind === "dynamic-import" || kind === "require-call" ? { path, external: true } : found;
        if (found.external || found.namespace !== "file" || erasable.test(found.path)) return found;
        return { path: kind === "require-call" ? found.path : pathToFileURL(found.path).href, external: true };
      },
    );
  },
};

/**
 * Gives each module that asks where it is an import of its own place, behind its last line so that no line number moves.
 * (`define` then finds the name in that module.)
 */
const modulePlaces: Plugin = {
  name: "module-places",
  setup(build) {
    build.onLoad({ filter: /\.[mc]?[jt]sx?$/, namespace: "file" }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      if (!text.includes("import.meta")) return undefined;
      const place = `\nimport * as __banyanModule from ${JSON.stringify(`banyan-place:${path}`)};\n`;
      return { contents: text + place, loader: loaderOf(path), resolveDir: dirname(path) };
    });
    build.onResolve({ filter: /^banyan-place:/ }, ({ path }) => ({
      path: path.slice("banyan-place:".length),
      namespace: "place",
    }));
    build.onLoad({ filter: /.*/, namespace: "place" }, ({ path }) => {
      const place = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path };
      const lines = Object.entries(place).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`);
      return { contents: lines.join("\n"), loader: "js" };
    });
  },
};

function loaderOf(path: string): "ts" | "tsx" | "js" | "jsx" {
  if (path.endsWith(".tsx")) return "tsx";
  if (path.endsWith(".jsx")) return "jsx";
  return erasable.test(path) ? "ts" : "js";
}

function describeFailure(error: unknown): string {
  const errors = isBuildFailure(error) ? error.errors : [];
  const first = errors[0];
  if (first === undefined) return error instanceof Error ? error.message : String(error);
  const more = errors.length === 1 ? "" : ` (and ${errors.length - 1} more)`;
  return `${placeOf(first)}${first.text.split("\n", 1)[0]}${more}`;
}

function placeOf({ location }: Message): string {
  if (location === null) return "";
  // esbuild names files relative to the working directory, and counts columns from 0.
  return `${relative("", location.file) || location.file}:${location.line}:${location.column + 1}: `;
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && "errors" in error && Array.isArray(error.errors);
}

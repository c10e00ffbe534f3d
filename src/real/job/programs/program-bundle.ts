/**
 * The user's program as one file that every rank can import: TypeScript erased, the user's own modules put together once
 * instead of loaded by every rank (16 ranks: 0.4 s instead of 2.4). It lies in the job's folder, away from the user's,
 * so everything that depends on where a file lies is settled here:
 *
 * - packages stay outside the bundle, and are imported by the file that the importing module would have got;
 * - `banyan` is this installation, wherever the program lies;
 * - `import.meta.url`, `dirname` and `filename` are those of the module that says so;
 * - the inline source map leads back to the user's files, so errors name them.
 */
import { readFile, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { BuildFailure, BuildOptions, ImportKind, Message, OnResolveResult, Plugin } from "esbuild";
import { describeSystemError } from "../../../core/base/system-error.ts";
import type { ProgramForm } from "../../messages/program-place.ts";

/** Ready, or why not, in one line; `said`: what the compiler printed. */
export type BundleOutcome = ReadyBundle | { readonly kind: "unusable"; readonly why: string; readonly said?: string };

interface ReadyBundle {
  readonly kind: "ready";
  readonly form: ProgramForm;
  /** Files that are imported where they are. */
  readonly packages: readonly string[];
  /** Node's own `fs` is imported: what the program does to files nobody sees. */
  readonly usesFs?: boolean;
  readonly said?: string;
}

interface BundleOptions {
  /** Absolute path of the user's program. */
  readonly program: string;
  /** The file to write, for each form. */
  readonly bundle: Readonly<Record<ProgramForm, string>>;
}

/** Code that Node cannot load as it is, wherever it comes from, goes into the bundle. */
const erasable = /\.(ts|mts|cts|tsx|jsx)$/;
const resolving = Symbol("resolving");

type Esbuild = typeof import("esbuild");

let buildsRunning = 0;

/** The program goes into the job's folder, which is where temporary files are unless it was given. */
export const cannotWrite = (file: string, error: unknown): string =>
  `Cannot write ${file}: ${describeSystemError(error)}; let TMPDIR name another folder, or name one with --job-dir`;

export async function bundleProgram(options: BundleOptions): Promise<BundleOutcome> {
  // Loaded here, when the nodes have been forked: loading it (some 25 ms) then costs no time.
  const esbuild = require("esbuild") as typeof import("esbuild");
  buildsRunning++;
  // Left alone in the middle of a build the helper process complains at length.
  const stop = (): void => void esbuild.stop();
  process.once("exit", stop);
  try {
    const required = await bundleAsScript(esbuild, options);
    if (required !== null) return ready("script", required);
    return ready("module", await bundleAsModule(esbuild, options));
  } catch (error) {
    return { kind: "unusable", why: describeFailure(error) };
  } finally {
    process.off("exit", stop);
    buildsRunning--;
    // The helper process of esbuild would otherwise stay as long as this one.
    if (buildsRunning === 0) stop();
  }
}

/** What a program imports that is not in its bundle. */
class Outside {
  readonly files = new Set<string>();
  usesFs = false;
}

const ready = (form: ProgramForm, { files, usesFs }: Outside): BundleOutcome => ({
  kind: "ready",
  form,
  packages: [...files],
  usesFs,
});

/** Null: the program has to be a module. */
async function bundleAsScript({ build }: Esbuild, { program, bundle }: BundleOptions): Promise<Outside | null> {
  let needsModule = false;
  const found = new Outside();
  const packages = packagesOutside(found, () => {
    needsModule = true;
  });
  // The script will be run as if it lay beside the program, so the paths in its source map start there.
  const pretended = join(dirname(program), "bundle.cjs");
  const options = { ...commonOptions(program, packages), format: "cjs", outfile: pretended, write: false } as const;
  try {
    const { outputFiles } = await build(options);
    if (needsModule) return null;
    await writeFile(bundle.script, outputFiles[0]!.contents, { mode: 0o600 }).catch((error: unknown) => {
      throw new Error(cannotWrite(bundle.script, error));
    });
    return found;
  } catch (error) {
    if (needsModule || awaitsOutside(error)) return null;
    throw error;
  }
}

async function bundleAsModule({ build }: Esbuild, { program, bundle }: BundleOptions): Promise<Outside> {
  const found = new Outside();
  const options = commonOptions(
    program,
    packagesOutside(found, () => {}),
  );
  const { outputFiles } = await build({
    ...options,
    format: "esm",
    outfile: bundle.module,
    write: false,
    banner: { js: requireOf(program) },
  } as const);
  await writeFile(bundle.module, outputFiles[0]!.contents, { mode: 0o600 }).catch((error: unknown) => {
    throw new Error(cannotWrite(bundle.module, error));
  });
  return found;
}

function commonOptions(program: string, packages: Plugin): BuildOptions {
  return {
    entryPoints: [program],
    bundle: true,
    platform: "node",
    target: `node${process.versions.node}`,
    // Without this esbuild also takes files that are meant for bundlers only.
    conditions: [],
    sourcemap: "inline",
    sourcesContent: false,
    logLevel: "silent",
    define: {
      "import.meta.url": "__banyanModule.url",
      "import.meta.dirname": "__banyanModule.dirname",
      "import.meta.filename": "__banyanModule.filename",
    },
    plugins: [packages, modulePlaces],
  };
}

function awaitsOutside(error: unknown): boolean {
  return isBuildFailure(error) && error.errors.some(({ text }) => text.startsWith("Top-level await"));
}

/** For the program's CommonJS modules, which esbuild wraps: what they require is looked up from the program's folder. */
function requireOf(program: string): string {
  const url = JSON.stringify(pathToFileURL(program).href);
  return `import { createRequire as __banyanRequire } from "node:module"; const require = __banyanRequire(${url});`;
}

/** Notes what is found. Calls `statement` when a package is imported by a statement: it may be one that only modules can import. */
function packagesOutside(found: Outside, statement: () => void): Plugin {
  const outside = (path: string, kind: ImportKind): OnResolveResult => {
    if (kind === "import-statement") statement();
    return { path, external: true };
  };
  return {
    name: "packages-outside",
    setup(build) {
      build.onResolve(
        { filter: /^[^./]/ },
        async ({ path, pluginData, kind, resolveDir, importer, with: attributes }) => {
          if (/^(node:)?fs(\/promises)?$/.test(path)) found.usesFs = true;
          if (pluginData === resolving || kind === "entry-point" || isBuiltin(path)) return undefined;
          // Into the bundle: it is tiny, and a module less for every rank to load.
          if (path === "banyan") return { path: join(__dirname, "banyan.mjs") };
          if (/^(data|https?|file):/.test(path)) return outside(path, kind);
          const resolved = await build.resolve(path, {
            kind,
            resolveDir,
            importer,
            with: attributes,
            pluginData: resolving,
          });
          // A package that may be missing is imported dynamically and missed at run time, as in Node.
          const mayBeMissing = kind === "dynamic-import" || kind === "require-call";
          if (resolved.errors.length > 0) return mayBeMissing ? { path, external: true } : resolved;
          if (resolved.external || resolved.namespace !== "file" || erasable.test(resolved.path)) return resolved;
          found.files.add(resolved.path);
          return outside(kind === "require-call" ? resolved.path : pathToFileURL(resolved.path).href, kind);
        },
      );
    },
  };
}

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
  // What a plug-in of ours threw (a file that may not be read) comes from esbuild's own code.
  if (location === null || /\/esbuild\/lib\/\w+\.js$/.test(location.file)) return "";
  // esbuild names files relative to the working directory, and counts columns from 0.
  return `${relative("", location.file) || location.file}:${location.line}:${location.column + 1}: `;
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && "errors" in error && Array.isArray(error.errors);
}

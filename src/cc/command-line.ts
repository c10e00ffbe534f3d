/**
 * The command line of `banyan cc` and `banyan c++`, as for mpicc, gcc or clang, becomes a plan. Nothing is looked up or read
 * here. Unknown options go to clang unchanged, which reports its objections.
 */
import { extname } from "node:path";
import {
  isMeaningless,
  isMeaninglessForLinker,
  joinedOrSeparate,
  refusalOf,
  separate,
  takesWordForLinker,
} from "./options.ts";

/** `cc` links C alone; `c++` also takes `.c` for C++ and links its library. */
export type Driver = "cc" | "c++";

/** The last step for each source. */
export type Stage = "dependencies" | "preprocess" | "syntax" | "assembly" | "object" | "link";

export interface Source {
  readonly kind: "source";
  /** The path as written; `-` is standard input. */
  readonly path: string;
  /** From `-x` or the name of the file. */
  readonly language: Language;
}

/** An input with a place in the order of linking. */
export type CompilerInput =
  | Source
  /** An object, an archive: for the linker. */
  | { readonly kind: "file"; readonly path: string }
  /** `-lname`. */
  | { readonly kind: "library"; readonly name: string }
  /** An option of the linker that counts for the inputs behind it, as `--whole-archive`. */
  | { readonly kind: "linker-word"; readonly word: string };

/** Clang's names for `-x`, as far as users write programs in them. */
type Language =
  | ("c" | "cpp-output" | "c++" | "c++-cpp-output" | "assembler" | "assembler-with-cpp" | "ir")
  | (string & {});

/** The folders of `#include`, in the order of the command line. */
export interface IncludeFolders {
  /** For `#include "…"` only (`-iquote`). */
  readonly quote: readonly string[];
  /** `-I`, `-isystem`, `-idirafter`: for both forms. */
  readonly all: readonly string[];
}

/** A rule for make, written beside the object (`-MD`, `-MMD`). */
interface DependencyFile {
  /** `-MF`; otherwise the name of the output with `.d`. */
  readonly path: string | undefined;
  /** `-MT` as it stands and `-MQ` quoted for make; otherwise the name of the output. */
  readonly targets: readonly string[];
  /** `-MD` and `-M` name the headers of the system, too. */
  readonly withSystem: boolean;
  /** `-MP`: an empty rule for each header. */
  readonly phony: boolean;
}

export interface Build {
  readonly kind: "build";
  readonly driver: Driver;
  readonly stage: Stage;
  /** `-o`. */
  readonly output: string | undefined;
  readonly inputs: readonly CompilerInput[];
  /** Options for clang, without inputs, output, stage and dependency files. */
  readonly flags: readonly string[];
  readonly folders: IncludeFolders;
  /** `-include` and `-imacros`: read before each source. */
  readonly forced: readonly string[];
  /** `-D`, each as `name` or `name=value`. */
  readonly macros: readonly string[];
  readonly dependencies: DependencyFile | undefined;
  readonly link: LinkerOptions;
  /** `-v`: print the steps. `-###`: print them and do nothing. */
  readonly verbose: boolean;
  readonly dryRun: boolean;
  /** One line each for the user: an option that is ignored, and why. */
  readonly notes: readonly string[];
}

interface LinkerOptions {
  /** `-L`. */
  readonly folders: readonly string[];
  /** Options for wasm-ld, wherever they stood. */
  readonly flags: readonly string[];
  readonly stackBytes: number;
  readonly withStart: boolean;
  readonly withLibraries: boolean;
  /** Link the C++ library, after everything else. */
  readonly withCxx: boolean;
  /** `-s`: without the names of functions. */
  readonly strip: boolean;
  /** `-r`: one object out of several. */
  readonly relocatable: boolean;
  /** False (`--no-capture`): without Asyncify, to measure its cost; the program cannot be frozen. */
  readonly capture: boolean;
  /** False (`--no-null-checks`): accesses through null pointers do not trap in a program that is compiled with `-g`. */
  readonly checksNull: boolean;
}

export type CommandLine =
  | Build
  /** Questions that clang answers: `--version`, `-dumpmachine`, `-print-…`. */
  | { readonly kind: "ask"; readonly words: readonly string[] }
  /** The help of `banyan cc` itself. */
  | { readonly kind: "help" }
  /** mpicc's questions about its actions: all of them, or the flags for one half. */
  | { readonly kind: "show"; readonly what: "command" | "compile" | "link"; readonly build: Build }
  | { readonly kind: "refused"; readonly message: string };

/** A program's own stack, unless `-Wl,-z,stack-size=…` says otherwise. Most systems give 8 MiB. */
export const stackBytesDefault = 8 << 20;

const languageOf: Readonly<Record<string, Language>> = {
  ".c": "c",
  ".i": "cpp-output",
  ".ii": "c++-cpp-output",
  ".s": "assembler",
  ".S": "assembler-with-cpp",
  ".sx": "assembler-with-cpp",
  ".ll": "ir",
  ".bc": "ir",
  ".h": "c-header",
  ".hpp": "c++-header",
  ".cc": "c++",
  ".cp": "c++",
  ".cxx": "c++",
  ".cpp": "c++",
  ".CPP": "c++",
  ".c++": "c++",
  ".C": "c++",
};
const fortran = /\.(f|for|ftn|f77|f90|f95|f03|f08|F|F77|F90|F95)$/;

/** `words` are the arguments behind `banyan cc`, with response files expanded. */
export function parseCommandLine(words: readonly string[], driver: Driver): CommandLine {
  const question = questionOf(words);
  if (question !== undefined) return question;
  const reader = new Reader(driver);
  for (let at = 0; at < words.length; ) at = reader.take(words, at);
  if (reader.refusal !== undefined) return { kind: "refused", message: reader.refusal };
  const build = reader.build();
  if (reader.shown !== undefined) return { kind: "show", what: reader.shown, build };
  if (build.inputs.every(({ kind }) => kind === "library" || kind === "linker-word")) {
    // `clang -v` alone prints its version.
    if (build.verbose) return { kind: "ask", words };
    return { kind: "refused", message: "Cannot compile: no input files; name sources, objects or archives" };
  }
  return refuseShape(build) ?? build;
}

function questionOf(words: readonly string[]): CommandLine | undefined {
  if (words.includes("--help")) return { kind: "help" };
  const asked = words.some((word) =>
    /^(--version|-dumpmachine|-dumpversion|-dumpfullversion|--?print-.*|-help|--help-hidden)$/.test(word),
  );
  return asked ? { kind: "ask", words } : undefined;
}

function refuseShape({ stage, output, inputs }: Build): CommandLine | undefined {
  const sources = inputs.filter((input) => input.kind === "source");
  const header = sources.find(({ language }) => language.endsWith("-header"));
  if (header !== undefined) {
    const message = `Cannot precompile a header (${header.path}): compile a source that includes it`;
    return { kind: "refused", message };
  }
  const program = inputs.find((input) => input.kind === "file" && fortran.test(input.path));
  if (program?.kind === "file") {
    const message = `Cannot compile ${program.path}: Banyan has compilers for C and C++, none for Fortran`;
    return { kind: "refused", message };
  }
  if (output !== undefined && stage !== "link" && stage !== "dependencies" && sources.length > 1) {
    const message = `Cannot write ${sources.length} results into one file (-o ${output}): compile one source at a time`;
    return { kind: "refused", message };
  }
  return undefined;
}

class Reader {
  refusal: string | undefined;
  shown: "command" | "compile" | "link" | undefined;
  readonly #driver: Driver;
  #stage: Stage = "link";
  #output: string | undefined;
  readonly #inputs: CompilerInput[] = [];
  readonly #flags: string[] = [];
  readonly #quote: string[] = [];
  readonly #folders: string[] = [];
  readonly #forced: string[] = [];
  readonly #macros: string[] = [];
  readonly #notes: string[] = [];
  #language: Language | undefined;
  #verbose = false;
  #dryRun = false;
  #dependencies = false;
  #dependencyPath: string | undefined;
  readonly #targets: string[] = [];
  #withSystem = false;
  #phony = false;
  readonly #linkFolders: string[] = [];
  readonly #linkFlags: string[] = [];
  #stackBytes = stackBytesDefault;
  #withStart = true;
  #withLibraries = true;
  #withCxx: boolean;
  #strip = false;
  #relocatable = false;
  #capture = true;
  #checksNull = true;

  constructor(driver: Driver) {
    this.#driver = driver;
    this.#withCxx = driver === "c++";
  }

  /** Reads the word at `at` with its values; returns the index of the next word. */
  take(words: readonly string[], at: number): number {
    const word = words[at]!;
    if (word === "-" || !word.startsWith("-")) {
      this.#takeInput(word);
      return at + 1;
    }
    const joined = joinedOrSeparate.filter((name) => word.startsWith(name)).sort((a, b) => b.length - a.length)[0];
    if (joined !== undefined && !isLonger(word, joined)) {
      const value = word === joined ? words[at + 1] : word.slice(joined.length);
      if (value === undefined) this.#refuse(`Cannot read the command line: ${word} wants a word after it`);
      else this.#takeValue(joined, value);
      return word === joined ? at + 2 : at + 1;
    }
    if (separate.has(word)) {
      const value = words[at + 1];
      if (value === undefined) this.#refuse(`Cannot read the command line: ${word} wants a word after it`);
      else this.#takePair(word, value);
      return at + 2;
    }
    this.#takeSwitch(word);
    return at + 1;
  }

  build(): Build {
    return {
      kind: "build",
      driver: this.#driver,
      stage: this.#stage,
      output: this.#output,
      inputs: this.#inputs,
      flags: this.#flags,
      folders: { quote: this.#quote, all: this.#folders },
      forced: this.#forced,
      macros: this.#macros,
      dependencies: this.#dependencies
        ? {
            path: this.#dependencyPath,
            targets: this.#targets,
            withSystem: this.#withSystem,
            phony: this.#phony,
          }
        : undefined,
      link: {
        folders: this.#linkFolders,
        flags: this.#linkFlags,
        stackBytes: this.#stackBytes,
        withStart: this.#withStart,
        withLibraries: this.#withLibraries,
        withCxx: this.#withCxx,
        strip: this.#strip,
        relocatable: this.#relocatable,
        capture: this.#capture,
        checksNull: this.#checksNull,
      },
      verbose: this.#verbose,
      dryRun: this.#dryRun,
      notes: this.#notes,
    };
  }

  #refuse(message: string): void {
    this.refusal ??= message;
  }

  #takeInput(path: string): void {
    const language = this.#language ?? (path === "-" ? "c" : languageOf[extname(path)]);
    if (language === undefined) this.#inputs.push({ kind: "file", path });
    // `c++ x.c` compiles it as C++, which clang remarks on; libraries in C are commonly built that way.
    else if (this.#driver === "c++" && this.#language === undefined && (language === "c" || language === "cpp-output"))
      this.#inputs.push({ kind: "source", path, language: language === "c" ? "c++" : "c++-cpp-output" });
    else this.#inputs.push({ kind: "source", path, language });
  }

  #takeValue(name: string, value: string): void {
    switch (name) {
      case "-o":
        this.#output = value;
        return;
      case "-x":
        this.#language = value === "none" ? undefined : value;
        return;
      case "-l":
        this.#takeLibrary(value);
        return;
      case "-L":
        this.#linkFolders.push(value);
        return;
      case "-MF":
        this.#dependencyPath = value;
        return;
      case "-MT":
        this.#targets.push(value);
        return;
      case "-MQ":
        this.#targets.push(quoteForMake(value));
        return;
      case "-z":
        this.#takeLinkerWords(["-z", value]);
        return;
      case "-u":
        this.#linkFlags.push("--undefined", value);
        return;
      case "-T":
        this.#linkFlags.push("-T", value);
        return;
      case "-I":
      case "-isystem":
      case "-idirafter":
        // Compilers have dropped `-I-` long ago; clang says so.
        if (value !== "-") this.#folders.push(value);
        break;
      case "-iquote":
        this.#quote.push(value);
        break;
      case "-include":
      case "-imacros":
        this.#forced.push(value);
        break;
      case "-D":
        this.#macros.push(value);
        break;
    }
    this.#flags.push(name, value);
  }

  #takeLibrary(name: string): void {
    if (name === "stdc++" || name === "c++") this.#withCxx = true;
    this.#inputs.push({ kind: "library", name });
  }

  #takePair(name: string, value: string): void {
    if (name === "-Xlinker") this.#takeLinkerWords([value]);
    else if (name === "-e") this.#linkFlags.push(`--entry=${value}`);
    else if (name === "-target") {
      const refused = refusalOf(`--target=${value}`);
      if (refused !== undefined) this.#refuse(refused);
    } else if (name !== "-rpath") this.#flags.push(name, value);
  }

  #takeSwitch(word: string): void {
    if (this.#takeStage(word) || this.#takeDependencySwitch(word) || this.#takeMpi(word)) return;
    const refused = refusalOf(word);
    if (refused !== undefined) {
      this.#refuse(refused);
      return;
    }
    if (word.startsWith("-Wl,")) this.#takeLinkerWords(word.slice(4).split(","));
    else if (word.startsWith("-Wp,")) this.#takePreprocessorWords(word.slice(4).split(","));
    else if (word === "-v") this.#verbose = true;
    else if (word === "-###") this.#dryRun = true;
    else if (word === "-s") this.#strip = true;
    else if (word === "-r") this.#relocatable = true;
    else if (word === "--no-capture") this.#capture = false;
    else if (word === "--no-null-checks") this.#checksNull = false;
    else if (word === "-nostartfiles") this.#withStart = false;
    else if (word === "-nodefaultlibs" || word === "-nolibc") this.#withLibraries = false;
    else if (word === "-nostdlib") this.#withStart = this.#withLibraries = false;
    else if (word === "-nostdlib++") this.#withCxx = false;
    else if (/^-fopenmp(=.*)?$|^-openmp$|^-qopenmp$/.test(word))
      this.#notes.push(`${word} is left out: a rank is one thread; "#pragma omp" has no effect`);
    else if (!isMeaningless(word)) this.#flags.push(word);
  }

  #takeStage(word: string): boolean {
    const stages: Readonly<Record<string, Stage>> = {
      "-c": "object",
      "-S": "assembly",
      "-E": "preprocess",
      "-fsyntax-only": "syntax",
    };
    const stage = Object.hasOwn(stages, word) ? stages[word] : undefined;
    if (stage === undefined) return false;
    // The earliest of them wins, as for clang: `-c -E` preprocesses.
    const order: readonly Stage[] = ["dependencies", "preprocess", "syntax", "assembly", "object", "link"];
    if (order.indexOf(stage) < order.indexOf(this.#stage)) this.#stage = stage;
    return true;
  }

  #takeDependencySwitch(word: string): boolean {
    switch (word) {
      case "-M":
      case "-MM":
        this.#stage = "dependencies";
        this.#dependencies = true;
        this.#withSystem = word === "-M";
        return true;
      case "-MD":
      case "-MMD":
        this.#dependencies = true;
        this.#withSystem = word === "-MD";
        return true;
      case "-MP":
        this.#phony = true;
        return true;
      case "-MG":
      case "-MV":
        return true;
    }
    return false;
  }

  /** Questions that MPICH's and Open MPI's wrappers answer themselves. */
  #takeMpi(word: string): boolean {
    if (/^-show$|^--?showme(:command)?$|^--?show-me$/.test(word)) this.shown = "command";
    else if (/^--?showme:(compile|incdirs)$|^-compile[-_]info$/.test(word)) this.shown = "compile";
    else if (/^--?showme:(link|libs|libdirs)$|^-link[-_]info$/.test(word)) this.shown = "link";
    else return false;
    return true;
  }

  #takeLinkerWords(words: readonly string[]): void {
    for (let at = 0; at < words.length; at++) {
      const word = words[at]!;
      const pair = word === "-z" ? `-z,${words[++at] ?? ""}` : word;
      const stack = /^-z,?stack-size=(\d+|0x[\da-fA-F]+)$/.exec(pair);
      if (stack !== null) this.#stackBytes = Number(stack[1]);
      else if (word.startsWith("-z")) continue;
      else if (isMeaninglessForLinker(word)) at += takesWordForLinker(word) ? 1 : 0;
      else if (/^-l./.test(word)) this.#takeLibrary(word.slice(2));
      else if (/^-L./.test(word)) this.#linkFolders.push(word.slice(2));
      else if (/^--(no-)?whole-archive$|^--(start|end)-lib$/.test(word))
        this.#inputs.push({ kind: "linker-word", word });
      else if (word.startsWith("-")) this.#linkFlags.push(word);
      else if (word !== "") this.#inputs.push({ kind: "file", path: word });
    }
  }

  /** `-Wp,-MD,file` is how older Makefiles ask for a dependency file. */
  #takePreprocessorWords(words: readonly string[]): void {
    for (let at = 0; at < words.length; ) {
      const word = words[at]!;
      if (word === "-MD" || word === "-MMD") {
        this.#takeDependencySwitch(word);
        this.#dependencyPath = words[at + 1];
        at += 2;
      } else at = this.take(words, at);
    }
  }
}

/** `-include` begins with `-i`, `-openmp` with `-o`: options that only look like a shorter one with its value. */
function isLonger(word: string, name: string): boolean {
  if (name === "-o") return word === "-openmp";
  if (name === "-l") return /^-link[-_]info$/.test(word);
  if (name === "-B") return word === "-Bstatic" || word === "-Bdynamic";
  if (name === "-u") return word.startsWith("-undef");
  if (name === "-T") return word.startsWith("-Tdata") || word.startsWith("-Ttext");
  if (name === "-include") return word.startsWith("-include-pch");
  if (name === "-x") return word !== name && !/^-x(c|c\+\+|none|assembler|ir|objective)/.test(word);
  return false;
}

/** A file's name as a target: characters that make would interpret are escaped. */
export function quoteForMake(name: string): string {
  return name.replace(/[\s#]/g, "\\$&").replaceAll("$", "$$$$");
}

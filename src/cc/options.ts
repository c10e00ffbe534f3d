/**
 * The options of a C compiler as far as Banyan has to know them: which are followed by a value, and which mean nothing here.
 * All other options are left to clang.
 */

/** The option is `-I dir` or `-Idir`. */
export const joinedOrSeparate: readonly string[] = [
  ...["-o", "-I", "-D", "-U", "-L", "-l", "-x", "-F", "-T", "-u", "-z", "-B"],
  ...["-isystem", "-iquote", "-idirafter", "-imacros", "-include", "-MF", "-MT", "-MQ"],
];

/** The next word is always the option's value. */
export const separate: ReadonlySet<string> = new Set([
  ...[
    "-Xclang",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xlinker",
    "-mllvm",
    "-target",
    "-e",
    "--param",
    "-arch",
    "-G",
    "-A",
  ],
  ...[
    "-isysroot",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-aux-info",
    "-dumpbase",
    "-dumpdir",
    "-framework",
  ],
  ...["-working-directory", "-serialize-diagnostics", "--sysroot", "-rpath", "-stdlib++-isystem", "-include-pch"],
]);

/** Features of WebAssembly itself; other options with `-m` concern native processors. */
const ownMachine =
  /^-m(no-)?(simd128|bulk-memory(-opt)?|sign-ext|nontrapping-fptoint|mutable-globals|multivalue|reference-types|extended-const|exception-handling|fp16|atomics|llvm|exec-model=.*)$/;
const otherMachine =
  /^-m(no-)?(arch|tune|cpu|fpu|float-abi|abi|cmodel|fpmath|32$|64$|x32$|thumb|arm|sse|ssse|avx|fma|aes|bmi|popcnt|f16c|lzcnt|mmx|3dnow|sve|neon|altivec|vsx|power|recip|prefer-vector-width|omit-leaf|red-zone|strict-align|accumulate|align|stack|vzeroupper|outline-atomics|branch-protection|long-double|movbe|rdrnd|sha$|adx|cx16|sahf|hle|rtm)/;

/** Position-independent code, threads, processors and shared libraries: a WebAssembly program has no use for them. */
export function isMeaningless(option: string): boolean {
  if (/^-f(no-)?(pic|PIC|pie|PIE|plt|semantic-interposition|stack-clash-protection)$/.test(option)) return true;
  if (
    /^-(pie|no-pie|static|static-pie|static-lib(gcc|stdc\+\+|gfortran)|rdynamic|pthreads?|pipe|Bstatic|Bdynamic)$/.test(
      option,
    )
  )
    return true;
  if (/^-f(stack-protector.*|cf-protection.*|use-linker-plugin|fat-lto-objects)$/.test(option)) return true;
  // Code generated at link time loses the parts that make longjmp work.
  if (/^-f(no-)?lto(=.*)?$|^-fwhole-program(-vtables)?$/.test(option)) return true;
  return !ownMachine.test(option) && otherMachine.test(option);
}

/** Why an option would make a program that cannot run here; undefined for all other options. */
export function refusalOf(option: string): string | undefined {
  if (option === "-shared" || option === "-dynamiclib" || option === "-bundle")
    return `Cannot make a shared library (${option}): programs for Banyan are one module; make an archive (ar rcs libx.a …) instead`;
  if (option === "-mtail-call")
    return "Cannot compile with -mtail-call: a program with tail calls cannot be captured; leave it out";
  if (option === "-mrelaxed-simd")
    return "Cannot compile with -mrelaxed-simd: its results differ between processors; use -msimd128";
  if (/^-cc=|^-cxx=/.test(option))
    return `Cannot use another compiler (${option}): only the clang that comes with Banyan makes its programs`;
  if (/^(-target|--target|-t)$|^--target=/.test(option) && !/=wasm32(-unknown)?-wasi(p1)?$/.test(option))
    return `Cannot compile for another machine (${option}): programs for Banyan are for wasm32-wasip1`;
  return undefined;
}

/** Options for the linker of a system with shared libraries; wasm-ld would stop at them. */
export function isMeaninglessForLinker(option: string): boolean {
  return /^-{1,2}(rpath|rpath-link|soname|h|dynamic-linker|hash-style|build-id|as-needed|no-as-needed|enable-new-dtags|disable-new-dtags|start-group|end-group|copy-dt-needed-entries|no-copy-dt-needed-entries|eh-frame-hdr|no-undefined|no-undefined-version|allow-shlib-undefined|no-allow-shlib-undefined|warn-common|sort-common|export-dynamic|relax|no-relax|warn-unresolved-symbols|fatal-warnings|no-fatal-warnings|Bstatic|Bdynamic|Bsymbolic.*|dn|dy|static|version-script|push-state|pop-state|threads|no-keep-memory|O\d?|E|s|x|g|t|[()])(=.*)?$/.test(
    option,
  );
}

/** The options among these that take the next word as well. */
export function takesWordForLinker(option: string): boolean {
  return /^-{1,2}(rpath|rpath-link|soname|h|dynamic-linker|version-script|hash-style)$/.test(option);
}

/** Libraries that are always linked, or that exist only in other MPI libraries. */
export const librariesAlwaysThere: ReadonlySet<string> = new Set([
  ...["m", "c", "pthread", "rt", "dl", "util", "gcc", "gcc_s", "gcc_eh", "stdc++", "c++", "c++abi", "atomic", "resolv"],
  ...["mpi", "mpich", "pmpich", "pmpi", "mpi_cxx", "mpicxx", "mpichcxx", "mpl", "opa", "mpifort", "crypt", "xnet"],
]);

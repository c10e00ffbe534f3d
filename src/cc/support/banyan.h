/*
 * What the files of the support library share. Every program is linked with the library; the contract with the runtime
 * is docs/adr/0005-c-programs.md.
 */
#ifndef BANYAN_H
#define BANYAN_H

#define BANYAN_IMPORT(module, name) __attribute__((import_module(module), import_name(name)))

/*
 * The head of an MPI function's definition, in the grammar of BANYAN_DECLARE: the strong PMPI_ name, and the weak MPI_ name
 * whose place a profiling library may take. A function defined by hand is no import: scripts/mpi-wrappers.mjs reads them.
 */
#define BANYAN_DEFINE(result, name, parameters)                    \
    __attribute__((weak, alias("P" #name))) result name parameters; \
    result P##name parameters

/* Runs what the runtime wants called; returns the answer of the MPI function that was interrupted. */
int banyan_callbacks(void);

/* MPI's codes are never negative: a negative answer of an import says "call something back first". */
static inline int banyan_answer(int answer) {
    return __builtin_expect(answer < 0, 0) ? banyan_callbacks() : answer;
}

/* The program's heap ends at `brk`; what lies at and above `limit` is the runtime's, which moves it. */
struct banyan_memory {
    char *brk;
    char *limit;
};
extern struct banyan_memory banyan_memory;

/* The rank ends as a process does that gets a fatal signal. */
_Noreturn BANYAN_IMPORT("banyan", "die") void banyan_die(int signal);

/* The rank ends, and the job says why. */
_Noreturn BANYAN_IMPORT("banyan", "fatal") void banyan_fatal(const char *message);

#endif

/**
 * The first bytes of a C program's memory, in which nothing lies: an address there is a null pointer, or a member of a structure that is
 * not there. They stay zero, unless the program writes through such a pointer.
 */
export const lowMemoryBytes = 1024;

/** The function that traps where a program compiled with `-g` accesses them (cc/debug/null-checks.ts). */
export const nullAccessName = "banyan_null_access";

/* Processors, which Linux has in <sched.h> and the WASI C library leaves out. A rank is one thread: it has one, number 0. */
#include_next <sched.h>

#ifndef BANYAN_SCHED_H
#define BANYAN_SCHED_H

#include <stddef.h>
#include <string.h>
#include <sys/types.h>

#define CPU_SETSIZE 1024

typedef unsigned long banyan_cpu_mask;
typedef struct cpu_set_t {
    banyan_cpu_mask bits[CPU_SETSIZE / (8 * sizeof(banyan_cpu_mask))];
} cpu_set_t;

#if defined(__cplusplus)
extern "C" {
#endif

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set);
int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *set);
int sched_getcpu(void);
int banyan_cpu_count(size_t bytes, const cpu_set_t *set);

#if defined(__cplusplus)
}
#endif

#define BANYAN_CPU_BITS          (8 * sizeof(banyan_cpu_mask))
#define BANYAN_CPU_WORD(i, s)    (((banyan_cpu_mask *)(s))[(size_t)(i) / BANYAN_CPU_BITS])
#define BANYAN_CPU_MASK(i)       ((banyan_cpu_mask)1 << ((size_t)(i) % BANYAN_CPU_BITS))
#define BANYAN_CPU_HAS(i, bytes) ((size_t)(i) < 8 * (size_t)(bytes))

#define CPU_ALLOC_SIZE(count) (((size_t)(count) + BANYAN_CPU_BITS - 1) / BANYAN_CPU_BITS * sizeof(banyan_cpu_mask))
#define CPU_ALLOC(count)      ((cpu_set_t *)calloc(1, CPU_ALLOC_SIZE(count)))
#define CPU_FREE(set)         free(set)

#define CPU_ZERO_S(bytes, set)     ((void)memset((set), 0, (bytes)))
#define CPU_SET_S(i, bytes, set)   ((void)(BANYAN_CPU_HAS(i, bytes) ? (BANYAN_CPU_WORD(i, set) |= BANYAN_CPU_MASK(i)) : 0))
#define CPU_CLR_S(i, bytes, set)   ((void)(BANYAN_CPU_HAS(i, bytes) ? (BANYAN_CPU_WORD(i, set) &= ~BANYAN_CPU_MASK(i)) : 0))
#define CPU_ISSET_S(i, bytes, set) (BANYAN_CPU_HAS(i, bytes) && (BANYAN_CPU_WORD(i, set) & BANYAN_CPU_MASK(i)) != 0)
#define CPU_COUNT_S(bytes, set)    banyan_cpu_count((bytes), (set))
#define CPU_EQUAL_S(bytes, a, b)   (memcmp((a), (b), (bytes)) == 0)

#define CPU_ZERO(set)     CPU_ZERO_S(sizeof(cpu_set_t), set)
#define CPU_SET(i, set)   CPU_SET_S(i, sizeof(cpu_set_t), set)
#define CPU_CLR(i, set)   CPU_CLR_S(i, sizeof(cpu_set_t), set)
#define CPU_ISSET(i, set) CPU_ISSET_S(i, sizeof(cpu_set_t), set)
#define CPU_COUNT(set)    CPU_COUNT_S(sizeof(cpu_set_t), set)
#define CPU_EQUAL(a, b)   CPU_EQUAL_S(sizeof(cpu_set_t), a, b)

#endif
